//! Merges the intervals of all threads: totals, the time series, and the interval log.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::Serialize;

use super::{Counts, Interval, Latencies, latencies, merge};
use crate::error::{Error, Result};
use crate::workload::Kind;

/// One interval of the run, for plots and the progress line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// When it begins, in seconds since the start.
    pub at_s: f64,
    /// Commands per second.
    pub per_second: f64,
    /// Median latency in microseconds.
    pub p50_us: f64,
    /// 99th percentile in microseconds.
    pub p99_us: f64,
    /// Longest latency in microseconds.
    pub max_us: f64,
}

/// Merges intervals.
pub struct Collector {
    interval: Duration,
    totals: [Latencies; 3],
    counts: Counts,
    open: BTreeMap<u64, Interval>,
    moments: Vec<Moment>,
    log: Option<Log>,
}

/// Histograms for the interval log, compressed until they are written: a few hundred bytes each
/// instead of 200 KiB.
struct Log {
    started: SystemTime,
    serializer: V2DeflateSerializer,
    lines: Vec<(u64, Kind, Vec<u8>)>,
}

impl Log {
    fn push(&mut self, index: u64, kind: Kind, histogram: &Latencies) {
        let mut bytes = Vec::new();
        self.serializer
            .serialize(histogram, &mut bytes)
            .expect("a histogram of these bounds is compressed into memory");
        self.lines.push((index, kind, bytes));
    }
}

impl Collector {
    /// A collector of intervals of one length; with `logging` it keeps every interval's histograms
    /// for [`Collector::write_log`].
    pub fn new(interval: Duration, logging: bool) -> Self {
        Self {
            interval,
            totals: [latencies(), latencies(), latencies()],
            counts: Counts::default(),
            open: BTreeMap::new(),
            moments: Vec::new(),
            log: logging.then(|| Log {
                started: SystemTime::now(),
                serializer: V2DeflateSerializer::new(),
                lines: Vec::new(),
            }),
        }
    }

    /// Takes one thread's interval. Intervals more than two before it count as complete, because
    /// threads report within one turn of their loop.
    pub fn take(&mut self, interval: Interval) {
        let newest = interval.index;
        self.counts.add(&interval.counts);
        let merged = self
            .open
            .entry(newest)
            .or_insert_with(|| Interval::empty(newest));
        for (into, from) in merged.kinds.iter_mut().zip(interval.kinds) {
            match (into.as_mut(), from) {
                (_, None) => {}
                (None, from) => *into = from,
                (Some(into), Some(from)) => merge(into, &from),
            }
        }
        while let Some(oldest) = self.open.first_entry()
            && oldest.key() + 2 < newest
        {
            let oldest = oldest.remove();
            self.close(oldest);
        }
    }

    /// Completes all intervals; call this after the last one.
    pub fn finish(&mut self) {
        while let Some((_, interval)) = self.open.pop_first() {
            self.close(interval);
        }
    }

    fn close(&mut self, interval: Interval) {
        let mut all = latencies();
        for (kind, histogram) in Kind::ALL.into_iter().zip(interval.kinds) {
            let Some(histogram) = histogram else { continue };
            merge(&mut all, &histogram);
            merge(&mut self.totals[kind.index()], &histogram);
            if let Some(log) = &mut self.log {
                log.push(interval.index, kind, &histogram);
            }
        }
        let us = |ns: u64| ns as f64 / 1_000.0;
        let at_s = interval.index as f64 * self.interval.as_secs_f64();
        if self.moments.last().is_some_and(|last| last.at_s >= at_s) {
            // The thread was not scheduled for a long time: count its latencies, and leave the time
            // series as it is.
            return;
        }
        self.moments.push(Moment {
            at_s,
            per_second: all.len() as f64 / self.interval.as_secs_f64(),
            p50_us: us(all.value_at_quantile(0.5)),
            p99_us: us(all.value_at_quantile(0.99)),
            max_us: us(all.max()),
        });
    }

    /// The complete intervals.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Commands in complete intervals.
    pub fn commands(&self) -> u64 {
        self.totals.iter().map(Latencies::len).sum()
    }

    /// Latencies of one kind in complete intervals.
    pub fn total(&self, kind: Kind) -> &Latencies {
        &self.totals[kind.index()]
    }

    /// Latencies of all kinds in complete intervals.
    pub fn total_all(&self) -> Latencies {
        let mut all = latencies();
        for total in &self.totals {
            merge(&mut all, total);
        }
        all
    }

    /// The counts so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Writes the HDR interval log (format 1.3, values in nanoseconds, one tag per command), which
    /// common HDR tools read.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub fn write_log(&self, path: &Path) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let what = format!("--hdr {}", path.display());
        let file = File::create(path).map_err(Error::io(&what))?;
        let mut out = BufWriter::new(file);
        let mut serializer = V2DeflateSerializer::new();
        let mut builder = IntervalLogWriterBuilder::new();
        builder
            .add_comment("respire-bench: latencies in nanoseconds")
            .with_start_time(log.started)
            .with_base_time(log.started);
        let mut writer = builder
            .begin_log_with(&mut out, &mut serializer)
            .map_err(Error::io(&what))?;
        for (index, kind, bytes) in &log.lines {
            let histogram = unpack(bytes);
            let start = self.interval * *index as u32;
            writer
                .write_histogram(&histogram, start, self.interval, Tag::new(kind.name()))
                .map_err(|e| Error::io(&what)(std::io::Error::other(format!("{e:?}"))))?;
        }
        drop(writer);
        out.flush().map_err(Error::io(what))
    }
}

/// Unpacks a histogram that [`Log::push`] packed.
fn unpack(bytes: &[u8]) -> Latencies {
    Deserializer::new()
        .deserialize(&mut &bytes[..])
        .expect("it was serialized here")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(index: u64, count: u64) -> Interval {
        let mut histogram = latencies();
        histogram.record_n(5_000, count).unwrap();
        let mut interval = Interval::empty(index);
        interval.kinds[Kind::Get.index()] = Some(histogram);
        interval.counts.misses = 1;
        interval
    }

    #[test]
    fn intervals_of_two_threads_are_merged_by_index() {
        let mut collector = Collector::new(Duration::from_millis(500), false);
        for index in 0..5 {
            collector.take(interval(index, 10));
            collector.take(interval(index, 30));
        }
        assert_eq!(collector.moments().len(), 2);
        collector.finish();
        assert_eq!(collector.moments().len(), 5);
        assert_eq!(collector.commands(), 200);
        assert_eq!(collector.counts().misses, 10);
        let last = collector.moments()[4];
        assert_eq!((last.at_s, last.per_second), (2.0, 80.0));
        assert!((last.p99_us - 5.0).abs() < 0.01);
    }

    #[test]
    fn hdr_reader_can_read_the_log() {
        use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
        let mut collector = Collector::new(Duration::from_secs(1), true);
        collector.take(interval(0, 10));
        collector.take(interval(1, 20));
        collector.finish();
        let name = format!("respire-bench-{}.hlog", std::process::id());
        let path = std::env::temp_dir().join(name);
        collector.write_log(&path).unwrap();
        let text = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut counts = Vec::new();
        for entry in IntervalLogIterator::new(&text) {
            if let LogEntry::Interval(line) = entry.unwrap() {
                assert_eq!(line.tag().unwrap().as_str(), "GET");
                let mut bytes = Vec::new();
                base64(line.encoded_histogram(), &mut bytes);
                let read: Latencies = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                counts.push(read.len());
            }
        }
        assert_eq!(counts, [10, 20]);
    }

    fn base64(text: &str, out: &mut Vec<u8>) {
        let digit = |c: u8| match c {
            b'A'..=b'Z' => u32::from(c - b'A'),
            b'a'..=b'z' => u32::from(c - b'a') + 26,
            b'0'..=b'9' => u32::from(c - b'0') + 52,
            b'+' => 62,
            _ => 63,
        };
        for group in text.trim_end_matches('=').as_bytes().chunks(4) {
            let bits = group.iter().fold(0, |bits, &c| bits << 6 | digit(c));
            let bits = bits << (6 * (4 - group.len()));
            out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
        }
    }
}
