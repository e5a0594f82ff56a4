//! A device of Zofl in a run: training by losses alone.
//!
//! Bytes in, bytes out: the crate opens nothing, starts nothing and allocates nothing. Memory,
//! clock and network are yours.
//!
//! ```no_run
//! # fn loss(x: &[f32]) -> f64 { 0.0 }
//! # fn now() -> u64 { 0 }
//! use zofl::{Config, Device, Next, Room, Unit};
//!
//! let (mut room, mut frame, mut memory) = (Room::new(), [0; 1024], [Unit::ZERO; 256]);
//! let mut memory = Some(&mut memory[..]);
//! let mut device = Device::open(&mut room, Config::new(c"kitchen", c"pi-3", &mut frame))?;
//! let mut x = [0f32; 10];
//! loop {
//!     match device.poll(now())? {
//!         Next::Subscribe(subject) => { /* subscribe */ }
//!         Next::Send { subject, reply, data } => { /* publish */ }
//!         Next::Memory(size) => device.give(memory.take().expect("asked once"))?,
//!         Next::Evaluate(task) => {
//!             device.point(0, &mut x[..task.parameters])?;
//!             device.loss(loss(&x))?;
//!         }
//!         Next::Wait { until_ms } | Next::Paused { until_ms } => {
//!             /* a message, or the time: device.receive(subject, data) */
//!         }
//!         Next::Ended => break,
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![warn(missing_docs)]

use core::ffi::{c_int, c_void, CStr};
use core::marker::PhantomData;
use core::mem::{size_of_val, MaybeUninit};
use core::{fmt, ptr, slice};

mod sys;

/// What the core refused: one of zofl.h's codes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error(c_int);

impl Error {
    /// The number of zofl.h, less than 0.
    pub fn code(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: zofl_error returns a constant text for any number.
        let text = unsafe { CStr::from_ptr(sys::zofl_error(self.0)) };
        f.write_str(text.to_str().unwrap_or("error"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({self})", self.0)
    }
}

impl core::error::Error for Error {}

/// Why [`Device::open`] begins no device: what the core refused, and its reason.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OpenError {
    error: Error,
    reason: [u8; 128],
}

impl OpenError {
    /// The number of zofl.h, less than 0.
    pub fn code(self) -> i32 {
        self.error.code()
    }

    /// The field that does not fit, and the remedy; empty where [`Error`] says it all.
    pub fn reason(&self) -> &str {
        until_nul(&self.reason)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            "" => self.error.fmt(f),
            reason => write!(f, "{}: {reason}", self.error),
        }
    }
}

impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({self})", self.code())
    }
}

impl core::error::Error for OpenError {}

/// The text before the first 0 of out, which the core wrote.
fn until_nul(out: &[u8]) -> &str {
    CStr::from_bytes_until_nul(out).ok().and_then(|c| c.to_str().ok()).unwrap_or("")
}

fn check(code: c_int) -> Result<c_int, Error> {
    if code < 0 {
        Err(Error(code))
    } else {
        Ok(code)
    }
}

/// Whether this build computes what every other device does.
pub fn selftest() -> Result<(), Error> {
    // SAFETY: it takes nothing.
    check(unsafe { sys::zofl_selftest() }).map(drop)
}

/// Where a device lives: it does not move while it is in use.
pub struct Room(MaybeUninit<sys::Device>);

impl Room {
    /// A room without a device.
    pub const fn new() -> Self {
        Room(MaybeUninit::uninit())
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}

/// A piece of the memory for a plan's vectors, aligned as the core needs it.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Unit([u8; 16]);

impl Unit {
    /// The bytes of a unit.
    pub const SIZE: usize = 16;
    /// An empty unit.
    pub const ZERO: Self = Unit([0; 16]);
    /// How many units hold so many bytes.
    pub const fn count(bytes: usize) -> usize {
        bytes.div_ceil(Self::SIZE)
    }
}

/// What a device is opened with. All that it borrows stays until the device is dropped.
pub struct Config<'m> {
    /// The run's name: 1 to 32 of a-z, 0-9, - and _.
    pub run: &'m CStr,
    /// The device's: unique in the run, and always the same.
    pub id: &'m CStr,
    /// The app's secret of a private run.
    pub secret: Option<&'m [u8]>,
    /// The parameters with which a run of initial=given begins.
    pub initial: Option<&'m [f32]>,
    /// Its samples, where the plan weighs devices; 0 is 1.
    pub weight: u32,
    /// Bytes of the longest message that the app can take; 0 is 65,536.
    pub max_receive: u32,
    /// Anything that differs between devices.
    pub random: u64,
    /// Where the device writes what it sends: 256 bytes, and the longest frame of the plan.
    pub frame: &'m mut [u8],
}

impl<'m> Config<'m> {
    /// What a device needs at least.
    pub fn new(run: &'m CStr, id: &'m CStr, frame: &'m mut [u8]) -> Self {
        Config { run, id, secret: None, initial: None, weight: 0, max_receive: 0, random: 0, frame }
    }
}

/// What a device has to do next.
#[derive(Debug)]
pub enum Next<'a> {
    /// Subscribe to a subject.
    Subscribe(&'a str),
    /// Publish data on a subject. Answers go to reply.
    Send {
        /// Where to.
        subject: &'a str,
        /// Where answers go, if one is awaited.
        reply: Option<&'a str>,
        /// The message.
        data: &'a [u8],
    },
    /// Give the device so many bytes of memory.
    Memory(usize),
    /// Read the point, compute its loss, and give it to the device, or decline.
    Evaluate(Task),
    /// Nothing, until a message arrives or until this time.
    Wait {
        /// When to poll again.
        until_ms: u64,
    },
    /// The same, and the run is paused.
    Paused {
        /// When to poll again.
        until_ms: u64,
    },
    /// The run has ended.
    Ended,
}

/// A loss that the device is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The number of parameters.
    pub parameters: usize,
    /// The record that the loss is for.
    pub record: u64,
    /// It draws the minibatch: equal for all points of a step.
    pub seed: u64,
    /// Samples of the minibatch; 0 is your choice.
    pub batch: u32,
    /// The local step, the point of it, and how many it has.
    pub step: u32,
    /// The point of the step.
    pub point: u32,
    /// How many points the step has.
    pub points: u32,
    /// The metric of the model itself, on held-out data: [`Device::metric`] is its name.
    pub held_out: bool,
}

mod sealed {
    pub trait Sealed {}
}

/// What a point's elements may be.
pub trait Element: sealed::Sealed {
    #[doc(hidden)]
    const TYPE: c_int;
}

/// The bits of an IEEE binary16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl sealed::Sealed for f32 {}
impl sealed::Sealed for F16 {}
impl sealed::Sealed for Bf16 {}
impl Element for f32 {
    const TYPE: c_int = 0;
}
impl Element for F16 {
    const TYPE: c_int = 1;
}
impl Element for Bf16 {
    const TYPE: c_int = 2;
}

/// A short text of its own.
#[derive(Default)]
struct Name {
    bytes: [u8; 32],
    size: usize,
}

impl Name {
    fn set(&mut self, text: &str) {
        self.size = text.len().min(self.bytes.len());
        self.bytes[..self.size].copy_from_slice(&text.as_bytes()[..self.size]);
    }

    fn get(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.size]).unwrap_or("")
    }
}

/// One device in one run.
pub struct Device<'m> {
    raw: &'m mut sys::Device,
    memory: Option<(*mut u8, usize)>,
    metric: Name,
    borrows: PhantomData<(&'m [u8], &'m mut [Unit])>,
}

impl<'m> Device<'m> {
    /// Begins a device that joins its run.
    pub fn open(room: &'m mut Room, config: Config<'m>) -> Result<Self, OpenError> {
        let secret = config.secret.unwrap_or(&[]);
        let c = sys::Config {
            run: config.run.as_ptr(),
            id: config.id.as_ptr(),
            secret: config.secret.map_or(ptr::null(), <[u8]>::as_ptr),
            secret_size: secret.len(),
            initial: config.initial.map_or(ptr::null(), <[f32]>::as_ptr),
            weight: config.weight,
            max_receive: config.max_receive,
            random: config.random,
            frame: config.frame.as_mut_ptr(),
            frame_size: config.frame.len(),
            memory: ptr::null_mut(),
            memory_size: 0,
        };
        // SAFETY: all that c points to lives for 'm, and so does the room. zofl_open writes the
        // whole device before it returns, with an error or without. zofl_explain writes within
        // reason, with a 0.
        unsafe {
            let raw = room.0.as_mut_ptr();
            check(sys::zofl_open(raw, &c)).map_err(|error| {
                let mut reason = [0; 128];
                sys::zofl_explain(raw, reason.as_mut_ptr().cast(), reason.len());
                OpenError { error, reason }
            })?;
            Ok(Device {
                raw: room.0.assume_init_mut(),
                memory: None,
                metric: Name::default(),
                borrows: PhantomData,
            })
        }
    }

    /// What to do next. now_ms is any clock of milliseconds that never goes back.
    pub fn poll(&mut self, now_ms: u64) -> Result<Next<'_>, Error> {
        let mut task = MaybeUninit::<sys::Task>::zeroed();
        // SAFETY: the task is written by the core, and zeros are a valid one. Its pointers are
        // texts with a 0, and bytes, that stay until the next call, which needs the borrow's end.
        unsafe {
            let code = check(sys::zofl_poll(self.raw, now_ms, task.as_mut_ptr()))?;
            let t = task.assume_init();
            Ok(match code {
                1 => Next::Subscribe(text(t.subject).unwrap_or("")),
                2 => Next::Send {
                    subject: text(t.subject).unwrap_or(""),
                    reply: text(t.reply),
                    data: slice::from_raw_parts(t.data, t.size),
                },
                3 => Next::Memory(t.size),
                4 => Next::Evaluate({
                    self.metric.set(text(t.metric).unwrap_or(""));
                    Task {
                        parameters: t.size,
                        record: t.record,
                        seed: t.seed,
                        batch: t.batch,
                        step: t.step,
                        point: t.point,
                        points: t.points,
                        held_out: t.held_out != 0,
                    }
                }),
                5 => Next::Paused { until_ms: t.until_ms },
                6 => Next::Ended,
                _ => Next::Wait { until_ms: t.until_ms },
            })
        }
    }

    /// The connection is new: the next polls subscribe again, and ask how far the run is.
    pub fn connected(&mut self) {
        // SAFETY: the device is open.
        unsafe { sys::zofl_connected(self.raw) }
    }

    /// Gives a message of a subject to which the device subscribed. An error says why the device
    /// did not use it; then go on.
    pub fn receive(&mut self, subject: &CStr, data: &[u8]) -> Result<(), Error> {
        // SAFETY: the core reads within the text and the bytes, during the call.
        check(unsafe { sys::zofl_receive(self.raw, subject.as_ptr(), data.as_ptr(), data.len()) })
            .map(drop)
    }

    /// Gives the memory that the device asked for. Where it had some, what that holds is copied.
    pub fn give(&mut self, memory: &'m mut [Unit]) -> Result<(), Error> {
        let (to, size) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
        // SAFETY: both are borrowed for 'm, so that they are two; bytes fit into both.
        unsafe {
            if let Some((from, had)) = self.memory {
                ptr::copy_nonoverlapping(from, to, had.min(size));
            }
            check(sys::zofl_give(self.raw, to.cast::<c_void>(), size))?;
        }
        self.memory = Some((to, size));
        Ok(())
    }

    /// Elements of the point to evaluate, from off on.
    pub fn point<T: Element>(&self, off: u64, out: &mut [T]) -> Result<(), Error> {
        // SAFETY: the core writes as many elements of the type as out has.
        check(unsafe {
            sys::zofl_point(self.raw, T::TYPE, out.as_mut_ptr().cast(), off, out.len() as u64)
        })
        .map(drop)
    }

    /// The same of point i of the step in hand, before its losses are known.
    pub fn point_at<T: Element>(&self, i: u32, off: u64, out: &mut [T]) -> Result<(), Error> {
        // SAFETY: as in point.
        check(unsafe {
            let n = out.len() as u64;
            sys::zofl_point_at(self.raw, i, T::TYPE, out.as_mut_ptr().cast(), off, n)
        })
        .map(drop)
    }

    /// The name of the metric that the last task asks for; usually "loss".
    pub fn metric(&self) -> &str {
        self.metric.get()
    }

    /// The loss of the point. One that is not finite is declined.
    pub fn loss(&mut self, loss: f64) -> Result<(), Error> {
        // SAFETY: the device is open.
        check(unsafe { sys::zofl_loss(self.raw, loss) }).map(drop)
    }

    /// No loss for this record: reason as in docs/wire.md, "declined".
    pub fn decline(&mut self, reason: u8) -> Result<(), Error> {
        // SAFETY: the device is open.
        check(unsafe { sys::zofl_decline(self.raw, reason) }).map(drop)
    }

    /// Elements of the model, from off on.
    pub fn model<T: Element>(&self, off: u64, out: &mut [T]) -> Result<(), Error> {
        // SAFETY: as in point.
        check(unsafe {
            sys::zofl_model(self.raw, T::TYPE, out.as_mut_ptr().cast(), off, out.len() as u64)
        })
        .map(drop)
    }

    /// How many records the model is behind.
    pub fn records(&self) -> u64 {
        // SAFETY: the device is open.
        unsafe { sys::zofl_records(self.raw) }
    }

    /// How many rounds.
    pub fn rounds(&self) -> u64 {
        // SAFETY: the device is open.
        unsafe { sys::zofl_rounds(self.raw) }
    }

    /// The digest of the state, which every device of the run has.
    pub fn digest(&self) -> Result<[u8; 32], Error> {
        let mut out = [0; 32];
        // SAFETY: it writes 32 bytes.
        check(unsafe { sys::zofl_digest(self.raw, out.as_mut_ptr()) })?;
        Ok(out)
    }

    /// Why a plan or a message was refused, for a log; cut where out is short.
    pub fn explain<'a>(&self, out: &'a mut [u8]) -> &'a str {
        // SAFETY: it writes within out, with a 0.
        unsafe { sys::zofl_explain(self.raw, out.as_mut_ptr().cast(), out.len()) };
        until_nul(out)
    }
}

#[cfg(feature = "state")]
impl<'m> Device<'m> {
    /// Bytes of the state file; 0 before the first record.
    pub fn state_size(&self) -> u64 {
        // SAFETY: the device is open.
        unsafe { sys::zofl_state_size(self.raw) }
    }

    /// Bytes of the state file, from off on.
    pub fn save(&self, off: u64, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: it writes as many bytes as out has.
        check(unsafe { sys::zofl_save(self.raw, off, out.as_mut_ptr(), out.len()) }).map(drop)
    }

    /// The next bytes of a state file, before the first poll. It asks for memory as poll does:
    /// then give it, and call again with the same bytes.
    pub fn load(&mut self, bytes: &[u8], last: bool) -> Result<Loaded, Error> {
        // SAFETY: it reads within bytes.
        unsafe {
            let last = c_int::from(last);
            Ok(match check(sys::zofl_load(self.raw, bytes.as_ptr(), bytes.len(), last))? {
                3 => Loaded::Memory(sys::zofl_need(self.raw)),
                _ => Loaded::Taken,
            })
        }
    }
}

/// What became of some bytes of a state file.
#[cfg(feature = "state")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// They are read; where they were the last, the state is whole.
    Taken,
    /// They are not: the device needs so many bytes of memory first.
    Memory(usize),
}

/// A text of the core, which is ASCII.
///
/// # Safety
///
/// p is NULL, or a text with a 0 that lives for 'a.
unsafe fn text<'a>(p: *const core::ffi::c_char) -> Option<&'a str> {
    if p.is_null() {
        return None;
    }
    CStr::from_ptr(p).to_str().ok()
}

/// What a direction's elements are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Normal numbers.
    Normal = 1,
    /// +1 or -1.
    Rademacher = 2,
    /// Uniform numbers from -1 to 1.
    Uniform = 9,
}

/// Which direction: docs/prng.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// The record's key.
    pub key: u64,
    /// The local step.
    pub step: u16,
    /// The perturbation.
    pub perturbation: u16,
    /// 0 where all devices share it.
    pub source: u32,
    /// What it is for; 0 in rounds.
    pub domain: u32,
}

impl Direction {
    /// The key of a record's directions.
    pub fn record_key(run_key: &[u8], n: u64) -> u64 {
        // SAFETY: it reads within run_key.
        unsafe { sys::zofl_record_key(run_key.as_ptr(), run_key.len(), n) }
    }

    /// out[i] = out[i] + a z[off+i], in place.
    pub fn add<T: Element>(&self, out: &mut [T], off: u64, of: Distribution, a: f32) {
        let at = sys::Addr {
            key: self.key,
            step: self.step,
            pert: self.perturbation,
            source: self.source,
            domain: self.domain,
        };
        let n = out.len() as u64;
        let dst = out.as_mut_ptr().cast();
        // SAFETY: it reads and writes the elements of out.
        unsafe { sys::zofl_perturb(dst, T::TYPE, ptr::null(), n, off, &at, of as c_int, a) }
    }
}
