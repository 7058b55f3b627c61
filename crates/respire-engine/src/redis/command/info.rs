//! `COMMAND` `COMMAND INFO`: describes commands for clients that route requests.

use super::named;
use crate::redis::acl::categories;
use crate::{App, ArgList, CommandEntry, Cx, Engine, Error, KeyBegin, KeyFind, KeySpec, Reply};

pub(super) fn info<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let engine = cx.engine;
    if args.is_empty() {
        reply.array(engine.table.commands().count());
        engine
            .table
            .commands()
            .for_each(|entry| write(engine, entry, reply));
        return Ok(());
    }
    reply.array(args.len());
    for name in args.iter() {
        match named(&engine.table, name) {
            Some(entry) => write(engine, entry, reply),
            None => reply.null(),
        }
    }
    Ok(())
}

fn write<A: App>(engine: &Engine<A>, entry: &CommandEntry<A>, reply: &mut Reply<'_>) {
    let spec = entry.spec();
    let (first, last, step) = range(spec.keys);
    reply.array(10);
    reply.bulk(spec.name);
    reply.int(spec.arity.number());
    reply.set(spec.flags.names().count());
    spec.flags.names().for_each(|flag| reply.simple(flag));
    for number in [first, last, step] {
        reply.int(i64::from(number));
    }
    reply.set(categories(entry).count());
    categories(entry).for_each(|category| reply.simple(format!("@{category}")));
    reply.set(spec.tips.len());
    spec.tips.iter().for_each(|tip| reply.bulk(tip));
    reply.set(spec.keys.len());
    spec.keys.iter().for_each(|keys| write_keys(keys, reply));
    let subcommands = engine.table.subcommands(entry).count();
    // An empty set or an array, as in Redis.
    if subcommands == 0 {
        reply.set(0)
    } else {
        reply.array(subcommands)
    }
    engine
        .table
        .subcommands(entry)
        .for_each(|entry| write(engine, entry, reply));
}

/// First key, last key and step, as far as one range can describe them. Clients older than Redis 7
/// read this.
fn range(specs: &[KeySpec]) -> (i16, i16, i16) {
    let ranges = specs
        .iter()
        .filter_map(|keys| match (keys.begin, keys.find) {
            (KeyBegin::Index(first), KeyFind::Range { last, step, .. }) => {
                Some((first, if last >= 0 { first + last } else { last }, step))
            }
            _ => None,
        });
    let mut whole: Option<(i16, i16)> = None;
    for (first, last, step) in ranges {
        if specs.len() == 1 {
            return (first, last, step);
        }
        // Several ranges are merged if each begins directly after the one before.
        let follows = whole.is_none_or(|(_, before)| before == first - 1);
        if step == 1 && follows {
            whole = Some((whole.map_or(first, |(start, _)| start), last));
        }
    }
    whole.map_or((0, 0, 0), |(first, last)| (first, last, 1))
}

fn write_keys(keys: &KeySpec, reply: &mut Reply<'_>) {
    let has_notes = !keys.notes.is_empty();
    reply.map(if has_notes { 4 } else { 3 });
    if has_notes {
        reply.bulk("notes");
        reply.bulk(keys.notes);
    }
    reply.bulk("flags");
    reply.set(keys.flags.len());
    keys.flags.iter().for_each(|flag| reply.simple(flag.name()));
    match keys.begin {
        KeyBegin::Index(index) => write_search("begin_search", "index", &[("index", index)], reply),
        KeyBegin::Keyword { word, from } => {
            begin_search("begin_search", "keyword", 2, reply);
            reply.bulk("keyword");
            reply.bulk(word);
            reply.bulk("startfrom");
            reply.int(i64::from(from));
        }
        KeyBegin::Unknown => write_search("begin_search", "unknown", &[], reply),
    }
    match keys.find {
        KeyFind::Range { last, step, limit } => {
            let numbers = [("lastkey", last), ("keystep", step), ("limit", limit)];
            write_search("find_keys", "range", &numbers, reply);
        }
        KeyFind::Counted { count, first, step } => {
            let numbers = [("keynumidx", count), ("firstkey", first), ("keystep", step)];
            write_search("find_keys", "keynum", &numbers, reply);
        }
        KeyFind::Unknown => write_search("find_keys", "unknown", &[], reply),
    }
}

fn write_search(what: &str, kind: &str, numbers: &[(&str, i16)], reply: &mut Reply<'_>) {
    begin_search(what, kind, numbers.len(), reply);
    for (name, number) in numbers {
        reply.bulk(name);
        reply.int(i64::from(*number));
    }
}

fn begin_search(what: &str, kind: &str, pairs: usize, reply: &mut Reply<'_>) {
    reply.bulk(what);
    reply.map(2);
    reply.bulk("type");
    reply.bulk(kind);
    reply.bulk("spec");
    reply.map(pairs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranges_are_merged() {
        let rename = [KeySpec::at(1), KeySpec::at(2)];
        assert_eq!(range(&rename), (1, 2, 1));
        assert_eq!(range(&[KeySpec::range(1, -1, 2)]), (1, -1, 2));
        assert_eq!(range(&[]), (0, 0, 0));
    }

    #[test]
    fn keys_outside_a_range_are_left_out() {
        let unknown = KeySpec {
            begin: KeyBegin::Unknown,
            find: KeyFind::Unknown,
            ..KeySpec::at(1)
        };
        assert_eq!(range(&[KeySpec::at(1), unknown]), (1, 1, 1));
        assert_eq!(range(&[unknown]), (0, 0, 0));
        assert_eq!(range(&[KeySpec::at(1), KeySpec::at(3)]), (1, 1, 1));
    }
}
