//! What keys of a file become: entries of a store, or nothing.

use super::Options;
use respire_commands::payload;
use respire_rdb::file::{Entry, Fault, Header, Reader, Step, Usage, What};
use respire_store::{Access, Batch, Present, Store};

/// What becomes of keys.
pub(super) struct Sink<'s> {
    /// Its settings say in which form values are kept.
    pub(super) store: &'s Store,
    /// Whether keys are only checked.
    pub(super) is_examining: bool,
    pub(super) options: Options,
}

/// Numbers of keys.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) keys: u64,
    pub(super) expiring: u64,
    pub(super) expired: u64,
    pub(super) empty: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.keys += other.keys;
        self.expiring += other.expiring;
        self.expired += other.expired;
        self.empty += other.empty;
    }
}

/// Keys of one database that are about to be inserted.
struct Filling<'s> {
    batch: Batch<'s>,
    /// The place in the file of each key of the batch.
    offsets: Vec<u64>,
}

/// Where a thread puts the keys of its pieces.
pub(super) struct Filler<'s> {
    sink: &'s Sink<'s>,
    /// By database.
    fillings: Vec<Option<Filling<'s>>>,
    pub(super) counts: Counts,
}

impl<'s> Filler<'s> {
    pub(super) fn new(sink: &'s Sink<'s>) -> Self {
        Self {
            sink,
            fillings: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Adds a key, which begins at `offset`.
    pub(super) fn add(
        &mut self,
        entry: &Entry<'_>,
        offset: u64,
        header: Header,
    ) -> Result<(), Fault> {
        let sink = self.sink;
        self.counts.keys += 1;
        self.counts.expiring += u64::from(entry.expires_at.is_some());
        if has_no_elements(entry) {
            self.counts.empty += 1;
            return Ok(());
        }
        let Some(value) = payload::read(entry.type_byte, entry.value, sink.store) else {
            return Err(Fault {
                offset,
                key: Some(entry.place(header.magic)),
                what: What::Value,
            });
        };
        if sink.is_examining {
            return Ok(());
        }
        let is_expired = entry.expires_at.is_some_and(|at| at <= sink.options.now_ms);
        if is_expired && sink.options.drops_expired {
            self.counts.expired += 1;
            return Ok(());
        }
        let access = entry.usage.map(|usage| match usage {
            Usage::IdleSeconds(idle) => Access::IdleMs(idle.saturating_mul(1000)),
            Usage::Frequency(counter) => Access::Frequency(counter),
        });
        let filling = self.filling(entry.db, offset)?;
        filling.offsets.push(offset);
        filling
            .batch
            .add(&entry.key, value, entry.expires_at, access);
        Ok(())
    }

    fn filling(&mut self, db: u32, offset: u64) -> Result<&mut Filling<'s>, Fault> {
        let (store, now_ms) = (self.sink.store, self.sink.options.now_ms);
        if db >= store.databases() {
            return Err(Fault::at(offset, What::Database(db)));
        }
        let nth = db as usize;
        if self.fillings.len() <= nth {
            self.fillings.resize_with(nth + 1, || None);
        }
        Ok(self.fillings[nth].get_or_insert_with(|| Filling {
            batch: store.batch(db, now_ms),
            offsets: Vec::new(),
        }))
    }

    /// Inserts what was added. `bytes` is the piece of the file with all of these keys, which begins at `from`.
    pub(super) fn flush(&mut self, header: Header, bytes: &[u8], from: u64) -> Result<(), Fault> {
        for (db, filling) in (0..).zip(&mut self.fillings) {
            let Some(Filling { batch, offsets }) = filling else {
                continue;
            };
            let result = if batch.is_empty() {
                Ok(())
            } else {
                batch.insert()
            };
            if let Err(present) = result {
                return Err(twice(&present, offsets, (header, db), bytes, from));
            }
            offsets.clear();
        }
        Ok(())
    }
}

/// The fault of a key that is in the file a second time.
fn twice(
    present: &Present,
    offsets: &[u64],
    (header, db): (Header, u32),
    bytes: &[u8],
    from: u64,
) -> Fault {
    let offset = offsets.get(present.nth).copied().unwrap_or(from);
    let rest = bytes.get((offset - from) as usize..).unwrap_or(&[]);
    let mut reader = Reader::within(header, offset, from + bytes.len() as u64, Some(db));
    let key = match reader.step(rest) {
        Ok(Step::Item(respire_rdb::file::Event::Entry(entry), _)) => {
            Some(entry.place(header.magic))
        }
        _ => None,
    };
    Fault {
        offset,
        key,
        what: What::Twice,
    }
}

/// Whether the value is of a type whose elements are counted first, and has none.
fn has_no_elements(entry: &Entry<'_>) -> bool {
    matches!(entry.type_byte, 1..=5 | 14 | 18) && entry.value == [0]
}
