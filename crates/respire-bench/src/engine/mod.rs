//! Runs a load: non-blocking connections, shared by one or more threads.
//!
//! In the closed loop a connection sends a batch, reads its replies, and sends the next. In the
//! open loop ([`Schedule`](crate::schedule::Schedule)) requests leave at scheduled times, at most
//! `pipeline` of them outstanding.

mod beside;
mod connection;
mod stream;
mod worker;

pub use beside::Beside;
pub(crate) use stream::Stream;

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::check::Verify;
use crate::error::{Error, Result};
use crate::os;
use crate::stats::{Collector, Facts, Interval, Report};
use crate::target::{Client, Login, Socket, Target};
use crate::workload::{Pattern, Workload};
use worker::{Job, Worker};

/// How often threads report their measurements.
pub const INTERVAL: Duration = Duration::from_millis(250);

/// When a load ends: at the first of these limits. At least one must be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Commands of a ratio, or whole sequences of a cycle.
    pub requests: Option<u64>,
    /// Time since the first request. Outstanding replies are waited for.
    pub time: Option<Duration>,
}

impl Bound {
    /// Ends after this number of requests.
    pub fn requests(requests: u64) -> Self {
        Self {
            requests: Some(requests),
            time: None,
        }
    }

    /// Ends after this time.
    pub fn time(time: Duration) -> Self {
        Self {
            requests: None,
            time: Some(time),
        }
    }
}

/// A load on a server.
#[derive(Clone, Debug)]
pub struct Load {
    /// The server.
    pub target: Target,
    /// How each connection logs in.
    pub login: Login,
    /// The requests to send.
    pub workload: Workload,
    /// How thoroughly replies are checked.
    pub verify: Verify,
    /// Connections, shared by the threads.
    pub clients: usize,
    /// Threads, at most one per connection.
    pub threads: usize,
    /// When the load ends.
    pub bound: Bound,
    /// Requests per second of the open loop; `None` means the closed loop.
    pub rate: Option<f64>,
    /// Seed of the random keys.
    pub seed: u64,
    /// Whether to keep the histograms of every interval.
    pub logging: bool,
    /// Commands to run at the same time, on a connection of their own.
    pub beside: Option<Beside>,
}

impl Load {
    /// # Errors
    /// [`Error::Flag`] for the first field that is out of bounds.
    pub fn check(&self) -> Result<()> {
        self.workload.check()?;
        if !(1..=60_000).contains(&self.clients) {
            return Err(Error::flag("--clients", "want 1 to 60000 connections"));
        }
        if self.threads == 0 || self.threads > self.clients {
            let reason = format!("want 1 to {} threads, one client each", self.clients);
            return Err(Error::flag("--threads", reason));
        }
        if self.bound.requests == Some(0) {
            return Err(Error::flag("--requests", "want at least one"));
        }
        if self.bound.time.is_some_and(|time| time.is_zero()) {
            return Err(Error::flag("--test-time", "want some time"));
        }
        if self.bound.requests.is_none() && self.bound.time.is_none() {
            return Err(Error::flag(
                "--requests",
                "or --test-time must end the load",
            ));
        }
        if let Some(beside) = &self.beside {
            beside.check()?;
        }
        match self.rate {
            Some(rate) if !(rate > 0.0 && rate.is_finite()) => {
                Err(Error::flag("--rate", "want requests per second above 0"))
            }
            _ => Ok(()),
        }
    }

    /// The load that stores every key of this one once.
    pub fn populating(&self) -> Self {
        Self {
            workload: self.workload.populating(),
            clients: self.clients.min(8),
            threads: 1,
            bound: Bound::requests(self.workload.key_space),
            rate: None,
            logging: false,
            beside: None,
            ..self.clone()
        }
    }

    /// Connects and runs. Calls `watch` after every interval that a thread reports.
    ///
    /// # Errors
    /// The errors of [`Load::connect`] and [`Ready::run`].
    pub fn run(&self, watch: impl FnMut(&Collector)) -> Result<(Report, Collector)> {
        self.connect()?.run(watch)
    }

    /// Opens all connections, so that the measurement does not include their cost.
    ///
    /// # Errors
    /// The errors of [`Load::check`], [`Error::Io`], or [`Error::Server`] if the login is refused.
    pub fn connect(&self) -> Result<Ready<'_>> {
        self.check()?;
        os::allow_files(self.clients as u64 + 64)?;
        let (out, intervals) = channel();
        let mut workers = Vec::with_capacity(self.threads);
        for thread in 0..self.threads {
            let sockets = self.sockets(thread)?;
            workers.push(Worker::new(self.job(thread), sockets, out.clone())?);
        }
        if let (Some(beside), Some(worker)) = (&self.beside, workers.first_mut()) {
            worker.run_beside(beside, Beside::connect(&self.target, &self.login)?)?;
        }
        Ok(Ready {
            load: self,
            workers,
            intervals,
        })
    }

    /// The number of connections of one thread.
    fn share(&self, thread: usize) -> usize {
        self.clients / self.threads + usize::from(thread < self.clients % self.threads)
    }

    fn sockets(&self, thread: usize) -> Result<Vec<Socket>> {
        (0..self.share(thread))
            .map(|_| Client::connect(&self.target, &self.login)?.into_socket())
            .collect()
    }

    fn job(&self, thread: usize) -> Job<'_> {
        let (thread, threads) = (thread as u64, self.threads as u64);
        let requests = self
            .bound
            .requests
            .map(|all| all / threads + u64::from(thread < all % threads));
        let first_key = match self.workload.pattern {
            Pattern::Sequential => {
                (u128::from(self.workload.key_space) * u128::from(thread) / u128::from(threads))
                    as u64
            }
            _ => 0,
        };
        Job {
            load: self,
            requests,
            first_key,
            seed: self.seed.wrapping_add(thread),
            rate: self.rate.map(|rate| rate / threads as f64),
        }
    }
}

/// A load whose connections are open.
pub struct Ready<'a> {
    load: &'a Load,
    workers: Vec<Worker<'a>>,
    intervals: Receiver<Interval>,
}

impl Ready<'_> {
    /// Runs the load to its end.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Server`] if the server stops answering or sends invalid replies.
    /// Error replies and wrong values do not end a load; the report counts them.
    pub fn run(self, mut watch: impl FnMut(&Collector)) -> Result<(Report, Collector)> {
        let load = self.load;
        let cpu = os::own_cpu()?;
        let start = Instant::now();
        let stop = AtomicBool::new(false);
        let mut collector = Collector::new(INTERVAL, load.logging);
        let ends: Vec<_> = thread::scope(|scope| {
            let stop = &stop;
            let threads: Vec<_> = self
                .workers
                .into_iter()
                .map(|worker| scope.spawn(move || worker.run(start, stop)))
                .collect();
            for interval in &self.intervals {
                collector.take(interval);
                watch(&collector);
            }
            threads.into_iter().map(ScopedJoinHandle::join).collect()
        });
        let load_cpu = os::own_cpu()?.saturating_sub(cpu);
        collector.finish();
        let mut elapsed = Duration::ZERO;
        let (mut first_complaint, mut beside) = (None, None);
        for end in ends {
            let end = end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            elapsed = elapsed.max(end.elapsed);
            first_complaint = first_complaint.or(end.first_complaint);
            beside = beside.or(end.beside);
        }
        let facts = Facts {
            server: load.target.to_string(),
            workload: &load.workload,
            clients: load.clients,
            threads: load.threads,
            rate: load.rate,
            elapsed,
            load_cpu,
            first_complaint,
        };
        let mut report = Report::new(facts, &collector);
        report.beside = beside;
        Ok((report, collector))
    }
}
