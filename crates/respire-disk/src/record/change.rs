//! Writes the steps of an edit. Steps one after another that one command can express are one command.

use super::command::Command;
use super::split::field_expires;
use super::stream;
use respire_store::{Change, End, Step, StreamId, StringRef};

/// The most steps in one command.
const RUN_MAX: usize = 1024;

/// Writes the commands that change a key by these steps, and returns their number.
pub(super) fn write(key: &[u8], change: Change<'_>, out: &mut Vec<u8>) -> usize {
    let (mut commands, mut at) = (0, 0);
    while let Some(step) = change.steps().nth(at) {
        let steps = || change.steps().skip(at);
        let run = match Run::of(&step) {
            None => one(key, step, steps().skip(1), out, &mut commands),
            Some(run) => {
                let is_part = |step: &Step<&[u8]>| Run::of(step) == Some(run);
                let len = steps().take(RUN_MAX).take_while(is_part).count();
                run.write(key, steps().take(len), len, out);
                commands += 1;
                for step in steps().take(len) {
                    commands += usize::from(expire(key, step, out));
                }
                len
            }
        };
        at += run;
    }
    commands
}

/// Steps that one command can express together.
#[derive(Clone, Copy, PartialEq)]
enum Run<'s> {
    Hset,
    Hdel,
    Sadd,
    Srem,
    Zadd,
    Zrem,
    Push(End),
    Xdel,
    Xack(&'s [u8]),
    /// The group, the consumer, the time and the number of deliveries.
    Xclaim(&'s [u8], &'s [u8], u64, u64),
}

impl<'s> Run<'s> {
    fn of(step: &Step<&'s [u8]>) -> Option<Run<'s>> {
        Some(match *step {
            Step::FieldSet { .. } => Run::Hset,
            Step::FieldRemoved { .. } => Run::Hdel,
            Step::MemberAdded { .. } => Run::Sadd,
            Step::MemberRemoved { .. } => Run::Srem,
            Step::Scored { .. } => Run::Zadd,
            Step::Unscored { .. } => Run::Zrem,
            Step::Pushed { end, .. } => Run::Push(end),
            Step::EntryDeleted { .. } => Run::Xdel,
            Step::Acknowledged { group, .. } => Run::Xack(group),
            Step::Delivered {
                group,
                consumer,
                delivered_ms,
                count,
                ..
            } => Run::Xclaim(group, consumer, delivered_ms, count),
            _ => return None,
        })
    }

    fn write(
        self,
        key: &[u8],
        steps: impl Iterator<Item = Step<&'s [u8]>>,
        len: usize,
        out: &mut Vec<u8>,
    ) {
        let (name, arguments): (&[u8], usize) = match self {
            Run::Hset => (b"HSET", 2 * len),
            Run::Hdel => (b"HDEL", len),
            Run::Sadd => (b"SADD", len),
            Run::Srem => (b"SREM", len),
            Run::Zadd => (b"ZADD", 2 * len),
            Run::Zrem => (b"ZREM", len),
            Run::Push(End::Left) => (b"LPUSH", len),
            Run::Push(End::Right) => (b"RPUSH", len),
            Run::Xdel => (b"XDEL", len),
            Run::Xack(_) => (b"XACK", 1 + len),
            Run::Xclaim(group, consumer, ms, count) => {
                let ids = steps.filter_map(|step| id_of(&step));
                return stream::claim(key, group, (consumer, ms, count), ids, len, out);
            }
        };
        let mut command = Command::of(out, name, 1 + arguments);
        command.bytes(key);
        if let Run::Xack(group) = self {
            command.bytes(group);
        }
        steps.for_each(|step| arguments_of(&step, &mut command));
    }
}

/// Writes the arguments of a step of a run.
fn arguments_of(step: &Step<&[u8]>, command: &mut Command<'_>) {
    match *step {
        Step::FieldSet { field, value, .. } => _ = command.bytes(field).bytes(value),
        Step::Scored { member, score } => _ = command.score(score).bytes(member),
        Step::FieldRemoved { field: text }
        | Step::MemberAdded { member: text }
        | Step::MemberRemoved { member: text }
        | Step::Unscored { member: text }
        | Step::Pushed { element: text, .. } => _ = command.bytes(text),
        ref step => id_of(step).into_iter().for_each(|id| _ = command.id(id)),
    }
}

fn id_of(step: &Step<&[u8]>) -> Option<StreamId> {
    match *step {
        Step::EntryDeleted { id } | Step::Acknowledged { id, .. } | Step::Delivered { id, .. } => {
            Some(id)
        }
        _ => None,
    }
}

/// Sets the expiry of a field that was set with one. Returns whether it was.
fn expire(key: &[u8], step: Step<&[u8]>, out: &mut Vec<u8>) -> bool {
    let Step::FieldSet {
        field,
        expires_at: Some(at),
        ..
    } = step
    else {
        return false;
    };
    field_expires(key, StringRef::Bytes(field), at, out);
    true
}

/// Writes a step that is a command of its own. `after` are the steps behind it. Returns how many steps were written.
fn one<'s>(
    key: &[u8],
    step: Step<&'s [u8]>,
    after: impl Iterator<Item = Step<&'s [u8]>>,
    out: &mut Vec<u8>,
    commands: &mut usize,
) -> usize {
    *commands += 1;
    match step {
        Step::Appended { bytes } => {
            Command::of(out, b"APPEND", 2).bytes(key).bytes(bytes);
        }
        Step::Overwritten { at, bytes } => {
            let mut command = Command::of(out, b"SETRANGE", 3);
            command.bytes(key).unsigned(at).bytes(bytes);
        }
        Step::FieldExpirySet { field, expires_at } => match expires_at {
            Some(at) => field_expires(key, StringRef::Bytes(field), at, out),
            None => {
                let mut command = Command::of(out, b"HPERSIST", 4);
                command.bytes(key).raw(b"$6\r\nFIELDS\r\n$1\r\n1\r\n");
                command.bytes(field);
            }
        },
        Step::RanksRemoved { start, count } => {
            let mut command = Command::of(out, b"ZREMRANGEBYRANK", 3);
            command.bytes(key).index(start).index(start + count - 1);
        }
        Step::Cut { .. }
        | Step::ElementSet { .. }
        | Step::Inserted { .. }
        | Step::EqualRemoved { .. } => element(key, step, out),
        Step::EntryAdded { id, fields } => {
            let mut command = Command::of(out, b"XADD", 2 + 2 * fields);
            command.bytes(key).id(id);
            for step in after.take(fields) {
                if let Step::EntryField { field, value } = step {
                    command.bytes(field).bytes(value);
                }
            }
            return 1 + fields;
        }
        // Redis does not keep the times of consumers in its log either.
        Step::ConsumerSeen { .. } => *commands -= 1,
        step => of_stream(key, step, out),
    }
    1
}

/// Writes a step of a list.
fn element(key: &[u8], step: Step<&[u8]>, out: &mut Vec<u8>) {
    match step {
        Step::Cut { end, count: 1 } => {
            let name = match end {
                End::Left => b"LPOP",
                End::Right => b"RPOP",
            };
            Command::of(out, name, 1).bytes(key);
        }
        Step::Cut { end, count } => {
            let mut command = Command::of(out, b"LTRIM", 3);
            command.bytes(key);
            match end {
                End::Left => command.index(count).int(-1),
                End::Right => command.int(0).int(-1 - count as i64),
            };
        }
        Step::ElementSet { index, element } => {
            let mut command = Command::of(out, b"LSET", 3);
            command.bytes(key).index(index).bytes(element);
        }
        Step::Inserted { before, element } => {
            let mut command = Command::of(out, b"LINSERT", 4);
            command.bytes(key).raw(b"$6\r\nBEFORE\r\n");
            command.bytes(before).bytes(element);
        }
        Step::EqualRemoved {
            end,
            element,
            count,
        } => {
            let count = count as i64;
            let mut command = Command::of(out, b"LREM", 3);
            command.bytes(key).int(match end {
                End::Left => count,
                End::Right => -count,
            });
            command.bytes(element);
        }
        _ => {}
    }
}

/// Writes a step of a stream.
fn of_stream(key: &[u8], step: Step<&[u8]>, out: &mut Vec<u8>) {
    match step {
        Step::Trimmed { first } => {
            let mut command = Command::of(out, b"XTRIM", 4);
            command.bytes(key);
            match first {
                Some(first) => command.raw(b"$5\r\nMINID\r\n$1\r\n=\r\n").id(first),
                None => command.raw(b"$6\r\nMAXLEN\r\n$1\r\n=\r\n$1\r\n0\r\n"),
            };
        }
        Step::MarksSet { marks } => stream::set_marks(key, &marks, out),
        Step::GroupAdded {
            group,
            last_id,
            entries_read,
        } => stream::create_group(key, group, (last_id, entries_read), out),
        Step::GroupRead {
            group,
            last_id,
            entries_read,
        } => {
            let mut command = Command::of(out, b"XGROUP", 6);
            command.raw(b"$5\r\nSETID\r\n").bytes(key).bytes(group);
            command.id(last_id).raw(b"$11\r\nENTRIESREAD\r\n");
            command.int(entries_read.unwrap_or(-1));
        }
        Step::GroupRemoved { group } => {
            let mut command = Command::of(out, b"XGROUP", 3);
            command.raw(b"$7\r\nDESTROY\r\n").bytes(key).bytes(group);
        }
        Step::ConsumerAdded {
            group, consumer, ..
        } => stream::create_consumer(key, group, consumer, out),
        Step::ConsumerRemoved { group, consumer } => {
            let mut command = Command::of(out, b"XGROUP", 4);
            command.raw(b"$11\r\nDELCONSUMER\r\n").bytes(key);
            command.bytes(group).bytes(consumer);
        }
        _ => {}
    }
}
