//! Sends scripted requests over blocking connections and compares every reply with given bytes. The
//! load generator does not know these commands.

use std::io::{Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use resp_codec::command;

use respire_bench::error::{Error, Result};
use respire_bench::target::{Socket, Target};

/// How long to wait for replies. Some servers take seconds for a command on millions of elements.
const PATIENCE: Duration = Duration::from_secs(60);

/// A batch of requests with all of their replies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Batch {
    /// Adds a request and its reply.
    pub(crate) fn push(&mut self, words: &[impl AsRef<[u8]>], reply: impl AsRef<[u8]>) {
        command(&mut self.request, words);
        self.reply.extend_from_slice(reply.as_ref());
    }
}

/// The name of a key: 16 bytes, as in the workloads.
pub(crate) fn key(number: u64) -> String {
    format!("key:{number:012}")
}

/// Sends batches one after another, each after the replies to the one before.
///
/// # Errors
/// [`Error::Io`], or [`Error::Server`] if a reply differs from the given one.
pub(crate) fn once(target: &Target, batches: impl IntoIterator<Item = Batch>) -> Result<()> {
    let mut socket = connect(target)?;
    let mut room = Vec::new();
    batches
        .into_iter()
        .try_for_each(|batch| exchange(&mut socket, target, &batch, &mut room))
}

/// Sends batches repeatedly for some time, each connection on a thread of its own; returns how many
/// were answered, and the time that took.
///
/// # Errors
/// The errors of [`once`].
pub(crate) fn rounds(
    target: &Target,
    connections: &[Vec<Batch>],
    time: Duration,
) -> Result<(u64, Duration)> {
    let start = Instant::now();
    let on_one = |batches: &[Batch]| -> Result<u64> {
        let mut socket = connect(target)?;
        let (mut room, mut count) = (Vec::new(), 0);
        for batch in batches.iter().cycle() {
            if start.elapsed() >= time {
                break;
            }
            exchange(&mut socket, target, batch, &mut room)?;
            count += 1;
        }
        Ok(count)
    };
    let counts: Vec<Result<u64>> = thread::scope(|scope| {
        let on_one = &on_one;
        let threads: Vec<_> = connections
            .iter()
            .map(|batches| scope.spawn(move || on_one(batches)))
            .collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|count| count.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let count = counts.into_iter().sum::<Result<u64>>()?;
    Ok((count, start.elapsed()))
}

pub(crate) fn connect(target: &Target) -> Result<Socket> {
    let socket = Socket::connect(target)?;
    let what = format!("timeouts of {target}");
    socket.set_patience(PATIENCE).map_err(Error::io(what))?;
    Ok(socket)
}

fn exchange(socket: &mut Socket, target: &Target, batch: &Batch, room: &mut Vec<u8>) -> Result<()> {
    let what = || Error::io(format!("connection to {target}"));
    socket.write_all(&batch.request).map_err(what())?;
    room.resize(batch.reply.len(), 0);
    socket.read_exact(room).map_err(what())?;
    if *room == batch.reply {
        return Ok(());
    }
    let shown = String::from_utf8_lossy(&room[..room.len().min(120)]).into_owned();
    Err(Error::server(
        target.to_string(),
        format!("answered {shown:?}"),
    ))
}
