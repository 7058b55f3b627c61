//! One thread of a load: sends requests, and receives and checks replies.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};

use super::beside::{self, Beside, Runs};
use super::connection::{Connection, Filled};
use super::{INTERVAL, Load, Stream};
use crate::check::{Checked, Checker};
use crate::error::{Error, Result};
use crate::schedule::Schedule;
use crate::stats::{BesideReport, Interval, Recorder};
use crate::target::Socket;
use crate::workload::{Expect, KeySource, Place, Wire};

/// How long a server may send nothing while requests are outstanding.
const SILENCE_NS_MAX: u64 = 10_000_000_000;
/// The same while a command runs beside the load: some servers serve nobody else meanwhile.
const SILENCE_BESIDE_NS_MAX: u64 = 60_000_000_000;
/// The longest sleep, so that intervals are reported in time.
const NAP: Duration = Duration::from_millis(100);
/// A request due sooner than this is waited for without sleeping: the system's timers are too
/// coarse.
const SPIN_NS: u64 = 2_000_000;

/// A thread's part of a load.
pub(super) struct Job<'a> {
    pub(super) load: &'a Load,
    pub(super) requests: Option<u64>,
    pub(super) first_key: u64,
    pub(super) seed: u64,
    pub(super) rate: Option<f64>,
}

/// The final result of a thread, besides its intervals.
pub(super) struct End {
    pub(super) elapsed: Duration,
    pub(super) first_complaint: Option<String>,
    pub(super) beside: Option<BesideReport>,
}

pub(super) struct Worker<'a> {
    load: &'a Load,
    poll: Poll,
    connections: Vec<Connection>,
    places: Vec<Place>,
    keys: KeySource,
    wire: Wire,
    checker: Checker,
    recorder: Recorder,
    schedule: Option<Schedule>,
    batch: Vec<u8>,
    /// The number of keys still to be drawn: commands of a ratio, sequences of a cycle.
    left: u64,
    /// The number of commands per key.
    commands_each: u64,
    /// Commands of sequences that were begun and not sent.
    promised: u64,
    /// After this time no command is sent.
    deadline_ns: u64,
    outstanding: usize,
    last_reply_ns: u64,
    /// When the last reply arrived, or when the first request was sent after all had been answered.
    answered_ns: u64,
    start: Instant,
    beside: Option<Runs<'a>>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(job: Job<'a>, sockets: Vec<Socket>, out: Sender<Interval>) -> Result<Self> {
        let load = job.load;
        let workload = &load.workload;
        let wire = Wire::new(workload);
        let checker = Checker::new(wire.clone(), load.verify);
        let poll = Poll::new().map_err(Error::io("epoll"))?;
        let mut connections = Vec::with_capacity(sockets.len());
        for (index, socket) in sockets.into_iter().enumerate() {
            let what = || Error::io(format!("connection to {}", load.target));
            let stream = Stream::try_from(socket).map_err(what())?;
            let reply = checker.reply_len_max();
            let mut connection = Connection::new(stream, Token(index), reply, workload.pipeline);
            connection.register(poll.registry()).map_err(what())?;
            connections.push(connection);
        }
        let count = connections.len();
        Ok(Self {
            load,
            poll,
            connections,
            places: workload.mix.places(),
            keys: KeySource::new(
                workload.pattern,
                workload.key_space,
                job.seed,
                job.first_key,
            )?,
            wire,
            checker,
            recorder: Recorder::new(INTERVAL.as_nanos() as u64, out),
            schedule: job.rate.map(|rate| Schedule::new(rate, count)),
            batch: Vec::new(),
            commands_each: workload.mix.commands_each(),
            promised: 0,
            left: job.requests.unwrap_or(u64::MAX),
            deadline_ns: load.bound.time.map_or(u64::MAX, |t| t.as_nanos() as u64),
            outstanding: 0,
            last_reply_ns: 0,
            answered_ns: 0,
            start: Instant::now(),
            beside: None,
        })
    }

    /// Runs commands on a connection of their own as well.
    pub(super) fn run_beside(&mut self, beside: &'a Beside, socket: Socket) -> Result<()> {
        let runs = Runs::new(beside, socket).and_then(|mut runs| {
            runs.register(self.poll.registry())?;
            Ok(runs)
        });
        self.beside = Some(runs.map_err(|e| self.broken(e))?);
        Ok(())
    }

    /// Runs until the limit is reached and every reply has arrived, or until another thread has
    /// failed.
    pub(super) fn run(mut self, start: Instant, stop: &AtomicBool) -> Result<End> {
        self.start = start;
        let ended = self.turns(stop);
        if ended.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        let owed: u64 = self.connections.iter().map(|c| c.owed).sum();
        self.recorder.counts().unsent += owed;
        self.recorder.finish();
        ended.map(|()| End {
            elapsed: Duration::from_nanos(self.last_reply_ns),
            first_complaint: self.checker.first_complaint().map(str::to_owned),
            beside: self.beside.map(Runs::into_report),
        })
    }

    fn turns(&mut self, stop: &AtomicBool) -> Result<()> {
        let mut events = Events::with_capacity(1024);
        let mut due = Vec::new();
        if self.schedule.is_none() {
            for index in 0..self.connections.len() {
                let now = self.now_ns();
                self.offer(index, now)?;
            }
        }
        loop {
            let now = self.now_ns();
            self.pace(now, &mut due)?;
            self.recorder.tick(now);
            let open = self.left + self.promised > 0 && now < self.deadline_ns;
            let is_idle = self.turn_beside(now, open)?;
            if (self.outstanding == 0 && !open && is_idle) || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.check_silence(now)?;
            match self.poll.poll(&mut events, Some(self.nap(now))) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                    return Err(Error::io("epoll")(e));
                }
                _ => {}
            }
            for event in &events {
                if event.token() == beside::TOKEN {
                    self.beside.iter_mut().for_each(Runs::on_event);
                    continue;
                }
                let index = event.token().0;
                if event.is_writable() {
                    let flushed = self.connections[index].flush();
                    flushed.map_err(|e| self.broken(e))?;
                }
                if event.is_readable() || event.is_read_closed() {
                    self.receive(index)?;
                }
            }
        }
    }

    /// Lets the commands beside the load take a turn. Returns whether none of them is outstanding.
    fn turn_beside(&mut self, now_ns: u64, is_open: bool) -> Result<bool> {
        let Some(runs) = &mut self.beside else {
            return Ok(true);
        };
        let turn = runs.turn(now_ns, is_open);
        let is_idle = runs.is_idle();
        turn.map_err(|e| self.broken(e))?;
        Ok(is_idle)
    }

    fn check_silence(&self, now_ns: u64) -> Result<()> {
        let silence_ns_max = match &self.beside {
            None => SILENCE_NS_MAX,
            Some(_) => SILENCE_BESIDE_NS_MAX,
        };
        if self.outstanding == 0 || now_ns <= self.answered_ns + silence_ns_max {
            return Ok(());
        }
        let seconds = silence_ns_max / 1_000_000_000;
        let count = self.outstanding;
        Err(self.complaint(format!("no reply for {seconds} s, {count} outstanding")))
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// How long the thread can only wait for replies.
    fn nap(&self, now_ns: u64) -> Duration {
        let own = self.own_nap(now_ns);
        let beside = self.beside.as_ref().map(|runs| runs.nap(now_ns));
        beside.map_or(own, |beside| own.min(beside))
    }

    /// The same for the load alone.
    fn own_nap(&self, now_ns: u64) -> Duration {
        let Some(schedule) = &self.schedule else {
            return NAP;
        };
        if now_ns >= self.deadline_ns || self.left + self.promised == 0 {
            return NAP;
        }
        let next = schedule.next_ns().min(self.deadline_ns);
        match next.saturating_sub(now_ns) {
            0..=SPIN_NS => Duration::ZERO,
            wait => Duration::from_nanos(wait.saturating_sub(SPIN_NS / 2)).min(NAP),
        }
    }

    /// Open loop: assigns the requests that are due to connections.
    fn pace(&mut self, now_ns: u64, due: &mut Vec<usize>) -> Result<()> {
        let Some(schedule) = &mut self.schedule else {
            return Ok(());
        };
        due.clear();
        for index in schedule.due(now_ns.min(self.deadline_ns.saturating_sub(1))) {
            let connection = &mut self.connections[index];
            if connection.owed == 0 {
                due.push(index);
            }
            connection.owed += 1;
        }
        for &index in &*due {
            self.offer(index, now_ns)?;
        }
        Ok(())
    }

    /// Sends the requests that the connection may send now.
    #[inline]
    fn offer(&mut self, index: usize, now_ns: u64) -> Result<()> {
        let connection = &mut self.connections[index];
        if self.outstanding == 0 {
            // The time limit for an answer starts with the first request.
            self.answered_ns = now_ns;
        }
        let pipeline = self.load.workload.pipeline;
        let free = (pipeline - connection.pending.len()) as u64;
        let count = match &self.schedule {
            None if connection.pending.is_empty() => free,
            None => 0,
            Some(_) => free.min(connection.owed),
        };
        if count == 0 || now_ns >= self.deadline_ns {
            return Ok(());
        }
        self.batch.clear();
        for _ in 0..count {
            let place = self.places[connection.place];
            if place.draws {
                if self.left == 0 {
                    connection.owed = 0;
                    break;
                }
                self.left -= 1;
                self.promised += self.commands_each;
                connection.key = self.keys.draw();
            }
            self.promised -= 1;
            connection.place += 1;
            if connection.place == self.places.len() {
                connection.place = 0;
            }
            let sent_ns = match &self.schedule {
                None => now_ns,
                Some(schedule) => {
                    connection.owed -= 1;
                    schedule.intended_ns(index, connection.sent)
                }
            };
            connection.sent += 1;
            let (kind, key) = (place.kind, connection.key);
            connection.pending.push_back(Expect { kind, key, sent_ns });
            self.outstanding += 1;
            self.wire.write(&mut self.batch, kind, key);
        }
        if self.batch.is_empty() {
            return Ok(());
        }
        self.recorder.counts().bytes_out += self.batch.len() as u64;
        connection
            .send(&self.batch, self.poll.registry())
            .map_err(|e| self.broken(e))
    }

    /// Reads and checks the available replies, and sends the requests that may follow.
    fn receive(&mut self, index: usize) -> Result<()> {
        loop {
            let filled = self.connections[index].fill();
            let full = match filled.map_err(|e| self.broken(e))? {
                Filled::Nothing => return Ok(()),
                Filled::End => {
                    let count = self.connections[index].pending.len();
                    let reason = format!("closed a connection with {count} requests unanswered");
                    return Err(self.complaint(reason));
                }
                Filled::Bytes { count, full } => {
                    self.recorder.counts().bytes_in += count as u64;
                    full
                }
            };
            let now = self.now_ns();
            self.replies(index, now)?;
            self.offer(index, now)?;
            if !full {
                return Ok(());
            }
        }
    }

    /// Checks and records the replies in the buffer.
    #[inline]
    fn replies(&mut self, index: usize, now_ns: u64) -> Result<()> {
        let connection = &mut self.connections[index];
        while !connection.input().is_empty() {
            let Some(expect) = connection.pending.front() else {
                return Err(self.complaint("sent a reply that nothing asked for".to_owned()));
            };
            match self.checker.check(connection.input(), expect) {
                Ok(Checked::Reply { len, outcome }) => {
                    self.recorder
                        .reply(expect.kind, expect.sent_ns, now_ns, outcome);
                    connection.consume(len);
                    connection.pending.pop_front();
                    self.outstanding -= 1;
                }
                Ok(Checked::Partial { need }) => {
                    connection.make_room(need);
                    break;
                }
                Err(reason) => return Err(self.complaint(reason)),
            }
        }
        self.recorder.settle(now_ns);
        self.last_reply_ns = now_ns;
        self.answered_ns = now_ns;
        Ok(())
    }

    fn broken(&self, error: io::Error) -> Error {
        Error::io(format!("connection to {}", self.load.target))(error)
    }

    fn complaint(&self, reason: String) -> Error {
        Error::server(self.load.target.to_string(), reason)
    }
}
