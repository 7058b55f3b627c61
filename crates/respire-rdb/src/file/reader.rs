//! Walks through a file.

use super::chunk::{self, Chunk};
use super::cursor::{Cursor, Read, Stop};
use super::extent::{module_name, skip};
use super::kind::Magic;
use super::{Fault, HEADER_BYTES, Place, Usage, What, opcode};
use super::{VERSION_CHECKED_MIN, VERSION_READ_MAX, VERSION_VALKEY};
use crate::{Reader as Parts, STRING_INT32};
use std::borrow::Cow;

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The magic word.
    pub magic: Magic,
    /// The version.
    pub version: u16,
}

impl Header {
    /// Whether the file has room for a checksum at its end.
    #[must_use]
    pub fn has_checksum(self) -> bool {
        self.version >= VERSION_CHECKED_MIN
    }
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'w> {
    /// The database.
    pub db: u32,
    /// The key.
    pub key: Cow<'w, [u8]>,
    /// When the key expires, in unix milliseconds; `None` is never.
    pub expires_at: Option<u64>,
    /// The earlier use of the key, if the file has it.
    pub usage: Option<Usage>,
    /// The type of the value.
    pub type_byte: u8,
    /// The value: what is behind the type byte in `DUMP`, without the footer. Only its extent is checked.
    pub value: &'w [u8],
}

/// An item of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'w> {
    /// The header, which is the first item.
    Header(Header),
    /// A field with information, which may be ignored.
    Aux {
        /// Its name.
        name: Cow<'w, [u8]>,
        /// Its text.
        text: Cow<'w, [u8]>,
    },
    /// What follows is a chunk. It can be read on, or be skipped with [`Reader::skip_chunk`].
    Chunk(Chunk),
    /// What follows belongs to this database.
    SelectDb(u32),
    /// How many keys the database has, and how many of them expire. It is a hint.
    ResizeDb {
        /// The database.
        db: u32,
        /// Number of keys.
        keys: u64,
        /// Number of keys with an expiry.
        expires: u64,
    },
    /// How many keys a slot of a cluster has. It is a hint.
    SlotInfo,
    /// The source of a library of functions.
    Library(Cow<'w, [u8]>),
    /// A key.
    Entry(Entry<'w>),
    /// The end, with the checksum of everything before it. `None` if the file has none, as it is old, or was
    /// written without.
    End {
        /// The checksum.
        checksum: Option<u64>,
    },
}

/// What [`Reader::step`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'w> {
    /// An item, and the number of bytes that it takes at the start of the window.
    Item(Event<'w>, usize),
    /// The window must begin at the same place and have at least this many bytes.
    More(usize),
}

/// Walks through a file item by item, in windows that the caller reads. A window begins at [`Reader::offset`].
///
/// ```
/// use respire_rdb::file::{Event, Reader, Step};
///
/// let file = b"REDIS0004\xfe\x00\x00\x01k\x01v\xff";
/// let (mut reader, mut window) = (Reader::new(file.len() as u64), &file[..]);
/// let mut keys = 0;
/// while let Step::Item(event, len) = reader.step(window).unwrap() {
///     window = &window[len..];
///     match event {
///         Event::Entry(entry) => {
///             assert_eq!((&*entry.key, entry.value), (&b"k"[..], &b"\x01v"[..]));
///             keys += 1;
///         }
///         Event::End { .. } => break,
///         _ => (),
///     }
/// }
/// assert_eq!(keys, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    offset: u64,
    /// The length of the file.
    end: u64,
    header: Option<Header>,
    db: Option<u32>,
}

impl Reader {
    /// Begins a file of this many bytes; `u64::MAX` if that is not known, as lengths are then not checked against
    /// it.
    #[must_use]
    pub fn new(file_bytes: u64) -> Self {
        Self {
            offset: 0,
            end: file_bytes,
            header: None,
            db: Some(0),
        }
    }

    /// Begins at a place within a file, behind its header: where a chunk begins, or a key in this database. The part
    /// ends at `end`.
    #[must_use]
    pub fn within(header: Header, offset: u64, end: u64, db: Option<u32>) -> Self {
        Self {
            offset,
            end,
            header: Some(header),
            db,
        }
    }

    /// The place in the file up to which it was read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The header, once it was read.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        self.header
    }

    /// The database to which keys belong: 0 at first, as in Redis, and `None` behind a chunk that was skipped.
    #[must_use]
    pub fn db(&self) -> Option<u32> {
        self.db
    }

    /// Skips a chunk of this many bytes, whose field was the last item.
    ///
    /// # Errors
    /// If the file ends before.
    pub fn skip_chunk(&mut self, len: u64) -> Result<(), Fault> {
        let behind = self.offset.checked_add(len).filter(|end| *end <= self.end);
        self.offset = behind.ok_or_else(|| Fault::at(self.offset, What::Cut))?;
        self.db = None;
        Ok(())
    }

    /// Reads the item at the start of a window, which must begin at [`Reader::offset`]. O(bytes of the item).
    ///
    /// # Errors
    /// If something is wrong with the item, or it is not known. The reader stays before it.
    pub fn step<'w>(&mut self, window: &'w [u8]) -> Result<Step<'w>, Fault> {
        let mut cursor = Cursor::new(window, self.end.saturating_sub(self.offset));
        let mut key = None;
        match self.item(&mut cursor, &mut key) {
            Ok(event) => {
                self.offset += cursor.at() as u64;
                Ok(Step::Item(event, cursor.at()))
            }
            Err(Stop::More(least)) => Ok(Step::More(least)),
            Err(Stop::Bad(what)) => Err(Fault {
                offset: self.offset,
                key,
                what,
            }),
        }
    }

    fn item<'w>(&mut self, cursor: &mut Cursor<'w>, key: &mut Option<Place>) -> Read<Event<'w>> {
        let Some(header) = self.header else {
            let header = read_header(cursor)?;
            self.header = Some(header);
            return Ok(Event::Header(header));
        };
        Ok(match cursor.byte()? {
            opcode::AUX => {
                let (name, text) = (string(cursor)?, string(cursor)?);
                if *name != *chunk::NAME {
                    return Ok(Event::Aux { name, text });
                }
                let chunk = Chunk::parse(&text);
                Event::Chunk(chunk.ok_or(Stop::Bad(What::Chunk(
                    "the field before a chunk is malformed",
                )))?)
            }
            opcode::SELECT_DB => {
                let number = cursor.count()?;
                let db = u32::try_from(number)
                    .map_err(|_| Stop::Bad(What::Item("the number of a database is too large")))?;
                self.db = Some(db);
                Event::SelectDb(db)
            }
            opcode::RESIZE_DB => Event::ResizeDb {
                db: self.db.ok_or(Stop::Bad(What::NoDatabase))?,
                keys: cursor.count()?,
                expires: cursor.count()?,
            },
            opcode::SLOT_INFO => {
                for _ in 0..3 {
                    cursor.count()?;
                }
                Event::SlotInfo
            }
            opcode::FUNCTION => Event::Library(string(cursor)?),
            opcode::MODULE_AUX => {
                let id = cursor.count()?;
                return Err(Stop::Bad(What::ModuleAux(module_name(id))));
            }
            opcode::END => Event::End {
                checksum: read_checksum(cursor, header)?,
            },
            code @ (opcode::FUNCTION_EARLY | 200..opcode::SLOT_INFO) => {
                return Err(Stop::Bad(What::Opcode(code)));
            }
            first => Event::Entry(self.entry(cursor, (header, first), key)?),
        })
    }

    fn entry<'w>(
        &self,
        cursor: &mut Cursor<'w>,
        (header, first): (Header, u8),
        key: &mut Option<Place>,
    ) -> Read<Entry<'w>> {
        let (mut expires_at, mut usage, mut type_byte) = (None, None, first);
        loop {
            match type_byte {
                opcode::EXPIRY_S => expires_at = seconds(i32::from_le_bytes(cursor.array()?)),
                opcode::EXPIRY_MS => expires_at = millis(i64::from_le_bytes(cursor.array()?)),
                opcode::IDLE => usage = Some(Usage::IdleSeconds(cursor.count()?)),
                opcode::FREQUENCY => usage = Some(Usage::Frequency(cursor.byte()?)),
                opcode::SLOT_INFO.. => {
                    return Err(Stop::Bad(What::Item(
                        "no key follows an expiry or a use of a key",
                    )));
                }
                _ => break,
            }
            type_byte = cursor.byte()?;
        }
        let name = string(cursor)?;
        let db = self.db.ok_or(Stop::Bad(What::NoDatabase))?;
        let from = cursor.at();
        if let Err(stop) = skip(header.magic, type_byte, cursor) {
            if matches!(stop, Stop::Bad(_)) {
                *key = Some(Place {
                    db,
                    key: name.into_owned(),
                    magic: header.magic,
                    type_byte,
                });
            }
            return Err(stop);
        }
        Ok(Entry {
            db,
            key: name,
            expires_at,
            usage,
            type_byte,
            value: cursor.since(from),
        })
    }
}

impl Entry<'_> {
    /// The key's place, for a fault.
    #[must_use]
    pub fn place(&self, magic: Magic) -> Place {
        Place {
            db: self.db,
            key: self.key.to_vec(),
            magic,
            type_byte: self.type_byte,
        }
    }
}

fn read_header(cursor: &mut Cursor<'_>) -> Read<Header> {
    let bad = || Stop::Bad(What::Header);
    let bytes: [u8; HEADER_BYTES] = match cursor.array() {
        Err(Stop::Bad(_)) => return Err(bad()),
        bytes => bytes?,
    };
    let (magic, digits) = if let Some(digits) = bytes.strip_prefix(b"REDIS") {
        (Magic::Redis, digits)
    } else if let Some(digits) = bytes.strip_prefix(b"VALKEY") {
        (Magic::Valkey, digits)
    } else {
        return Err(bad());
    };
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number);
    let version: u16 = text.and_then(|text| text.parse().ok()).ok_or_else(bad)?;
    let is_known = match magic {
        Magic::Redis => (1..=VERSION_READ_MAX).contains(&version),
        Magic::Valkey => version == VERSION_VALKEY,
    };
    if !is_known {
        return Err(Stop::Bad(What::Version(magic, version)));
    }
    Ok(Header { magic, version })
}

fn read_checksum(cursor: &mut Cursor<'_>, header: Header) -> Read<Option<u64>> {
    if !header.has_checksum() {
        return Ok(None);
    }
    let checksum = u64::from_le_bytes(cursor.array()?);
    Ok((checksum != 0).then_some(checksum))
}

/// Reads a string of the file: a key, or a text beside the keys.
fn string<'w>(cursor: &mut Cursor<'w>) -> Read<Cow<'w, [u8]>> {
    let from = cursor.at();
    cursor.string()?;
    let bytes = cursor.since(from);
    // Most are short and neither packed nor an integer.
    if let Some((first, text)) = bytes.split_first()
        && *first < 1 << 6
    {
        return Ok(Cow::Borrowed(text));
    }
    debug_assert!(
        bytes
            .first()
            .is_some_and(|first| *first <= STRING_INT32 + 1)
    );
    let text = Parts::new(bytes).string();
    let bad = Stop::Bad(What::Item("a packed string is malformed"));
    Ok(text.ok_or(bad)?.into_cow())
}

/// An expiry in unix milliseconds; -1 is none, and one before 1970 is 1970.
fn millis(ms: i64) -> Option<u64> {
    (ms != -1).then(|| u64::try_from(ms).unwrap_or(0))
}

fn seconds(seconds: i32) -> Option<u64> {
    (seconds != -1).then(|| u64::try_from(i64::from(seconds) * 1000).unwrap_or(0))
}
