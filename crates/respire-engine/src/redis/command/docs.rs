//! `COMMAND DOCS`: the documentation of commands.

use super::named;
use crate::{App, Arg, ArgKind, ArgList, CommandEntry, Cx, Engine, Error, Reply, Spec};

pub(super) fn docs<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let engine = cx.engine;
    let chosen: Vec<&CommandEntry<A>> = if args.is_empty() {
        engine.table.commands().collect()
    } else {
        args.iter()
            .filter_map(|name| named(&engine.table, name))
            .collect()
    };
    reply.map(chosen.len());
    chosen
        .into_iter()
        .for_each(|entry| write(engine, entry, reply));
    Ok(())
}

fn write<A: App>(engine: &Engine<A>, entry: &CommandEntry<A>, reply: &mut Reply<'_>) {
    let spec = entry.spec();
    let subcommands = engine.table.subcommands(entry).count();
    let parts = [
        !spec.complexity.is_empty(),
        doc_flags(spec).count() > 0,
        !spec.history.is_empty(),
        !spec.args.is_empty(),
        subcommands > 0,
    ];
    let deprecation = if spec.deprecated.is_some() { 2 } else { 0 };
    reply.bulk(spec.name);
    reply.map(3 + deprecation + parts.into_iter().filter(|part| *part).count());
    write_spec(spec, reply);
    if subcommands > 0 {
        reply.bulk("subcommands");
        reply.map(subcommands);
        engine
            .table
            .subcommands(entry)
            .for_each(|entry| write(engine, entry, reply));
    }
}

fn write_spec(spec: &Spec, reply: &mut Reply<'_>) {
    write_field("summary", spec.summary, reply);
    write_field("since", spec.since, reply);
    write_field("group", spec.group.name(), reply);
    if !spec.complexity.is_empty() {
        write_field("complexity", spec.complexity, reply);
    }
    let doc_flags = doc_flags(spec);
    if doc_flags.clone().count() > 0 {
        reply.bulk("doc_flags");
        reply.set(doc_flags.clone().count());
        doc_flags.for_each(|flag| reply.simple(flag));
    }
    if let Some((since, replacement)) = spec.deprecated {
        write_field("deprecated_since", since, reply);
        write_field("replaced_by", replacement, reply);
    }
    if !spec.history.is_empty() {
        reply.bulk("history");
        reply.set(spec.history.len());
        for (since, change) in spec.history {
            reply.array(2);
            reply.bulk(since);
            reply.bulk(change);
        }
    }
    if !spec.args.is_empty() {
        reply.bulk("arguments");
        write_args(spec.args, reply);
    }
}

fn doc_flags(spec: &Spec) -> impl Iterator<Item = &'static str> + Clone + use<> {
    let flags = [
        (spec.deprecated.is_some(), "deprecated"),
        (spec.is_internal, "syscmd"),
    ];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    set.map(|(_, name)| name)
}

fn write_field(name: &str, value: &str, reply: &mut Reply<'_>) {
    reply.bulk(name);
    reply.bulk(value);
}

/// The recursion is as deep as the table's own grammar; clients cannot make it deeper.
fn write_args(args: &[Arg], reply: &mut Reply<'_>) {
    reply.array(args.len());
    for arg in args {
        let texts = [
            ("token", arg.token),
            ("summary", arg.summary),
            ("since", arg.since),
            ("deprecated_since", arg.deprecated_since),
        ];
        let flags = [
            (arg.optional, "optional"),
            (arg.multiple, "multiple"),
            (arg.multiple_token, "multiple_token"),
        ];
        let flags = || flags.into_iter().filter(|(is_set, _)| *is_set);
        let has_parts = matches!(arg.kind, ArgKind::OneOf | ArgKind::Block);
        let fields = 2
            + usize::from(arg.key_spec.is_some())
            + texts.iter().filter(|(_, text)| text.is_some()).count()
            + usize::from(flags().count() > 0)
            + usize::from(has_parts);
        reply.map(fields);
        write_field("name", arg.name, reply);
        write_field("type", arg.kind.name(), reply);
        if let Some(key_spec) = arg.key_spec {
            reply.bulk("key_spec_index");
            reply.int(i64::from(key_spec));
        }
        for (name, text) in texts {
            if let Some(text) = text {
                write_field(name, text, reply);
            }
        }
        if flags().count() > 0 {
            reply.bulk("flags");
            reply.set(flags().count());
            flags().for_each(|(_, flag)| reply.simple(flag));
        }
        if has_parts {
            reply.bulk("arguments");
            write_args(arg.parts, reply);
        }
    }
}
