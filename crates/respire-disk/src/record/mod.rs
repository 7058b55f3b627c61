//! Writes effects as Redis's commands, for an append-only file that Redis 7.0 loads.
//!
//! A command says what the key is afterwards, without a clock: expiries are unix times. A value of a type with
//! elements is its payload ([`RESTORE`](encode)), unless it is large or Redis 7.0 cannot read the payload: then it is
//! built from many elements a command, as Redis's own rewrite of its log does.

mod change;
mod command;
mod split;
mod stream;

use command::Command;
use respire_commands::payload;
use respire_store::{Effect, EntryRef, HashRef, StringRef, ValueRef};

/// Larger values are written by their elements, so that no argument comes near Redis's limit of 512 MB, and so that a
/// loader that serves others meanwhile need not wait long for one command.
const RESTORED_BYTES_MAX: usize = 4 << 20;

/// The same for a stream. Its payload has what commands cannot express: entries that are pending and were deleted.
const RESTORED_STREAM_BYTES_MAX: usize = 128 << 20;

/// Returns the database in which the commands of an effect must run; `None` if any will do.
///
/// ```
/// use respire_disk::record::database;
/// use respire_store::Effect;
///
/// assert_eq!(database(&Effect::Flushed { db: 3 }), Some(3));
/// assert_eq!(database(&Effect::Swapped { a: 1, b: 2 }), None);
/// ```
#[must_use]
pub fn database(effect: &Effect<'_>) -> Option<u32> {
    match *effect {
        Effect::Written { db, .. }
        | Effect::Changed { db, .. }
        | Effect::ExpirySet { db, .. }
        | Effect::Removed { db, .. }
        | Effect::Flushed { db } => Some(db),
        Effect::Swapped { .. } => None,
    }
}

/// Appends the command that selects a database, to which the commands of [`encode`] apply.
///
/// ```
/// let mut out = Vec::new();
/// respire_disk::record::select(3, &mut out);
/// assert_eq!(out, b"*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n");
/// ```
pub fn select(db: u32, out: &mut Vec<u8>) {
    Command::new(out, b"*2\r\n$6\r\nSELECT\r\n").int(i64::from(db));
}

/// Appends the command that replaces all libraries of functions by those of this payload, which is one of
/// `FUNCTION DUMP`.
pub fn libraries(payload: &[u8], out: &mut Vec<u8>) {
    Command::new(out, b"*4\r\n$8\r\nFUNCTION\r\n$7\r\nRESTORE\r\n")
        .bytes(payload)
        .raw(b"$5\r\nFLUSH\r\n");
}

/// Appends the commands that have this effect, without `SELECT`, and returns their number. If it is not 1, others
/// must not see the keys between the commands: they belong between `MULTI` and `EXEC`. It is 0 for a change of which
/// Redis keeps no log either. O(bytes of the effect).
///
/// The commands are to be loaded as Redis loads its log: no key expires meanwhile. Redis 7.0 loads all of them but
/// `HPEXPIREAT`, which is written for hashes that have fields with an expiry.
///
/// ```
/// use respire_disk::record::encode;
/// use respire_store::{Cause, Effect};
///
/// let mut out = Vec::new();
/// let effect = Effect::Removed { db: 0, key: b"k", cause: Cause::Expiry };
/// assert_eq!(encode(&effect, &mut out), 1);
/// assert_eq!(out, b"*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n");
/// ```
#[inline]
pub fn encode(effect: &Effect<'_>, out: &mut Vec<u8>) -> usize {
    match *effect {
        Effect::Written { key, entry, .. } => match entry.string() {
            Ok(string) => set(key, string, entry.expires_at(), out),
            Err(_) => return elements(key, entry, out),
        },
        Effect::Changed { key, change, .. } => return change::write(key, change, out),
        Effect::ExpirySet {
            key, expires_at, ..
        } => expire(key, expires_at, out),
        Effect::Removed { key, .. } => {
            Command::new(out, b"*2\r\n$3\r\nDEL\r\n").bytes(key);
        }
        Effect::Flushed { .. } => out.extend_from_slice(b"*1\r\n$7\r\nFLUSHDB\r\n"),
        Effect::Swapped { a, b } => {
            let (a, b) = (i64::from(a), i64::from(b));
            Command::new(out, b"*3\r\n$6\r\nSWAPDB\r\n").int(a).int(b);
        }
    }
    1
}

#[inline]
fn set(key: &[u8], value: StringRef<'_>, expires_at: Option<u64>, out: &mut Vec<u8>) {
    /// More than the bytes of a command besides its key and value.
    const FRAMING: usize = 128;
    out.reserve(key.len() + value.len() + FRAMING);
    let header: &[u8] = match expires_at {
        None => b"*3\r\n$3\r\nSET\r\n",
        Some(_) => b"*5\r\n$3\r\nSET\r\n",
    };
    let mut command = Command::new(out, header);
    command.bytes(key).string(value);
    if let Some(at) = expires_at {
        command.raw(b"$4\r\nPXAT\r\n").unsigned(at);
    }
}

fn expire(key: &[u8], expires_at: Option<u64>, out: &mut Vec<u8>) {
    match expires_at {
        Some(at) => Command::new(out, b"*3\r\n$9\r\nPEXPIREAT\r\n")
            .bytes(key)
            .unsigned(at),
        None => Command::new(out, b"*2\r\n$7\r\nPERSIST\r\n").bytes(key),
    };
}

/// Writes a value of a type with elements.
fn elements(key: &[u8], entry: EntryRef<'_>, out: &mut Vec<u8>) -> usize {
    let (value, expires_at) = (entry.value(), entry.expires_at());
    let bytes_max = match value {
        // Redis 7.0 has no payload for it.
        ValueRef::Hash(hash) if has_expiries(hash) => 0,
        ValueRef::Stream(_) => RESTORED_STREAM_BYTES_MAX,
        _ => RESTORED_BYTES_MAX,
    };
    if entry.memory() > bytes_max
        && let Some(commands) = split::write(key, value, expires_at, out)
    {
        return commands;
    }
    let payload = payload::dump(value, &mut || ());
    Command::new(out, b"*6\r\n$7\r\nRESTORE\r\n")
        .bytes(key)
        .unsigned(expires_at.unwrap_or(0))
        .bytes(payload.as_slice())
        .raw(b"$7\r\nREPLACE\r\n$6\r\nABSTTL\r\n");
    1
}

fn has_expiries(hash: HashRef<'_>) -> bool {
    let mut any = false;
    if hash.has_expiries() {
        hash.for_each_until(&mut |_, _, expires_at| any |= expires_at.is_some());
    }
    any
}

#[cfg(test)]
mod tests;
