//! `SRANDMEMBER key [count]`: replies with random members of a set. A negative count may return a
//! member several times.
//!
//! A positive count returns different members, and every choice of them is equally likely.

use super::members::Members;
use super::picked::Picked;
use super::read::{MEMBER_BYTES, Snapshot, read_set, set_if_any, write_members};
use crate::Ctx;
use crate::errors::{COUNT_RANGE, OUT_OF_RANGE, SYNTAX};
use crate::options::integer;
use crate::streamed::{REPEATED_MAX, reply_ranges};
use crate::value::reply_string;
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Reply, Spec,
};
use respire_store::{Elements, SetRef};
use std::collections::HashSet;

pub(super) static SRANDMEMBER: Spec = Spec {
    name: "srandmember",
    summary: "Get one or multiple random members from a set",
    since: "1.0.0",
    complexity: "Without the count argument O(1), otherwise O(N) where N is the absolute value of the passed count.",
    group: Group::Set,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    constant_args: 1,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer)
            .since("2.6.0")
            .optional(),
    ],
    tips: &["nondeterministic_output"],
    history: &[("2.6.0", "Added the optional `count` argument.")],
    examples: &[
        ("SADD a x", ":1\r\n"),
        ("SRANDMEMBER a", "$1\r\nx\r\n"),
        ("SRANDMEMBER a 2", "*1\r\n$1\r\nx\r\n"),
        ("SRANDMEMBER a -2", "*2\r\n$1\r\nx\r\n$1\r\nx\r\n"),
        ("SRANDMEMBER none", "$-1\r\n"),
        ("SRANDMEMBER none 1", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

/// A count of more than this part of the members takes all of them and shuffles; drawing them one by
/// one would draw too many of them twice.
const SHUFFLED_PART: usize = 3;

/// Up to this number of random members are drawn under the key's lock.
const LOCKED_COUNT_MAX: usize = 100;

pub(super) fn srandmember(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let random = ctx.view.random();
    if args.len() > 2 {
        return Err(SYNTAX);
    }
    let Some(count) = args.get(1) else {
        let found = read_set(ctx, &args[0], usize::MAX, |set| {
            set.sample(random)
                .map(|member| reply_string(&mut *reply, member))
        })?;
        if found.is_none() {
            reply.null();
        }
        return Ok(());
    };
    let count = integer(count)?;
    if count == i64::MIN {
        return Err(COUNT_RANGE);
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let owned = ctx.read(&args[0], |entry| {
        match set_if_any(entry)? {
            None => reply.array(0),
            Some(_) if count < 0 && count.unsigned_abs() > REPEATED_MAX => {
                return Err(OUT_OF_RANGE);
            }
            Some(_) if wanted > LOCKED_COUNT_MAX => return Snapshot::if_any(entry),
            Some(set) if count < 0 => {
                reply.array(wanted);
                write_repeated(set, wanted, random, reply);
            }
            Some(set) => write_different(set, wanted, random, reply, &mut || ()),
        }
        Ok(None)
    })?;
    let Some(snapshot) = owned else {
        return Ok(());
    };
    work_begins();
    let set = snapshot.set();
    if count < 0 {
        reply.array(wanted);
        reply_ranges(reply, (wanted, MEMBER_BYTES), move |some, reply| {
            let random = random.wrapping_add(some.start as u64);
            write_repeated(snapshot.set(), some.len(), random, reply);
        });
    } else if wanted >= set.len() {
        reply.array(set.len());
        Picked::all(set).reply(snapshot, reply);
    } else {
        let mut work = ctx.long_work();
        let mut step = || work.iter_mut().for_each(LongWork::step);
        write_different(set, wanted, random, reply, &mut step);
    }
    Ok(())
}

/// Writes this many members, each chosen among all, without their number.
fn write_repeated(set: SetRef<'_>, count: usize, random: u64, reply: &mut Reply<'_>) {
    // A small set is read once, and not once for each member.
    let members = (set.parts() == 1 && count > 1).then(|| Members::of(set));
    for nth in 0..count as u64 {
        let random = random.wrapping_add(nth);
        let member = match &members {
            Some(members) => members.sample(random),
            None => set.sample(random),
        };
        member
            .into_iter()
            .for_each(|member| reply_string(reply, member));
    }
}

/// Replies with this many different members, or with all of them. Calls `step` for each that is looked at.
fn write_different(
    set: SetRef<'_>,
    wanted: usize,
    random: u64,
    reply: &mut Reply<'_>,
    step: &mut dyn FnMut(),
) {
    let count = wanted.min(set.len());
    reply.array(count);
    if count == set.len() {
        write_members(reply, set);
    } else if count > set.len() / SHUFFLED_PART {
        let mut members = Members::of(set);
        members.choose(count, random, step);
        members.reply(reply);
    } else {
        let mut seen = HashSet::with_capacity(count);
        let randoms = (0..).map(|nth| random.wrapping_add(nth));
        let drawn = randoms.inspect(|_| step()).filter_map(|it| set.sample(it));
        let new = drawn.filter(|member| seen.insert(member.to_vec()));
        new.take(count)
            .for_each(|member| reply_string(reply, member));
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::collections::BTreeMap;

    fn members(client: &mut Client, request: &str) -> Vec<String> {
        let reply = client.send(request);
        let lines = reply.split("\r\n");
        let members = lines.filter(|it| !it.is_empty() && !it.starts_with(['*', '$']));
        members.map(str::to_owned).collect()
    }

    #[test]
    fn members_of_a_positive_count_are_different_and_equally_likely() {
        for len in [10, 300] {
            let mut client = Client::new();
            let texts: Vec<String> = (0..len).map(|it| format!("m{it}")).collect();
            client.send(&format!("SADD k {}", texts.join(" ")));
            for count in [1, len / 10, len / 2, len - 1] {
                let mut counts = BTreeMap::new();
                let rounds = 200 * len / count;
                for _ in 0..rounds {
                    let mut found = members(&mut client, &format!("SRANDMEMBER k {count}"));
                    assert_eq!(found.len(), count);
                    found.sort();
                    found.dedup();
                    assert_eq!(found.len(), count);
                    found
                        .into_iter()
                        .for_each(|it| *counts.entry(it).or_insert(0) += 1);
                }
                assert_eq!(counts.len(), len, "{count} of {len}");
                let range = (counts.values().min(), counts.values().max());
                assert!(range.0 > Some(&120) && range.1 < Some(&290), "{range:?}");
            }
            assert_eq!(members(&mut client, "SRANDMEMBER k 9999").len(), len);
        }
    }

    #[test]
    fn negative_count_repeats_members() {
        let mut client = Client::new();
        client.send("SADD k a b c");
        let found = members(&mut client, "SRANDMEMBER k -3000");
        assert_eq!(found.len(), 3000);
        for member in ["a", "b", "c"] {
            let count = found.iter().filter(|it| *it == member).count();
            assert!((850..1150).contains(&count), "{member}: {count}");
        }
    }

    #[test]
    fn count_is_bounded() {
        Client::new().check(&[
            ("SADD k a", ":1\r\n"),
            ("SRANDMEMBER k 0", "*0\r\n"),
            ("SRANDMEMBER k -9223372036854775807", "-ERR value is out of range\r\n"),
            (
                "SRANDMEMBER k -9223372036854775808",
                "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807\r\n",
            ),
            ("SRANDMEMBER k 9223372036854775807", "*1\r\n$1\r\na\r\n"),
            ("SRANDMEMBER none -9223372036854775807", "*0\r\n"),
            ("SRANDMEMBER k 1 2", "-ERR syntax error\r\n"),
        ]);
    }
}
