//! A device over a TCP connection to a broker:
//!
//!     cargo run --example tcp -- 127.0.0.1:4222 kitchen rust-1

use std::ffi::{CStr, CString};
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use zofl::{Config, Device, Next, Room, Unit};

const LONGEST: u32 = 65536;

/// The distance from a point: what an app measures in its place.
fn loss(x: &[f32]) -> f64 {
    let aim = |i| 1.0 + i as f64 / x.len() as f64;
    1.0 + x.iter().enumerate().map(|(i, &w)| (f64::from(w) - aim(i)).powi(2)).sum::<f64>()
}

/// What the broker says: NATS's text protocol.
enum Said {
    Ping,
    Message(CString, Vec<u8>),
    Other,
}

fn hear(wire: &mut impl BufRead) -> io::Result<Said> {
    let mut line = String::new();
    if wire.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    match words[..] {
        ["PING"] => Ok(Said::Ping),
        ["-ERR", ..] => Err(io::Error::other(line.trim().to_owned())),
        ["MSG", subject, _, .., size] => {
            let size: u32 = size.parse().map_err(io::Error::other)?;
            let mut data = vec![0; size.min(LONGEST) as usize + 2];
            wire.read_exact(&mut data)?;
            data.truncate(data.len() - 2);
            Ok(Said::Message(CString::new(subject)?, data))
        }
        _ => Ok(Said::Other),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, address, run, id] = &words[..] else {
        return Err("usage: tcp ADDRESS RUN ID".into());
    };
    let (run, id) = (CString::new(run.as_str())?, CString::new(id.as_str())?);
    let (mut room, mut frame) = (Room::new(), vec![0; 256 + 65536]);
    let mut device = Device::open(&mut room, Config::new(&run, &id, &mut frame))?;

    let mut wire = TcpStream::connect(address.as_str())?;
    let mut heard = BufReader::new(wire.try_clone()?);
    wire.write_all(b"CONNECT {\"verbose\":false,\"headers\":false}\r\n")?;
    let (began, mut subscriptions) = (Instant::now(), 0);
    let mut x = Vec::new();
    loop {
        let now = began.elapsed().as_millis() as u64;
        match device.poll(now)? {
            Next::Subscribe(subject) => {
                subscriptions += 1;
                write!(wire, "SUB {subject} {subscriptions}\r\n")?;
            }
            Next::Send { subject, reply, data } => {
                let mut message =
                    format!("PUB {subject} {} {}\r\n", reply.unwrap_or(""), data.len())
                        .into_bytes();
                message.extend_from_slice(data);
                message.extend_from_slice(b"\r\n");
                wire.write_all(&message)?;
            }
            Next::Memory(size) => device.give(vec![Unit::ZERO; Unit::count(size)].leak())?,
            Next::Evaluate(task) => {
                x.resize(task.parameters, 0f32);
                device.point(0, &mut x)?;
                device.loss(loss(&x))?;
            }
            Next::Wait { until_ms } | Next::Paused { until_ms } => {
                let rest = Duration::from_millis(until_ms.saturating_sub(now).clamp(1, 1000));
                wire.set_read_timeout(Some(rest))?;
                match heard.fill_buf() {
                    Err(e)
                        if matches!(
                            e.kind(),
                            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                        ) =>
                    {
                        continue;
                    }
                    Err(e) => return Err(e.into()),
                    Ok(_) => wire.set_read_timeout(None)?,
                }
                match hear(&mut heard)? {
                    Said::Ping => wire.write_all(b"PONG\r\n")?,
                    Said::Message(subject, data) => used(&mut device, &subject, &data),
                    Said::Other => {}
                }
            }
            Next::Ended => break,
        }
    }
    let digest: String = device.digest()?.iter().map(|b| format!("{b:02x}")).collect();
    println!("ended: record {} digest {digest}", device.records());
    Ok(())
}

/// Gives the device a message. One that it cannot use is not the end.
fn used(device: &mut Device<'_>, subject: &CStr, data: &[u8]) {
    if let Err(error) = device.receive(subject, data) {
        let mut why = [0; 96];
        eprintln!("not used: {error}: {}", device.explain(&mut why));
    }
}
