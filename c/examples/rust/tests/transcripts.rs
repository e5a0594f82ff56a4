//! Plays what a device of a real run got to the wrapper: it must send what that device sent.
//! docs/device.md says how to read client/testdata/transcripts.

use std::collections::VecDeque;
use std::ffi::CString;
use std::fs;

use zofl::{Config, Device, Next, Room, Unit};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A C99 hexadecimal float, such as 0x1.c15p+04.
fn number(text: &str) -> f64 {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |t| (-1.0, t));
    let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{rest}"), 16).unwrap();
    let exponent: i32 = exponent.parse::<i32>().unwrap() - 4 * rest.len() as i32;
    sign * mantissa as f64 * 2f64.powi(exponent)
}

struct Line<'a> {
    at: u64,
    kind: &'a str,
    fields: Vec<&'a str>,
}

fn play(name: &str) {
    let path =
        format!("{}/../../../client/testdata/transcripts/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect(&path);
    let (mut head, mut lines) = (Vec::new(), VecDeque::new());
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        if let Some((key, value)) = line.split_once(": ") {
            head.push((key, value));
            continue;
        }
        let mut words = line.split(' ');
        let at = words.next().unwrap().parse().unwrap();
        let kind = words.next().unwrap();
        lines.push_back(Line { at, kind, fields: words.collect() });
    }
    let of = |key| head.iter().find(|(k, _)| *k == key).unwrap().1;
    let (run, id) = (CString::new(of("run")).unwrap(), CString::new(of("device")).unwrap());
    let (mut room, mut frame) = (Room::new(), [0; 4096]);
    let mut config = Config::new(&run, &id, &mut frame);
    config.weight = of("samples").parse().unwrap();
    config.max_receive = of("room").parse().unwrap();
    let mut device = Device::open(&mut room, config).unwrap();

    let (mut states, mut frames, mut losses, mut inbox) = (0, 0, 0, String::new());
    let mut now = 0;
    while let Some(line) = lines.pop_front() {
        now = now.max(line.at);
        match line.kind {
            "begin" | "end" => continue,
            "in" => {
                let subject = CString::new(line.fields[0]).unwrap();
                let _ = device.receive(&subject, &bytes(line.fields[1])); // it may be of no use
                continue;
            }
            "answer" => {
                let subject = CString::new(inbox.as_str()).unwrap();
                device.receive(&subject, &bytes(line.fields[0])).unwrap();
                continue;
            }
            "state" => {
                // The device replays in receive; a state in between two records is not seen.
                if device.records().to_string() == line.fields[0] {
                    assert_eq!(hex(&device.digest().unwrap()), line.fields[1], "{name}");
                    states += 1;
                }
                continue;
            }
            _ => {}
        }
        let said = loop {
            let mut x = vec![0f32; of("dim").parse().unwrap()];
            match device.poll(now).unwrap() {
                Next::Memory(size) => {
                    let memory = vec![Unit::ZERO; Unit::count(size)].leak();
                    device.give(memory).unwrap();
                }
                Next::Subscribe(subject) if subject.starts_with("_INBOX") => {}
                Next::Subscribe(subject) => break format!("sub {subject}"),
                Next::Send { subject, reply: Some(reply), data } => {
                    inbox = reply.to_owned();
                    break format!("ask {subject} {}", hex(data));
                }
                Next::Send { subject, reply: None, data } => {
                    frames += 1;
                    break format!("out {subject} {}", hex(data));
                }
                Next::Evaluate(task) => {
                    // A survey's step is 65,535 there; the app knows how many samples it has.
                    let (record, seed) = (task.record, task.seed);
                    let (step, samples) = (line.fields[1], line.fields[2]);
                    assert!(step == "65535" || step == task.step.to_string(), "{name}: {step}");
                    device.point(0, &mut x).unwrap();
                    let point: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
                    losses += 1;
                    device.loss(number(line.fields[5])).unwrap();
                    break format!("loss {record} {step} {samples} {seed:016x} {}", hex(&point));
                }
                Next::Wait { until_ms } | Next::Paused { until_ms } => {
                    assert!(until_ms > now, "{name}: it waits for the past");
                    assert!(now < line.at + 1000, "{name}: nothing instead of {}", line.kind);
                    now = until_ms.min(now + 10);
                }
                Next::Ended => break "end".to_owned(),
            }
        };
        let fields = &line.fields[..line.fields.len() - usize::from(line.kind == "loss")];
        assert_eq!(said, format!("{} {}", line.kind, fields.join(" ")), "{name}");
    }
    assert!(states > 3 && frames > 2 && losses > 5, "{name}: {states} {frames} {losses}");
}

#[test]
fn decomfl() {
    play("decomfl.txt");
}

#[test]
fn zofl() {
    play("zofl.txt");
}

#[cfg(feature = "cma")]
#[test]
fn cma() {
    play("cma.txt");
}

#[test]
fn errors() {
    zofl::selftest().unwrap();
    let (mut room, mut frame) = (Room::new(), [0; 512]);
    let config = Config::new(c"A run", c"d", &mut frame);
    let error = Device::open(&mut room, config).err().unwrap();
    assert!(error.code() < 0 && error.reason().starts_with("run and id have 1 to 32"), "{error:?}");
    let mut short = [0; 8];
    let error = Device::open(&mut room, Config::new(c"run", c"d", &mut short)).err().unwrap();
    assert!(error.to_string().contains("too short: zofl_explain names it: frame_size"), "{error}");
    assert!(format!("{error:?}").starts_with(&error.code().to_string()), "{error:?}");
}
