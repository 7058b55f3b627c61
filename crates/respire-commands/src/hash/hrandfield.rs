//! `HRANDFIELD key [count [WITHVALUES]]`: returns random fields of a hash: different ones, or with a
//! negative count each chosen anew.

use super::access::{hash_if_any, hash_of};
use crate::Ctx;
use crate::errors::{LONG_RANGE, OUT_OF_RANGE, SYNTAX};
use crate::options::{integer, is_word};
use crate::streamed::{REPEATED_MAX, reply_ranges};
use crate::value::{reply_string, reply_string_or_null};
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Proto, Reply, Spec,
};
use respire_store::{Elements, EntryRef, HashRef, StringRef};
use std::collections::HashSet;

pub(super) static HRANDFIELD: Spec = Spec {
    name: "hrandfield",
    summary: "Get one or multiple random fields from a hash",
    since: "6.2.0",
    complexity: "O(N) where N is the number of fields returned",
    group: Group::Hash,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::block(
            "options",
            &[
                Arg::new("count", ArgKind::Integer),
                Arg::word("withvalues", "WITHVALUES").optional(),
            ],
        )
        .optional(),
    ],
    tips: &["nondeterministic_output"],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HRANDFIELD h", "$1\r\na\r\n"),
        ("HRANDFIELD h 5 WITHVALUES", "*2\r\n$1\r\na\r\n$1\r\n1\r\n"),
        ("HRANDFIELD h -2", "*2\r\n$1\r\na\r\n$1\r\na\r\n"),
        ("HRANDFIELD nothing", "$-1\r\n"),
        ("HRANDFIELD nothing 1", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

/// Up to this many fields are chosen with repetition under the key's lock.
const LOCKED_COUNT_MAX: u64 = 256;

/// The bytes of a field in a usual reply.
const FIELD_BYTES: usize = 24;

/// A hash of fewer fields than this times the count is read as a whole.
const READ_WHOLE_BELOW: usize = 3;

type Pair<'e> = (StringRef<'e>, StringRef<'e>);

pub(super) fn hrandfield(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let Some(count) = args.get(1) else {
        let random = ctx.view.random();
        return ctx.read(&args[0], |entry| {
            let sampled = hash_if_any(entry)?.and_then(|hash| hash.sample(random));
            reply_string_or_null(reply, sampled.map(|(field, _)| field));
            Ok(())
        });
    };
    let count = integer(count)?;
    if count == i64::MIN {
        return Err(LONG_RANGE);
    }
    let with_values = match args.get(2) {
        None => false,
        Some(word) if is_word(word, "WITHVALUES") && args.len() == 3 => true,
        Some(_) => return Err(SYNTAX),
    };
    let is_repeating = count < 0;
    let count = count.unsigned_abs();
    if with_values && count > i64::MAX as u64 / 2 {
        return Err(OUT_OF_RANGE);
    }
    let random = ctx.view.random();
    if is_repeating {
        return reply_repeated(ctx, &args[0], (count, with_values), random, reply);
    }
    let wanted = (count, with_values);
    let found = ctx.read_or_snapshot(&args[0], |hash| match hash {
        Some(hash) => reply_different(hash, wanted, random, reply, &mut || ()),
        None => reply.array(0),
    })?;
    if let Err(snapshot) = found {
        let mut work = ctx.long_work();
        let mut step = || work.iter_mut().for_each(LongWork::step);
        reply_different(hash_of(&snapshot), wanted, random, reply, &mut step);
    }
    Ok(())
}

/// Replies with this many different fields, or with all. Calls `step` for each that is chosen.
fn reply_different(
    hash: HashRef<'_>,
    (count, with_values): (u64, bool),
    random: u64,
    reply: &mut Reply<'_>,
    step: &mut dyn FnMut(),
) {
    let len = hash.live_len();
    let count = usize::try_from(count).map_or(len, |count| count.min(len));
    let mut numbers = numbers(random).inspect(|_| step());
    let mut next = || numbers.next().unwrap_or(random);
    let pairs = different(hash, count, &mut next);
    begin(reply, pairs.len(), with_values);
    let pairs = pairs.into_iter();
    pairs.for_each(|pair| put(reply, pair, with_values));
}

/// Random numbers from a first one.
fn numbers(random: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |nth: u64| random.wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Replies with this many fields, each chosen among all, while the client reads them.
fn reply_repeated(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    (count, with_values): (u64, bool),
    random: u64,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let snapshot = ctx.read(key, |entry| {
        let Some(hash) = hash_if_any(entry)? else {
            reply.array(0);
            return Ok(None);
        };
        if count > REPEATED_MAX {
            return Err(OUT_OF_RANGE);
        }
        if count > LOCKED_COUNT_MAX && hash.live_len() > 0 {
            return Ok(entry.map(EntryRef::owned));
        }
        let count = match hash.live_len() {
            0 => 0,
            _ => count as usize,
        };
        begin(reply, count, with_values);
        write_repeated(hash, count, with_values, numbers(random), reply);
        Ok(None)
    })?;
    if let Some(snapshot) = snapshot {
        work_begins();
        let mut numbers = numbers(random);
        begin(reply, count as usize, with_values);
        let size = (count as usize, FIELD_BYTES * (1 + usize::from(with_values)));
        reply_ranges(reply, size, move |some, reply| {
            let numbers = numbers.by_ref();
            write_repeated(hash_of(&snapshot), some.len(), with_values, numbers, reply);
        });
    }
    Ok(())
}

/// Writes this many fields, each chosen among all, without their number.
fn write_repeated(
    hash: HashRef<'_>,
    count: usize,
    with_values: bool,
    numbers: impl Iterator<Item = u64>,
    reply: &mut Reply<'_>,
) {
    // A packed hash is read once, and not once for each field.
    let mut pairs = Vec::new();
    if hash.listpack().is_some() {
        hash.for_each(&mut |pair| pairs.push(pair));
    }
    for random in numbers.take(count) {
        let pair = if pairs.is_empty() {
            hash.sample(random)
        } else {
            Some(pairs[below(random, pairs.len())])
        };
        pair.into_iter()
            .for_each(|pair| put(reply, pair, with_values));
    }
}

/// Returns this many different fields; there are as many.
fn different<'e>(hash: HashRef<'e>, count: usize, next: &mut impl FnMut() -> u64) -> Vec<Pair<'e>> {
    let mut pairs = Vec::with_capacity(count);
    if hash.listpack().is_none() && count.saturating_mul(READ_WHOLE_BELOW) < hash.live_len() {
        let mut seen = HashSet::with_capacity(count);
        while pairs.len() < count {
            let Some(pair) = hash.sample(next()) else {
                break;
            };
            if seen.insert(pair.0.to_vec()) {
                pairs.push(pair);
            }
        }
        return pairs;
    }
    hash.for_each(&mut |pair| pairs.push(pair));
    if count < pairs.len() {
        for at in 0..count {
            let other = at + below(next(), pairs.len() - at);
            pairs.swap(at, other);
        }
        pairs.truncate(count);
    }
    pairs
}

/// Returns a number below `end` that a random number selects.
fn below(random: u64, end: usize) -> usize {
    // The high half of the product: the random numbers have their entropy in all bits only after mixing.
    let mixed = random.wrapping_mul(0xd134_2543_de82_ef95).rotate_left(32) ^ random;
    ((u128::from(mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * end as u128) >> 64) as usize
}

/// Begins the array of this many fields. In RESP2, values follow their fields in the same array.
fn begin(reply: &mut Reply<'_>, count: usize, with_values: bool) {
    let is_flat = with_values && reply.proto() == Proto::Resp2;
    reply.array(if is_flat { 2 * count } else { count });
}

fn put(reply: &mut Reply<'_>, (field, value): Pair<'_>, with_values: bool) {
    if with_values && reply.proto() != Proto::Resp2 {
        reply.array(2);
    }
    reply_string(reply, field);
    if with_values {
        reply_string(reply, value);
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::collections::BTreeSet;

    fn bulks(reply: &str) -> Vec<&str> {
        let lines = reply.split("\r\n").filter(|line| !line.is_empty());
        lines.filter(|line| !line.starts_with(['*', '$'])).collect()
    }

    #[test]
    fn fields_differ_or_repeat_as_the_sign_of_the_count_says() {
        for fields in [1, 20, 100, 1_000] {
            let mut client = Client::new();
            let pairs: Vec<String> = (0..fields).map(|it| format!("f{it} v{it}")).collect();
            client.send(&format!("HSET h {}", pairs.join(" ")));
            for count in [0, 1, 2, 10, 50, 500, 5_000] {
                let reply = client.send(&format!("HRANDFIELD h {count} WITHVALUES"));
                let found = bulks(&reply);
                assert_eq!(found.len(), 2 * fields.min(count));
                assert!(found.chunks(2).all(|pair| pair[0][1..] == pair[1][1..]));
                let different: BTreeSet<&str> = found.into_iter().collect();
                assert_eq!(different.len(), 2 * fields.min(count));
                if count > 0 {
                    let reply = client.send(&format!("HRANDFIELD h -{count}"));
                    assert_eq!(bulks(&reply).len(), count);
                }
            }
        }
    }

    #[test]
    fn every_field_is_chosen_about_equally_often() {
        let mut client = Client::new();
        client.send("HSET h a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8");
        let reply = client.send("HRANDFIELD h -8000");
        for field in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let times = bulks(&reply).into_iter().filter(|it| *it == field).count();
            assert!((850..1150).contains(&times), "{field}: {times}");
        }
        let mut first: Vec<String> = (0..400).map(|_| client.send("HRANDFIELD h 3")).collect();
        first.sort();
        first.dedup();
        assert!(first.len() > 100, "{}", first.len());
    }

    #[test]
    fn count_out_of_range_is_refused_before_the_key_is_looked_up() {
        const RANGE: &str = "-ERR value is out of range\r\n";
        Client::new().check(&[
            ("SET s 1", "+OK\r\n"),
            (
                "HRANDFIELD s -9223372036854775808",
                "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807\r\n",
            ),
            ("HRANDFIELD s -9223372036854775807 WITHVALUES", RANGE),
            ("HRANDFIELD s 9223372036854775807 WITHVALUES", RANGE),
            ("HRANDFIELD s 1 VALUES", "-ERR syntax error\r\n"),
            ("HRANDFIELD s 1 WITHVALUES x", "-ERR syntax error\r\n"),
            ("HRANDFIELD s x", "-ERR value is not an integer or out of range\r\n"),
            ("HSET h a 1", ":1\r\n"),
            ("HRANDFIELD h -9223372036854775807", RANGE),
            ("HRANDFIELD h 9223372036854775807", "*1\r\n$1\r\na\r\n"),
        ]);
    }
}
