//! `COMMAND GETKEYS` `GETKEYSANDFLAGS`: finds the keys in a request.

use crate::command::row::keys_by_spec;
use crate::command::table::CommandTable;
use crate::{
    App, ArgList, CommandEntry, Cx, Error, Flags, KeyBegin, KeyFind, KeyFlag, KeySpec, Reply, Spec,
};

pub(super) fn keys<A: App>(
    cx: &mut Cx<'_, A>,
    request: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (_, positions) = positions(&cx.engine.table, request)?;
    reply.array(positions.len());
    for key in positions.into_iter().filter_map(|at| request.get(at)) {
        reply.bulk(key);
    }
    Ok(())
}

pub(super) fn keys_and_flags<A: App>(
    cx: &mut Cx<'_, A>,
    request: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (entry, positions) = positions(&cx.engine.table, request)?;
    reply.array(positions.len());
    for (at, key) in positions
        .into_iter()
        .filter_map(|at| Some((at, request.get(at)?)))
    {
        let flags = flags(entry.spec(), request, at);
        reply.array(2);
        reply.bulk(key);
        reply.set(flags.len());
        flags.iter().for_each(|flag| reply.simple(flag.name()));
    }
    Ok(())
}

/// The positions of the keys of a request that is given as arguments.
fn positions<'t, A: App>(
    table: &'t CommandTable<A>,
    request: ArgList<'_>,
) -> Result<(&'t CommandEntry<A>, Vec<usize>), Error> {
    const UNKNOWN: Error = Error::fixed("ERR Invalid command specified");
    let container = table.find_name(&request[0]).ok_or(UNKNOWN)?;
    let at = match request.get(1) {
        Some(name) if table.entry(container).is_container() => {
            table.find_subcommand(container, name).ok_or(UNKNOWN)?
        }
        _ => container,
    };
    let entry = table.entry(at);
    if entry.spec().keys.is_empty() {
        return Err(Error::fixed("ERR The command has no key arguments"));
    }
    if !entry.spec().arity.accepts(request.len()) {
        return Err(Error::fixed(
            "ERR Invalid number of arguments specified for command",
        ));
    }
    let mut positions = Vec::new();
    let mut tell = |at| positions.push(at);
    // As in Redis, the description names the keys if it can: a second destination of `GEORADIUS` is none of them.
    let told = match entry.spec().keys.iter().all(KeySpec::is_definite) {
        true => keys_by_spec(entry.spec(), request, &mut tell),
        false => entry.command().keys(request, &mut tell),
    };
    let is_enough = |positions: &[usize]| {
        entry.spec().flags.has(Flags::NO_MANDATORY_KEYS)
            || positions.iter().any(|at| *at < request.len())
    };
    if told.is_err() || !is_enough(&positions) {
        return Err(Error::fixed("ERR Invalid arguments specified for command"));
    }
    Ok((entry, positions))
}

/// Whether a `BITFIELD` only reads. Invalid arguments count as writing, as in Redis.
fn is_only_read(request: ArgList<'_>) -> bool {
    let mut options = request.iter().skip(2);
    while let Some(option) = options.next() {
        let operands = if option.eq_ignore_ascii_case(b"GET") {
            2
        } else if option.eq_ignore_ascii_case(b"OVERFLOW") {
            1
        } else {
            return false;
        };
        if options.by_ref().take(operands).count() < operands {
            return false;
        }
    }
    true
}

const READ: &[KeyFlag] = &[KeyFlag::Ro, KeyFlag::Access];
const UPDATE: &[KeyFlag] = &[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update];
const OVERWRITE: &[KeyFlag] = &[KeyFlag::Ow, KeyFlag::Update];
const COMPARE: &[KeyFlag] = &[KeyFlag::Rw, KeyFlag::Update];
const REMOVE: &[KeyFlag] = &[KeyFlag::Rm, KeyFlag::Delete];
const COMPARE_AND_REMOVE: &[KeyFlag] = &[KeyFlag::Rw, KeyFlag::Delete];

/// How a request uses its key at this position.
fn flags(spec: &Spec, request: ArgList<'_>, at: usize) -> &'static [KeyFlag] {
    let has = |from: usize, word: &[u8]| {
        let mut options = request.iter().skip(from);
        options.any(|arg| arg.eq_ignore_ascii_case(word))
    };
    // For three commands the use of the key depends on their options.
    match spec.name {
        "set" if has(3, b"GET") => return UPDATE,
        "set" if has(3, b"IFEQ") || has(3, b"IFNE") => return COMPARE,
        "set" => return OVERWRITE,
        "delex" if request.len() > 2 => return COMPARE_AND_REMOVE,
        "delex" => return REMOVE,
        "bitfield" => return if is_only_read(request) { READ } else { UPDATE },
        _ => {}
    }
    let is_here = |keys: &&KeySpec| keys.positions(request.len()).any(|here| here == at);
    // A key at no fixed position belongs to the last spec without a position.
    let is_anywhere = |keys: &&KeySpec| {
        !matches!(keys.begin, KeyBegin::Index(_)) || !matches!(keys.find, KeyFind::Range { .. })
    };
    let found = spec
        .keys
        .iter()
        .find(is_here)
        .or_else(|| spec.keys.iter().rfind(is_anywhere));
    found.map_or(&[], |keys| keys.flags)
}
