//! Combines the sets of several keys for a reply, or into a destination.
//!
//! Large sets are combined as snapshots, without a lock. The result is stored if no source has
//! changed in the meantime.

use super::combine::Operation;
use super::read::{LOCKED_MEMBERS_MAX, Snapshot};
use crate::Ctx;
use crate::notify;
use crate::work::work_begins;
use respire_engine::{ArgList, Error, LongWork, Reply};
use respire_store::{Elements, EventName, Expiry, Kind, Scope, Set, SetRef, View, Watch};

/// The number of attempts to combine large sets without the locks. An attempt fails if a source
/// changes in the meantime. After the last one the sets are combined under the locks.
const UNLOCKED_TRIES_MAX: u32 = 3;

/// The sets of several keys at one moment.
struct Sources {
    sets: Vec<Option<Snapshot>>,
    /// Empty if nobody asks whether the keys have changed.
    watches: Vec<Watch>,
}

impl Sources {
    /// The sets of locked keys, each with a watch.
    fn take(
        view: &mut View<'_>,
        keys: ArgList<'_>,
        mut count: impl FnMut(bool),
    ) -> Result<Self, Error> {
        let mut sets = Vec::with_capacity(keys.len());
        for key in keys.iter() {
            sets.push(view.read(key, |entry| {
                count(entry.is_some());
                Snapshot::if_any(entry)
            })?);
        }
        Ok(Self {
            sets,
            watches: Vec::new(),
        })
    }

    fn sets(&self) -> Vec<Option<SetRef<'_>>> {
        let sets = self.sets.iter().map(Option::as_ref);
        sets.map(|set| set.map(Snapshot::set)).collect()
    }

    fn members(&self) -> usize {
        let sets = self.sets.iter().flatten();
        sets.map(|set| set.set().len()).sum()
    }

    fn watch(mut self, view: &mut View<'_>, keys: ArgList<'_>) -> Self {
        self.watches = keys.iter().map(|key| view.watch(key)).collect();
        self
    }
}

/// The sets of several keys, read at one moment. Those that do not exist are `None`.
pub(super) fn read_sets<'k>(
    ctx: &mut Ctx<'_>,
    keys: impl Iterator<Item = &'k [u8]> + Clone,
) -> Result<Vec<Option<Snapshot>>, Error> {
    let mut sets = Vec::with_capacity(keys.size_hint().0);
    ctx.try_read_many(keys, |entry| {
        sets.push(Snapshot::if_any(entry)?);
        Ok(())
    })?;
    Ok(sets)
}

/// Replies with the combined sets of these keys.
pub(super) fn reply_combined(
    ctx: &mut Ctx<'_>,
    operation: Operation,
    keys: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let growth = ctx.kv.store().growth::<Set>();
    let snapshots = read_sets(ctx, keys.iter())?;
    work_begins();
    let sets = snapshots.iter().map(Option::as_ref);
    let sets: Vec<Option<SetRef<'_>>> = sets.map(|set| set.map(Snapshot::set)).collect();
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    let combined = operation.run(&sets, &growth, &mut step);
    combined.reply(snapshots, reply);
    Ok(())
}

/// Stores the combined sets of the keys after the first one in the first one, and replies with the
/// number of members. An empty result removes the key.
pub(super) fn store_combined(
    ctx: &mut Ctx<'_>,
    operation: Operation,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (db, now_ms) = (ctx.view.db(), ctx.view.now_ms());
    let (destination, keys) = (&args[0], args.skip(1));
    let growth = ctx.kv.store().growth::<Set>();
    let scope: Vec<(u32, &[u8])> = args.iter().map(|key| (db, key)).collect();
    let scope = Scope::Keys(&scope);
    let combine = |sources: &Sources, step: &mut dyn FnMut()| {
        let sets = sources.sets();
        let combined = operation.run(&sets, &growth, step);
        combined.into_set(&sets, &growth, step)
    };
    let mut tries = 0;
    let mut sources = ctx.locked(&scope, |view, stats| {
        let sources = Sources::take(view, keys, |found| stats.looked_up(found))?;
        if sources.members() <= LOCKED_MEMBERS_MAX {
            let len = put(view, destination, operation, combine(&sources, &mut || ()));
            return Ok::<_, Error>(Err(len));
        }
        Ok(Ok(sources.watch(view, keys)))
    })?;
    let len = loop {
        let taken = match sources {
            Ok(taken) => taken,
            Err(len) => break len,
        };
        work_begins();
        let mut work = ctx.long_work();
        let result = combine(&taken, &mut || work.iter_mut().for_each(LongWork::step));
        drop(work);
        tries += 1;
        sources = ctx.locked(&scope, |view, _| {
            if !taken.watches.iter().any(|watch| watch.is_dirty(now_ms)) {
                return Ok(Err(put(view, destination, operation, result)));
            }
            let sources = Sources::take(view, keys, |_| ())?;
            if tries < UNLOCKED_TRIES_MAX {
                return Ok::<_, Error>(Ok(sources.watch(view, keys)));
            }
            Ok(Err(put(
                view,
                destination,
                operation,
                combine(&sources, &mut || ()),
            )))
        })?;
    };
    reply.int(len as i64);
    Ok(())
}

/// Stores a result in a locked key; returns the number of members.
fn put(view: &mut View<'_>, key: &[u8], operation: Operation, set: Set) -> usize {
    let len = set.read().len();
    view.update(key, |slot| {
        if len > 0 {
            slot.set(set, Expiry::Clear);
            slot.event(event_of(operation));
        } else if slot.remove() {
            slot.event(notify::DEL);
        }
    });
    len
}

fn event_of(operation: Operation) -> EventName {
    match operation {
        Operation::Union => notify::SUNIONSTORE,
        Operation::Intersection => notify::SINTERSTORE,
        Operation::Difference => notify::SDIFFSTORE,
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use crate::unlocked::tests::send_and_write_meanwhile;

    /// A server with two sets, of which one is large, and a member that only one of them has.
    fn with_sets() -> Client {
        let mut client = Client::new();
        let texts: Vec<String> = (0..2000).map(|it| format!("m{it}")).collect();
        client.send(&format!("SADD a {} only-a", texts.join(" ")));
        client.send("SADD b m1 m2 only-b");
        client
    }

    #[test]
    fn keys_are_not_locked_while_large_sets_are_combined() {
        for (request, reply) in [
            ("SINTERSTORE d a b", ":2\r\n"),
            ("SUNIONSTORE d a b", ":2002\r\n"),
            ("SDIFFSTORE d b a", ":1\r\n"),
            ("SINTERCARD 2 a b", ":2\r\n"),
            ("SINTER a b", "*2\r\n"),
            ("SUNION a b", "*2002\r\n"),
            ("SDIFF b a", "*1\r\n"),
            ("SMEMBERS a", "*2001\r\n"),
            ("SSCAN a 0 COUNT 2000", "*2\r\n"),
            ("SRANDMEMBER a 1500", "*1500\r\n"),
            ("SRANDMEMBER a -1500", "*1500\r\n"),
        ] {
            let mut client = with_sets();
            let write = || "PEXPIRE other 1000000".to_owned();
            let (got, is_unlocked) = send_and_write_meanwhile(&mut client, request, write);
            assert!(got.starts_with(reply), "{request}: {got}");
            assert!(
                !is_unlocked.is_empty() && !is_unlocked.contains(&false),
                "{request}: {is_unlocked:?}"
            );
        }
    }

    #[test]
    fn source_changed_during_the_work_is_combined_in_its_last_state() {
        for changes in 0..6 {
            let mut client = with_sets();
            let mut nth = 0;
            let write = move || {
                nth += 1;
                if nth > changes {
                    "PING".to_owned()
                } else {
                    format!("SADD b new{nth}")
                }
            };
            let (reply, is_unlocked) =
                send_and_write_meanwhile(&mut client, "SUNIONSTORE d a b", write);
            // Writes after the last attempt without the locks are not waited for.
            let seen = changes.min(super::UNLOCKED_TRIES_MAX);
            assert_eq!(reply, format!(":{}\r\n", 2002 + seen), "{changes} changes");
            let tries = (changes + 1).min(super::UNLOCKED_TRIES_MAX);
            assert_eq!(is_unlocked.len(), tries as usize);
        }
    }

    #[test]
    fn destination_may_be_a_source_and_loses_its_expiry_and_type() {
        Client::new().check(&[
            ("SADD a 1 2 3", ":3\r\n"),
            ("SADD b 2 3 4", ":3\r\n"),
            ("EXPIRE a 100", ":1\r\n"),
            ("SINTERSTORE a a b", ":2\r\n"),
            ("TTL a", ":-1\r\n"),
            ("SMEMBERS a", "*2\r\n$1\r\n2\r\n$1\r\n3\r\n"),
            ("SET s 1", "+OK\r\n"),
            ("SUNIONSTORE s a b", ":3\r\n"),
            ("TYPE s", "+set\r\n"),
            ("SDIFFSTORE s a b", ":0\r\n"),
            ("EXISTS s", ":0\r\n"),
            ("SDIFFSTORE a a none", ":2\r\n"),
            ("SINTERSTORE a a none", ":0\r\n"),
            ("EXISTS a", ":0\r\n"),
        ]);
    }

    #[test]
    fn first_key_of_another_type_decides_even_if_the_result_is_empty() {
        const WRONG_TYPE: &str =
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
        let mut client = Client::new();
        client.check(&[("SET s 1", "+OK\r\n"), ("SADD a 1", ":1\r\n")]);
        for request in [
            "SINTER none s",
            "SINTERCARD 2 none s",
            "SINTERSTORE a none s",
            "SUNION a s",
            "SUNIONSTORE a s",
            "SDIFF none s",
            "SDIFFSTORE a a a s",
            "SDIFF a a s",
        ] {
            client.check(&[(request, WRONG_TYPE), ("SCARD a", ":1\r\n")]);
        }
    }
}
