//! The threads that load a file.

use super::cut::{Cutter, Piece, Sums};
use super::piece::PieceReader;
use super::sink::{Counts, Filler, Sink};
use super::source::Source;
use super::{Follow, Options, Progress, Report};
use respire_rdb::file::{Fault, Header, Sum, What};
use respire_store::{Config, Store};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism, scope};

/// Loads a file into a store that nobody uses yet. Observers, watches and waiters do not hear of it. O(bytes).
///
/// # Errors
/// If the file cannot be read, or anything in it is wrong or not known, with the place. The store then has some of
/// the keys, or all: it must not be used.
pub fn load(
    source: &dyn Source,
    store: &Store,
    options: Options,
    follow: &mut dyn Follow,
) -> Result<Report, Fault> {
    let sink = Sink {
        store,
        is_examining: false,
        options,
    };
    run(source, &sink, follow)
}

/// Checks a file as [`load`] does, without a store: each value is read, but not kept. It does not find a key that is
/// in the file twice, and knows no number of databases. Expired keys count as all others. O(bytes).
///
/// # Errors
/// If the file cannot be read, or anything in it is wrong or not known, with the place.
pub fn examine(
    source: &dyn Source,
    options: Options,
    follow: &mut dyn Follow,
) -> Result<Report, Fault> {
    let store = Store::new(Config {
        databases: 1,
        shards: 2,
        ..Config::default()
    });
    let sink = Sink {
        store: &store,
        is_examining: true,
        options,
    };
    run(source, &sink, follow)
}

/// What the threads share.
struct Shared<'f> {
    cutter: Mutex<Cutter<'f>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    progress: Progress,
    counts: Counts,
    /// The checksums of pieces.
    sums: Sums,
    /// The first fault in the file of those that were found.
    fault: Option<Fault>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// Takes the next piece; `None` if there is none left, or something is wrong.
    fn next(&self) -> Option<(Piece, Header)> {
        // The fault is looked at under this lock: a piece before it is taken already, so the first fault of the file
        // is found whatever the threads do.
        let mut cutter = lock(&self.cutter);
        if lock(&self.state).fault.is_some() {
            return None;
        }
        match cutter.next() {
            Ok(piece) => piece.zip(cutter.header()),
            Err(fault) => {
                drop(cutter);
                self.fail(fault);
                None
            }
        }
    }

    fn fail(&self, fault: Fault) {
        let mut state = lock(&self.state);
        let is_first = |known: &Fault| fault.offset < known.offset;
        if state.fault.as_ref().is_none_or(is_first) {
            state.fault = Some(fault);
        }
    }

    /// Reads pieces until there are none.
    fn work(&self, source: &dyn Source, sink: &Sink<'_>) {
        let mut reader = None;
        while let Some((piece, header)) = self.next() {
            let reader =
                reader.get_or_insert_with(|| PieceReader::new(source, header, Filler::new(sink)));
            let before = reader.filler.counts.keys;
            match reader.read(piece) {
                Ok((offset, sum)) => self.note(offset, sum, reader.filler.counts.keys - before),
                Err(fault) => self.fail(fault),
            }
        }
        if let Some(reader) = reader {
            lock(&self.state).counts.add(reader.filler.counts);
        }
    }

    /// Notes a piece that is done.
    fn note(&self, offset: u64, sum: Sum, keys: u64) {
        let mut cutter = lock(&self.cutter);
        let mut state = lock(&self.state);
        state.sums.push((offset, sum));
        state.progress.total = cutter.total;
        state.progress.bytes += sum.len();
        state.progress.keys += keys;
        cutter.follow.progress(state.progress);
    }
}

fn run(source: &dyn Source, sink: &Sink<'_>, follow: &mut dyn Follow) -> Result<Report, Fault> {
    let store = (!sink.is_examining).then_some(sink.store);
    let shared = Shared {
        cutter: Mutex::new(Cutter::new(source, store, sink.options, follow)?),
        state: Mutex::default(),
    };
    let threads = match sink.options.threads {
        0 => available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    scope(|scope| {
        let work = || shared.work(source, sink);
        let spawn = |_| {
            Builder::new()
                .name("load".into())
                .spawn_scoped(scope, work)
                .ok()
        };
        // A thread that cannot be had is missing, no more: this one works as well.
        let others: Vec<_> = (1..threads).filter_map(spawn).collect();
        work();
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let state = shared
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let cutter = shared
        .cutter
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(fault) = state.fault {
        return Err(fault);
    }
    finish(cutter, state)
}

/// Checks what is known at the end.
fn finish(cutter: Cutter<'_>, state: State) -> Result<Report, Fault> {
    let checked = cutter.checked_bytes();
    let Cutter {
        sums,
        mut report,
        end,
        ..
    } = cutter;
    let mut sums = [sums, state.sums].concat();
    sums.sort_unstable_by_key(|(offset, _)| *offset);
    let sum = sums
        .into_iter()
        .fold(Sum::default(), |sum, (offset, part)| {
            debug_assert_eq!(sum.len(), offset, "the parts of a file are neighbours");
            sum.then(part)
        });
    debug_assert_eq!(sum.len(), checked);
    if let Some(Some(written)) = end
        && written != sum.crc()
    {
        let what = What::Checksum {
            written,
            computed: sum.crc(),
        };
        return Err(Fault::at(checked, what));
    }
    let Counts {
        keys,
        expiring,
        expired,
        empty,
    } = state.counts;
    report.keys = keys;
    report.expiring_keys = expiring;
    report.expired_keys = expired;
    report.empty_keys = empty;
    Ok(report)
}
