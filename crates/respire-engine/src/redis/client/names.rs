//! `CLIENT GETNAME` `SETNAME` `SETINFO`: the names that a connection gives itself.

use crate::redis::help::boxed;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Client, Command, Cx, Error, Flags, Group, Reply, Spec,
};

pub(super) fn commands<A: App>() -> Vec<Box<dyn Command<A>>> {
    boxed([
        (&CLIENT_GETNAME, get_name),
        (&CLIENT_SETNAME, client_set_name),
        (&CLIENT_SETINFO, set_info),
    ])
}

static CLIENT_GETNAME: Spec = Spec {
    name: "client|getname",
    summary: "Get the current connection name",
    since: "2.6.9",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    examples: &[
        ("CLIENT GETNAME", "$-1\r\n"),
        ("CLIENT SETNAME worker", "+OK\r\n"),
        ("CLIENT GETNAME", "$6\r\nworker\r\n"),
    ],
    ..Spec::EMPTY
};

static CLIENT_SETNAME: Spec = Spec {
    name: "client|setname",
    summary: "Set the current connection name",
    since: "2.6.9",
    group: Group::Connection,
    arity: Arity::exactly(3),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    args: &[Arg::new("connection-name", ArgKind::String)],
    examples: &[
        ("CLIENT SETNAME worker", "+OK\r\n"),
        (
            "CLIENT SETNAME \"a worker\"",
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

static CLIENT_SETINFO: Spec = Spec {
    name: "client|setinfo",
    summary: "Set client or connection specific info",
    since: "7.2.0",
    group: Group::Connection,
    arity: Arity::exactly(4),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    args: &[Arg::one_of(
        "attr",
        &[
            Arg::new("libname", ArgKind::String).token("LIB-NAME"),
            Arg::new("libver", ArgKind::String).token("LIB-VER"),
        ],
    )],
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    examples: &[
        ("CLIENT SETINFO LIB-NAME redis-py", "+OK\r\n"),
        ("CLIENT SETINFO LIB-VER 5.0.0", "+OK\r\n"),
    ],
    ..Spec::EMPTY
};

/// Checks a value for a line of `CLIENT LIST`: printable ASCII without blanks.
fn check(what: &str, value: &[u8]) -> Result<Box<str>, Error> {
    if value.iter().all(u8::is_ascii_graphic) {
        return Ok(String::from_utf8_lossy(value).into());
    }
    Err(Error::owned(format!(
        "ERR {what} cannot contain spaces, newlines or special characters."
    )))
}

/// Sets a connection's name, for `CLIENT SETNAME` and `HELLO`.
pub(in crate::redis) fn set_name(client: &Client, name: &[u8]) -> Result<(), Error> {
    client.shared.names().name = check("Client names", name)?;
    Ok(())
}

fn get_name<A: App>(
    cx: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let names = cx.client.shared.names();
    if names.name.is_empty() {
        reply.null();
    } else {
        reply.bulk(&*names.name);
    }
    Ok(())
}

fn client_set_name<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    set_name(cx.client, &args[0])?;
    reply.ok();
    Ok(())
}

fn set_info<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let attribute = String::from_utf8_lossy(&args[0]);
    let value = || check(&attribute, &args[1]);
    let mut names = cx.client.shared.names();
    if attribute.eq_ignore_ascii_case("lib-name") {
        names.library = value()?;
    } else if attribute.eq_ignore_ascii_case("lib-ver") {
        names.library_version = value()?;
    } else {
        return Err(Error::owned(format!(
            "ERR Unrecognized option '{attribute}'"
        )));
    }
    reply.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::check;

    #[test]
    fn setname_accepts_printable_words_and_the_empty_name() {
        const WRONG: &str =
            "-ERR Client names cannot contain spaces, newlines or special characters.|";
        check(&[
            ("CLIENT GETNAME", "$-1|"),
            ("CLIENT SETNAME me\nCLIENT GETNAME", "+OK|$2|me|"),
            ("CLIENT SETNAME \"a b\"", WRONG),
            ("CLIENT SETNAME \"\\xff\"", WRONG),
            ("CLIENT GETNAME", "$2|me|"),
            ("CLIENT SETNAME \"\"\nCLIENT GETNAME", "+OK|$-1|"),
        ]);
    }

    #[test]
    fn setinfo_accepts_two_attributes() {
        check(&[
            (
                "CLIENT SETINFO LIB-NAME redis-py\nCLIENT SETINFO lib-ver 5.0",
                "+OK|+OK|",
            ),
            (
                "CLIENT SETINFO lib-name \"a b\"",
                "-ERR lib-name cannot contain spaces, newlines or special characters.|",
            ),
            ("CLIENT SETINFO nope x", "-ERR Unrecognized option 'nope'|"),
        ]);
    }
}
