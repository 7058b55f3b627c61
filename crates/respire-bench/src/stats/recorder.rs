//! Records one thread's latencies, and reports them interval by interval.

use std::mem;
use std::sync::mpsc::Sender;

use super::{LATENCY_NS_MAX, Latencies, latencies};
use crate::check::Outcome;
use crate::workload::Kind;

/// Counts of unusual outcomes, and of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Commands on missing keys.
    pub misses: u64,
    /// Replies that do not fit their request.
    pub mismatches: u64,
    /// Error replies.
    pub errors: u64,
    /// Requests of the open loop that were due and not sent by the end.
    pub unsent: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}

impl Counts {
    /// Adds the counts of another thread or interval.
    pub fn add(&mut self, other: &Self) {
        self.misses += other.misses;
        self.mismatches += other.mismatches;
        self.errors += other.errors;
        self.unsent += other.unsent;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
    }
}

/// The measurements of a thread in one interval.
#[derive(Debug)]
pub struct Interval {
    /// The number of the interval: it begins `index` interval lengths after the start.
    pub index: u64,
    /// Latencies by [`Kind::index`]; `None` for a kind without replies.
    pub kinds: [Option<Latencies>; 3],
    /// The counts.
    pub counts: Counts,
}

impl Interval {
    /// An interval without requests.
    pub fn empty(index: u64) -> Self {
        Self {
            index,
            kinds: [None, None, None],
            counts: Counts::default(),
        }
    }
}

/// Replies of one kind whose requests were sent at the same time.
#[derive(Clone, Copy, Default)]
struct Run {
    sent_ns: u64,
    count: u64,
}

/// Records replies. Replies of one batch, read at one time, are added to the histogram in one step.
pub struct Recorder {
    interval_ns: u64,
    current: Interval,
    runs: [Run; 3],
    out: Sender<Interval>,
}

impl Recorder {
    /// A recorder that reports an [`Interval`] every `interval_ns` nanoseconds.
    pub fn new(interval_ns: u64, out: Sender<Interval>) -> Self {
        Self {
            interval_ns,
            current: Interval::empty(0),
            runs: [Run::default(); 3],
            out,
        }
    }

    /// The counts, for the caller to update.
    pub fn counts(&mut self) -> &mut Counts {
        &mut self.current.counts
    }

    /// Records a reply read at `now_ns`, which stays the same until [`Recorder::settle`].
    #[inline]
    pub fn reply(&mut self, kind: Kind, sent_ns: u64, now_ns: u64, outcome: Outcome) {
        let run = self.runs[kind.index()];
        if run.sent_ns != sent_ns {
            self.flush(kind, now_ns);
            self.runs[kind.index()].sent_ns = sent_ns;
        }
        self.runs[kind.index()].count += 1;
        match outcome {
            Outcome::Hit => {}
            Outcome::Miss => self.current.counts.misses += 1,
            Outcome::Mismatch => self.current.counts.mismatches += 1,
            Outcome::Failed => self.current.counts.errors += 1,
        }
    }

    /// Call this after the replies of one read.
    #[inline]
    pub fn settle(&mut self, now_ns: u64) {
        for kind in Kind::ALL {
            self.flush(kind, now_ns);
        }
    }

    #[inline]
    fn flush(&mut self, kind: Kind, now_ns: u64) {
        let run = mem::take(&mut self.runs[kind.index()]);
        if run.count > 0 {
            let waited = now_ns.saturating_sub(run.sent_ns).min(LATENCY_NS_MAX);
            self.current.kinds[kind.index()]
                .get_or_insert_with(latencies)
                .saturating_record_n(waited, run.count);
        }
    }

    /// Reports the current interval if `now_ns` is after its end.
    #[inline]
    pub fn tick(&mut self, now_ns: u64) {
        let index = now_ns / self.interval_ns;
        if index > self.current.index {
            self.report(index);
        }
    }

    /// Reports the last interval.
    pub fn finish(mut self) {
        self.report(u64::MAX);
    }

    fn report(&mut self, index: u64) {
        let whole = mem::replace(&mut self.current, Interval::empty(index));
        // The receiver is gone only if the run failed elsewhere.
        drop(self.out.send(whole));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn replies_of_one_batch_are_counted_by_kind() {
        let (out, intervals) = channel();
        let mut recorder = Recorder::new(1_000_000, out);
        for kind in [Kind::Set, Kind::Get, Kind::Get, Kind::Set, Kind::Get] {
            recorder.reply(kind, 1_000, 5_000, Outcome::Hit);
        }
        recorder.reply(Kind::Get, 2_000, 5_000, Outcome::Miss);
        recorder.settle(5_000);
        recorder.finish();
        let interval = intervals.recv().unwrap();
        let count = |kind: Kind, value| {
            let kind = interval.kinds[kind.index()].as_ref().unwrap();
            kind.count_at(value)
        };
        assert_eq!(count(Kind::Set, 4_000), 2);
        assert_eq!(count(Kind::Get, 4_000), 3);
        assert_eq!(count(Kind::Get, 3_000), 1);
        assert!(interval.kinds[Kind::Delete.index()].is_none());
        assert_eq!(interval.counts.misses, 1);
    }

    #[test]
    fn interval_is_reported_once_after_its_end() {
        let (out, intervals) = channel();
        let mut recorder = Recorder::new(1_000, out);
        recorder.reply(Kind::Get, 0, 900, Outcome::Hit);
        recorder.settle(900);
        recorder.tick(999);
        assert!(intervals.try_recv().is_err());
        recorder.tick(3_500);
        assert_eq!(intervals.recv().unwrap().index, 0);
        recorder.counts().errors += 1;
        recorder.finish();
        let last = intervals.recv().unwrap();
        assert_eq!((last.index, last.counts.errors), (3, 1));
        assert!(intervals.recv().is_err());
    }

    #[test]
    fn latency_above_the_limit_counts_as_the_limit() {
        let (out, intervals) = channel();
        let mut recorder = Recorder::new(u64::MAX, out);
        recorder.reply(Kind::Set, 0, 10 * LATENCY_NS_MAX, Outcome::Hit);
        recorder.settle(10 * LATENCY_NS_MAX);
        recorder.finish();
        let interval = intervals.recv().unwrap();
        let set = interval.kinds[Kind::Set.index()].as_ref().unwrap();
        assert!(set.max() >= LATENCY_NS_MAX && set.len() == 1);
    }
}
