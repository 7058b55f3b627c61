//! A pipelined load of any commands, and single commands: their CPU time in the server.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use resp_codec::{FrameDecoder, Limits, Step, command};
use respire_bench::compare::Contender;
use respire_bench::error::{Error, Result};
use respire_bench::os;
use respire_bench::target::{Socket, Target};

use super::rows::Requests;
use crate::script::connect;

/// Connections of a load, and the requests that each sends at once.
pub(super) const CLIENTS: usize = 20;
pub(super) const PIPELINE: usize = 64;

/// The number of different batches of requests.
const BATCHES: usize = 8_000;

/// The requests of a load, in batches that are sent one after another, again and again.
pub(super) fn batches(requests: Requests, elements: u64) -> Vec<Vec<u8>> {
    // Knuth's linear congruential generator, of which the upper bits are used.
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % elements
    };
    let batch = |_| {
        let mut bytes = Vec::new();
        for _ in 0..PIPELINE {
            command(&mut bytes, &requests(random(), elements));
        }
        bytes
    };
    (0..BATCHES).map(batch).collect()
}

/// Runs a load for some time. Returns microseconds of the server's CPU time for each command.
pub(super) fn run(server: &Contender, batches: &[Vec<u8>], time: Duration) -> Result<f64> {
    let mut lines = Vec::new();
    for _ in 0..CLIENTS {
        lines.push(Line::new(&server.target)?);
    }
    let mut next = batches.iter().cycle();
    let mut commands = 0;
    let cpu = || cpu_time(server);
    let (start, before) = (Instant::now(), cpu()?);
    for line in &mut lines {
        next.next()
            .into_iter()
            .try_for_each(|batch| line.send(batch))?;
    }
    let mut at = 0;
    while start.elapsed() < time {
        lines[at].read(PIPELINE)?;
        commands += PIPELINE;
        next.next()
            .into_iter()
            .try_for_each(|batch| lines[at].send(batch))?;
        at = (at + 1) % lines.len();
    }
    for line in &mut lines {
        line.read(PIPELINE)?;
        commands += PIPELINE;
    }
    let used = cpu()?.saturating_sub(before);
    Ok(used.as_secs_f64() * 1e6 / commands as f64)
}

/// Runs a command. Returns microseconds of the server's CPU time.
pub(super) fn once(server: &Contender, line: &str) -> Result<f64> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut request = Vec::new();
    command(&mut request, &words);
    let mut line = Line::new(&server.target)?;
    let before = cpu_time(server)?;
    line.send(&request)?;
    line.read(1)?;
    Ok(cpu_time(server)?.saturating_sub(before).as_secs_f64() * 1e6)
}

fn cpu_time(server: &Contender) -> Result<Duration> {
    let usage = server.pid.and_then(os::usage);
    let usage = usage.ok_or_else(|| {
        Error::server(server.name.clone(), "the system does not tell its CPU time")
    })?;
    Ok(usage.cpu)
}

/// A connection.
struct Line {
    socket: Socket,
    server: String,
    decoder: FrameDecoder,
    input: Vec<u8>,
    room: Vec<u8>,
}

impl Line {
    fn new(target: &Target) -> Result<Self> {
        let limits = Limits {
            max_nodes: u32::MAX,
            ..Limits::CLIENT
        };
        Ok(Self {
            socket: connect(target)?,
            server: target.to_string(),
            decoder: FrameDecoder::new(limits),
            input: Vec::new(),
            room: vec![0; 1 << 20],
        })
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let what = Error::io(format!("connection to {}", self.server));
        self.socket.write_all(bytes).map_err(what)
    }

    /// Reads so many replies, none of which may be an error.
    fn read(&mut self, mut replies: usize) -> Result<()> {
        let (server, what) = (&self.server, || Error::io("connection"));
        let mut used = 0;
        while replies > 0 {
            let step = self.decoder.decode(&self.input[used..]);
            let step = step.map_err(|e| Error::server(server, format!("not a reply: {e}")))?;
            match step {
                Step::Ready { item, consumed } => {
                    if item.is_error() {
                        let text = item.str().unwrap_or("an error");
                        return Err(Error::server(server, format!("replied {text}")));
                    }
                    (used, replies) = (used + consumed, replies - 1);
                }
                Step::NeedMore { .. } => {
                    self.input.drain(..used);
                    used = 0;
                    match self.socket.read(&mut self.room).map_err(what())? {
                        0 => return Err(Error::server(server, "closed the connection")),
                        count => self.input.extend_from_slice(&self.room[..count]),
                    }
                }
            }
        }
        self.input.drain(..used);
        Ok(())
    }
}
