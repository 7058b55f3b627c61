//! Writes a value by its elements, many in each command.

use super::command::Command;
use super::{expire, stream};
use respire_store::packed::listpack;
use respire_store::{Elements, HashRef, StringRef, ValueRef};

/// A command has at most about so many elements or bytes of them.
const PIECE_ELEMENTS: usize = 1024;
const PIECE_BYTES: usize = 1 << 20;

/// Replaces a key by commands that add the elements of a value, and returns their number; `None` if the value has no
/// such commands.
pub(super) fn write(
    key: &[u8],
    value: ValueRef<'_>,
    expires_at: Option<u64>,
    out: &mut Vec<u8>,
) -> Option<usize> {
    if matches!(value, ValueRef::String(_)) {
        return None;
    }
    Command::new(out, b"*2\r\n$3\r\nDEL\r\n").bytes(key);
    let added = match value {
        ValueRef::String(_) => 0,
        ValueRef::Hash(hash) => fields(key, hash, out),
        ValueRef::Set(set) => {
            let mut pieces = Pieces::new(out, b"SADD", key);
            set.for_each(&mut |member| pieces.add(1, |command| _ = command.string(member)));
            pieces.finish()
        }
        ValueRef::ZSet(set) => {
            let mut pieces = Pieces::new(out, b"ZADD", key);
            set.for_each(&mut |(member, score)| {
                pieces.add(2, |command| {
                    _ = command.score(score).string(text_of(member))
                });
            });
            pieces.finish()
        }
        ValueRef::List(list) => {
            let mut pieces = Pieces::new(out, b"RPUSH", key);
            list.for_each(&mut |element| pieces.add(1, |command| _ = command.string(element)));
            pieces.finish()
        }
        ValueRef::Stream(stream) => stream::write(key, stream, out),
    };
    if expires_at.is_some() {
        expire(key, expires_at, out);
    }
    Some(1 + added + usize::from(expires_at.is_some()))
}

fn fields(key: &[u8], hash: HashRef<'_>, out: &mut Vec<u8>) -> usize {
    let mut pieces = Pieces::new(out, b"HSET", key);
    hash.for_each(&mut |(field, value)| {
        pieces.add(2, |command| _ = command.string(field).string(value));
    });
    let mut commands = pieces.finish();
    hash.for_each_until(&mut |field, _, expires_at| {
        if let Some(at) = expires_at {
            field_expires(key, field, at, out);
            commands += 1;
        }
    });
    commands
}

/// Sets the expiry of a field.
pub(super) fn field_expires(key: &[u8], field: StringRef<'_>, at: u64, out: &mut Vec<u8>) {
    Command::new(out, b"*6\r\n$10\r\nHPEXPIREAT\r\n")
        .bytes(key)
        .unsigned(at)
        .raw(b"$6\r\nFIELDS\r\n$1\r\n1\r\n")
        .string(field);
}

fn text_of(element: listpack::Element<'_>) -> StringRef<'_> {
    match element {
        listpack::Element::Int(number) => StringRef::Int(number),
        listpack::Element::Bytes(bytes) => StringRef::Bytes(bytes),
    }
}

/// Commands of one name on one key, each with as many elements as it may have.
struct Pieces<'o> {
    out: &'o mut Vec<u8>,
    name: &'o [u8],
    key: &'o [u8],
    /// The elements of the next command, which is not written yet, as its number of arguments is not known.
    body: Vec<u8>,
    elements: usize,
    arguments: usize,
    commands: usize,
}

impl<'o> Pieces<'o> {
    fn new(out: &'o mut Vec<u8>, name: &'o [u8], key: &'o [u8]) -> Self {
        Pieces {
            out,
            name,
            key,
            body: Vec::new(),
            elements: 0,
            arguments: 0,
            commands: 0,
        }
    }

    /// Adds an element, for which `f` writes so many arguments.
    fn add(&mut self, arguments: usize, f: impl FnOnce(&mut Command<'_>)) {
        f(&mut Command::within(&mut self.body));
        self.arguments += arguments;
        self.elements += 1;
        if self.elements == PIECE_ELEMENTS || self.body.len() >= PIECE_BYTES {
            self.write();
        }
    }

    fn write(&mut self) {
        if self.elements > 0 {
            Command::of(self.out, self.name, 1 + self.arguments)
                .bytes(self.key)
                .raw(&self.body);
            self.body.clear();
            (self.elements, self.arguments) = (0, 0);
            self.commands += 1;
        }
    }

    /// Returns the number of commands.
    fn finish(mut self) -> usize {
        self.write();
        self.commands
    }
}
