//! zofl.h, by hand. What of it depends on the build, build.rs asks of the compiler.

use core::ffi::{c_char, c_int, c_void};

include!(concat!(env!("OUT_DIR"), "/sizes.rs"));

/// A zofl_device. It is aligned as anything in C may be.
#[repr(C, align(16))]
pub struct Device(pub [u8; DEVICE_SIZE]);

#[repr(C)]
pub struct Config {
    pub run: *const c_char,
    pub id: *const c_char,
    pub secret: *const u8,
    pub secret_size: usize,
    pub initial: *const f32,
    pub weight: u32,
    pub max_receive: u32,
    pub random: u64,
    pub frame: *mut u8,
    pub frame_size: usize,
    pub memory: *mut c_void,
    pub memory_size: usize,
}

#[repr(C)]
pub struct Task {
    pub subject: *const c_char,
    pub reply: *const c_char,
    pub data: *const u8,
    pub size: usize,
    pub until_ms: u64,
    pub record: u64,
    pub seed: u64,
    pub batch: u32,
    pub step: u32,
    pub point: u32,
    pub points: u32,
    pub held_out: u8,
    pub metric: *const c_char,
}

#[repr(C)]
pub struct Addr {
    pub key: u64,
    pub step: u16,
    pub pert: u16,
    pub source: u32,
    pub domain: u32,
}

// The structs above are those of the header.
const _: () = assert!(core::mem::size_of::<Config>() == CONFIG_SIZE);
const _: () = assert!(core::mem::offset_of!(Config, memory) == CONFIG_MEMORY);
const _: () = assert!(core::mem::size_of::<Task>() == TASK_SIZE);
const _: () = assert!(core::mem::offset_of!(Task, until_ms) == TASK_UNTIL);
const _: () = assert!(core::mem::offset_of!(Task, metric) == TASK_METRIC);

extern "C" {
    pub fn zofl_error(code: c_int) -> *const c_char;
    pub fn zofl_selftest() -> c_int;
    pub fn zofl_record_key(run_key: *const u8, len: usize, n: u64) -> u64;
    pub fn zofl_perturb(
        dst: *mut c_void,
        kind: c_int,
        x: *const f32,
        n: u64,
        off: u64,
        at: *const Addr,
        dist: c_int,
        a: f32,
    );
    pub fn zofl_open(device: *mut Device, config: *const Config) -> c_int;
    pub fn zofl_connected(device: *mut Device);
    pub fn zofl_poll(device: *mut Device, now_ms: u64, task: *mut Task) -> c_int;
    pub fn zofl_receive(
        device: *mut Device,
        subject: *const c_char,
        data: *const u8,
        size: usize,
    ) -> c_int;
    pub fn zofl_give(device: *mut Device, memory: *mut c_void, size: usize) -> c_int;
    pub fn zofl_point(
        device: *const Device,
        kind: c_int,
        dst: *mut c_void,
        off: u64,
        n: u64,
    ) -> c_int;
    pub fn zofl_point_at(
        device: *const Device,
        i: u32,
        kind: c_int,
        dst: *mut c_void,
        off: u64,
        n: u64,
    ) -> c_int;
    pub fn zofl_loss(device: *mut Device, loss: f64) -> c_int;
    pub fn zofl_decline(device: *mut Device, reason: u8) -> c_int;
    pub fn zofl_model(
        device: *const Device,
        kind: c_int,
        dst: *mut c_void,
        off: u64,
        n: u64,
    ) -> c_int;
    pub fn zofl_records(device: *const Device) -> u64;
    pub fn zofl_rounds(device: *const Device) -> u64;
    pub fn zofl_digest(device: *const Device, out: *mut u8) -> c_int;
    pub fn zofl_explain(device: *const Device, out: *mut c_char, room: usize) -> c_int;
}
#[cfg(feature = "state")]
extern "C" {
    pub fn zofl_state_size(device: *const Device) -> u64;
    pub fn zofl_save(device: *const Device, off: u64, out: *mut u8, n: usize) -> c_int;
    pub fn zofl_load(device: *mut Device, bytes: *const u8, n: usize, last: c_int) -> c_int;
    pub fn zofl_need(device: *const Device) -> usize;
}
