//! Compiles zofl.c, and writes the size of its structs as Rust constants.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Numbers that the core's header fixes, and that Rust must know.
const PROBES: &[(&str, &str)] = &[
    ("DEVICE_SIZE", "sizeof(zofl_device)"),
    ("CONFIG_SIZE", "sizeof(zofl_config)"),
    ("TASK_SIZE", "sizeof(zofl_task)"),
    ("TASK_UNTIL", "offsetof(zofl_task, until_ms)"),
    ("TASK_METRIC", "offsetof(zofl_task, metric)"),
    ("CONFIG_MEMORY", "offsetof(zofl_config, memory)"),
];

fn main() {
    let core = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    for file in ["zofl.c", "zofl.h", "zofl_conf.h"] {
        println!("cargo:rerun-if-changed={}", core.join(file).display());
    }
    build(&core).file(core.join("zofl.c")).warnings(false).compile("zofl");
    fs::write(out.join("sizes.rs"), sizes(&core, &out)).unwrap();
}

fn build(core: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    // Every device computes the same bits: no product is fused into a sum.
    build.include(core).std("c99").flag_if_supported("-ffp-contract=off");
    for (feature, part) in [
        ("CARGO_FEATURE_NORMAL", "ZOFL_WITH_NORMAL"),
        ("CARGO_FEATURE_CMA", "ZOFL_WITH_CMA"),
        ("CARGO_FEATURE_STATE", "ZOFL_WITH_STATE"),
    ] {
        let with = if env::var_os(feature).is_some() { "1" } else { "0" };
        build.define(part, with);
    }
    build
}

/// Rust's constants of the probes. The compiler writes their digits into an object, where they are
/// found as text: nothing runs, so that it works for other processors too.
fn sizes(core: &Path, out: &Path) -> String {
    let mut probe = String::from("#include \"zofl.h\"\n#include <stddef.h>\n");
    probe += "#define DIGIT(v, unit) (char)('0' + (v) / (unit) % 10)\n";
    for (name, value) in PROBES {
        let letters: Vec<String> = name.chars().map(|c| format!("'{c}'")).collect();
        probe += &format!("const char zofl_probe_{name}[] = {{'<', {}, '=',\n", letters.join(", "));
        for unit in [10000, 1000, 100, 10, 1] {
            probe += &format!("DIGIT({value}, {unit}u), ");
        }
        probe += "'>'};\n";
    }
    let source = out.join("probe.c");
    fs::write(&source, probe).unwrap();
    let objects = build(core).file(source).compile_intermediates();
    let object = fs::read(&objects[0]).unwrap();
    let mut rust = String::new();
    for (name, _) in PROBES {
        let key = format!("<{name}=");
        let at = (0..object.len())
            .find(|&i| object[i..].starts_with(key.as_bytes()))
            .unwrap_or_else(|| panic!("no {name} in {:?}", objects[0]));
        let digits = &object[at + key.len()..at + key.len() + 5];
        let digits = std::str::from_utf8(digits).unwrap().trim_start_matches('0');
        rust += &format!("pub const {name}: usize = {digits};\n");
    }
    rust
}
