//! `ACL WHOAMI` `CAT` `USERS`: the users and the categories of commands.

use super::Rows;
use super::help::{boxed, help, needs_subcommand, wrong_subcommand};
use crate::Spec;
use crate::{App, Arg, ArgKind, ArgList, Arity, CommandEntry, Cx, Error, Flags, Group, Reply, Row};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.container(
        Row {
            spec: &ACL,
            run: needs_subcommand,
        },
        boxed([
            (&ACL_CAT, cat),
            (&ACL_HELP, acl_help),
            (&ACL_USERS, users),
            (&ACL_WHOAMI, who_am_i),
        ]),
    )
}

static ACL: Spec = Spec {
    name: "acl",
    summary: "A container for Access List Control commands ",
    since: "6.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Server,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

static ACL_CAT: Spec = Spec {
    name: "acl|cat",
    summary: "List the ACL categories or the commands inside a category",
    since: "6.0.0",
    complexity: "O(1) since the categories and commands are a fixed set.",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    args: &[Arg::new("categoryname", ArgKind::String).optional()],
    examples: &[
        (
            "ACL CAT transaction",
            "*5\r\n$4\r\nexec\r\n$5\r\nmulti\r\n$7\r\ndiscard\r\n$5\r\nwatch\r\n$7\r\nunwatch\r\n",
        ),
        ("ACL CAT nope", "-ERR Unknown category 'nope'\r\n"),
    ],
    ..Spec::EMPTY
};

static ACL_HELP: Spec = Spec {
    name: "acl|help",
    summary: "Show helpful text about the different subcommands",
    since: "6.0.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..Spec::EMPTY
};

static ACL_USERS: Spec = Spec {
    name: "acl|users",
    summary: "List the username of all the configured ACL rules",
    since: "6.0.0",
    complexity: "O(N). Where N is the number of configured users.",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    examples: &[("ACL USERS", "*1\r\n$7\r\ndefault\r\n")],
    ..Spec::EMPTY
};

static ACL_WHOAMI: Spec = Spec {
    name: "acl|whoami",
    summary: "Return the name of the user associated to the current connection",
    since: "6.0.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    examples: &[("ACL WHOAMI", "$7\r\ndefault\r\n")],
    ..Spec::EMPTY
};

const HELP: &[&str] = &[
    "CAT [<category>]",
    "    List all commands that belong to <category>, or all command categories",
    "    when no category is specified.",
    "USERS",
    "    List all the registered usernames.",
    "WHOAMI",
    "    Return the current connection username.",
];

/// All categories, in Redis's order.
const CATEGORIES: [&str; 21] = [
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];

/// The categories of a command: those in its description, and those implied by its flags and its
/// group.
pub(super) fn categories<A: App>(entry: &CommandEntry<A>) -> impl Iterator<Item = &'static str> {
    let is_container = entry.is_container();
    let spec = *entry.spec();
    CATEGORIES.into_iter().filter(move |category| {
        spec.categories.contains(category)
            || implied_by_flags(category, spec.flags)
            || (!is_container && implied_by_group(category, &spec))
    })
}

fn implied_by_flags(category: &str, flags: Flags) -> bool {
    match category {
        "write" => flags.has(Flags::WRITE),
        // What a script reads is up to the script.
        "read" => flags.has(Flags::READONLY) && !flags.has(Flags::SCRIPT),
        "pubsub" => flags.has(Flags::PUBSUB),
        "admin" | "dangerous" => flags.has(Flags::ADMIN),
        "blocking" => flags.has(Flags::BLOCKING),
        "fast" => flags.has(Flags::FAST),
        "slow" => !flags.has(Flags::FAST),
        _ => false,
    }
}

fn implied_by_group(category: &str, spec: &Spec) -> bool {
    const TYPES: [&str; 3] = ["set", "sortedset", "list"];
    match spec.group {
        // Commands on elements of values (SORT) are not in the keyspace category.
        Group::Generic => {
            category == "keyspace" && !spec.categories.iter().any(|named| TYPES.contains(named))
        }
        Group::String => category == "string",
        Group::Bitmap => category == "bitmap",
        Group::Hash => category == "hash",
        Group::HyperLogLog => category == "hyperloglog",
        Group::Set => category == "set",
        Group::SortedSet => category == "sortedset",
        Group::Geo => category == "geo",
        Group::List => category == "list",
        Group::Stream => category == "stream",
        Group::Connection => category == "connection",
        Group::Transactions => category == "transaction",
        Group::Scripting => category == "scripting",
        Group::Server | Group::PubSub => false,
    }
}

fn cat<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let Some(asked) = args.get(0) else {
        reply.array(CATEGORIES.len());
        CATEGORIES.iter().for_each(|category| reply.bulk(category));
        return Ok(());
    };
    let is_asked = |category: &str| asked.eq_ignore_ascii_case(category.as_bytes());
    if args.len() > 1 {
        return Err(wrong_subcommand(cx.request()));
    }
    if !CATEGORIES.iter().any(|category| is_asked(category)) {
        return Err(Error::quoting("ERR Unknown category '", asked, "'"));
    }
    let chosen: Vec<&CommandEntry<A>> = cx
        .engine
        .table
        .all()
        .filter(|entry| categories(entry).any(is_asked))
        .collect();
    reply.array(chosen.len());
    chosen
        .iter()
        .for_each(|entry| reply.bulk(entry.spec().name));
    Ok(())
}

/// The users of an authenticator are not known, so only the caller's own name is listed then.
fn users<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.array(1);
    reply.bulk(cx.client.shared.names().user());
    Ok(())
}

fn who_am_i<A: App>(
    cx: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.bulk(cx.client.shared.names().user());
    Ok(())
}

fn acl_help<A: App>(_: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    help(&ACL, HELP, reply);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::testing::{Server, check};

    #[test]
    fn categories_follow_from_flags_and_group() {
        let server = Server::new();
        let of = |name: &[u8]| {
            let table = server.engine.commands();
            let at = table.find_name(name).expect("a command of this name");
            categories(table.entry(at)).collect::<Vec<_>>()
        };
        assert_eq!(of(b"get"), ["keyspace", "read", "fast"]);
        assert_eq!(of(b"set"), ["keyspace", "write", "slow"]);
        assert_eq!(of(b"multi"), ["fast", "transaction"]);
        assert_eq!(of(b"shutdown"), ["admin", "slow", "dangerous"]);
        assert_eq!(of(b"client"), ["slow"]);
        assert_eq!(of(b"command"), ["slow", "connection"]);
    }

    #[test]
    fn cat_lists_categories_or_their_commands() {
        check(&[
            (
                "ACL CAT transaction",
                "*5|$4|exec|$5|multi|$7|discard|$5|watch|$7|unwatch|",
            ),
            ("ACL CAT geo", "*0|"),
            ("ACL CAT nope", "-ERR Unknown category 'nope'|"),
        ]);
        assert!(
            Server::new()
                .connect()
                .ask("ACL CAT")
                .starts_with("*21|$8|keyspace|$4|read|")
        );
    }

    #[test]
    fn users_lists_the_default_user() {
        check(&[("ACL WHOAMI\nACL USERS", "$7|default|*1|$7|default|")]);
    }
}
