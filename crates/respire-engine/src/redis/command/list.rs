//! `COMMAND LIST`: lists the names of commands and subcommands.

use crate::redis::acl::categories;
use crate::{App, ArgList, CommandEntry, Cx, Error, Reply, glob_match, text};

/// The filter of names.
enum Filter<'a> {
    None,
    /// No command here comes from a module.
    Module,
    Category(&'a [u8]),
    Pattern(&'a [u8]),
}

impl<'a> Filter<'a> {
    fn parse(args: ArgList<'a>) -> Result<Self, Error> {
        let Some(filter_by) = args.get(0) else {
            return Ok(Self::None);
        };
        let (Some(kind), Some(value), 3) = (args.get(1), args.get(2), args.len()) else {
            return Err(text::SYNTAX);
        };
        let is = |word: &[u8]| kind.eq_ignore_ascii_case(word);
        if !filter_by.eq_ignore_ascii_case(b"FILTERBY") {
            Err(text::SYNTAX)
        } else if is(b"MODULE") {
            Ok(Self::Module)
        } else if is(b"ACLCAT") {
            Ok(Self::Category(value))
        } else if is(b"PATTERN") {
            Ok(Self::Pattern(value))
        } else {
            Err(text::SYNTAX)
        }
    }

    fn matches<A: App>(&self, entry: &CommandEntry<A>) -> bool {
        match self {
            Self::None => true,
            Self::Module => false,
            Self::Category(name) => {
                categories(entry).any(|category| name.eq_ignore_ascii_case(category.as_bytes()))
            }
            Self::Pattern(pattern) => glob_match(pattern, entry.spec().name.as_bytes(), true),
        }
    }
}

pub(super) fn list<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let filter = Filter::parse(args)?;
    let chosen: Vec<&CommandEntry<A>> = cx
        .engine
        .table
        .all()
        .filter(|entry| filter.matches(entry))
        .collect();
    reply.array(chosen.len());
    for entry in chosen {
        reply.bulk(entry.spec().name);
    }
    Ok(())
}
