//! `CLIENT ID` `INFO` `LIST`: describes connections, one per line.

use super::kill::Kind;
use crate::client::ClientShared;
use crate::redis::help::boxed;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Command, Cx, Engine, Error, Flags, Group, Now, Reply,
};
use crate::{Spec, text};
use resp_codec::number;
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn commands<A: App>() -> Vec<Box<dyn Command<A>>> {
    boxed([(&CLIENT_ID, id), (&CLIENT_INFO, info), (&CLIENT_LIST, list)])
}

static CLIENT_ID: Spec = Spec {
    name: "client|id",
    summary: "Returns the client ID for the current connection",
    since: "5.0.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    examples: &[("CLIENT ID", ":1\r\n")],
    ..Spec::EMPTY
};

static CLIENT_INFO: Spec = Spec {
    name: "client|info",
    summary: "Returns information about the current client connection.",
    since: "6.2.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    tips: &["nondeterministic_output"],
    ..Spec::EMPTY
};

static CLIENT_LIST: Spec = Spec {
    name: "client|list",
    summary: "Get the list of client connections",
    since: "2.4.0",
    complexity: "O(N) where N is the number of client connections",
    group: Group::Connection,
    arity: Arity::at_least(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[
        Arg::one_of(
            "normal_master_replica_pubsub",
            &[
                Arg::word("normal", "NORMAL"),
                Arg::word("master", "MASTER"),
                Arg::word("replica", "REPLICA"),
                Arg::word("pubsub", "PUBSUB"),
            ],
        )
        .token("TYPE")
        .since("5.0.0")
        .optional(),
        Arg::block("id", &[Arg::new("client-id", ArgKind::Integer).multiple()])
            .token("ID")
            .since("6.2.0")
            .optional(),
    ],
    tips: &["nondeterministic_output"],
    history: &[
        ("2.8.12", "Added unique client `id` field."),
        ("5.0.0", "Added optional `TYPE` filter."),
        ("6.0.0", "Added `user` field."),
        (
            "6.2.0",
            "Added `argv-mem`, `tot-mem`, `laddr` and `redir` fields and the optional `ID` filter.",
        ),
        (
            "7.0.0",
            "Added `resp`, `multi-mem`, `rbs` and `rbp` fields.",
        ),
        ("7.0.3", "Added `ssub` field."),
    ],
    examples: &[("CLIENT LIST TYPE pubsub", "$0\r\n\r\n")],
    ..Spec::EMPTY
};

fn id<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.int(cx.client.id() as i64);
    Ok(())
}

fn info<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let mut lines = String::new();
    write_line(&mut lines, cx.engine, &cx.client.shared, cx.now);
    reply.verbatim(*b"txt", lines.as_bytes());
    Ok(())
}

fn list<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let clients = &cx.engine.clients;
    let is = |word: &[u8]| {
        args.get(0)
            .is_some_and(|arg| arg.eq_ignore_ascii_case(word))
    };
    let chosen = if args.is_empty() {
        clients.snapshot()
    } else if args.len() == 2 && is(b"TYPE") {
        let kind = Kind::parse(&args[1])?;
        let mut chosen = clients.snapshot();
        chosen.retain(|client| kind.matches(client));
        chosen
    } else if args.len() >= 2 && is(b"ID") {
        let mut chosen = Vec::new();
        for id in args.iter().skip(1) {
            let id = number::parse_i64(id).ok_or(Error::fixed("ERR Invalid client ID"))?;
            chosen.extend(u64::try_from(id).ok().and_then(|id| clients.find(id)));
        }
        chosen
    } else {
        return Err(text::SYNTAX);
    };
    let mut lines = String::new();
    for client in chosen {
        write_line(&mut lines, cx.engine, &client, cx.now);
    }
    reply.verbatim(*b"txt", lines.as_bytes());
    Ok(())
}

/// Adds the line of one connection.
fn write_line<A: App>(out: &mut String, engine: &Engine<A>, client: &ClientShared, now: Now) {
    let age = |since_us: u64| now.monotonic_us().saturating_sub(since_us) / 1_000_000;
    let is_in_multi = client.is_in_multi.load(Relaxed);
    let multi = if is_in_multi {
        i64::from(client.queued_commands.load(Relaxed))
    } else {
        -1
    };
    let command = engine.last_command(client).unwrap_or("NULL");
    let (input, output) = (
        client.input_bytes.load(Relaxed),
        client.output_bytes.load(Relaxed),
    );
    let names = client.names();
    let user = printable(names.user());
    writeln!(
        out,
        "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} ssub={} \
         multi={multi} qbuf={input} qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl={output} \
         oll=0 omem=0 tot-mem={} events=r cmd={command} user={user} redir=-1 resp={} lib-name={} \
         lib-ver={}",
        client.id(),
        client.peer().address,
        client.peer().local_address,
        client.peer().descriptor,
        names.name,
        age(client.created_us),
        age(client.last_active_us.load(Relaxed)),
        flags(client),
        client.db.load(Relaxed),
        client.subscribed.channels.load(Relaxed),
        client.subscribed.patterns.load(Relaxed),
        client.subscribed.shard_channels.load(Relaxed),
        input + output,
        client.resp.load(Relaxed),
        names.library,
        names.library_version,
    )
    .expect("writing to a String cannot fail");
}

/// A user's name as one word of a line, even if it contains other bytes.
fn printable(user: &[u8]) -> String {
    user.escape_ascii().to_string().replace(' ', "\\x20")
}

/// Redis's letters for the states of a connection; `N` for no state.
fn flags(client: &ClientShared) -> String {
    let letters = [
        (client.subscribed.is_any(), 'P'),
        (client.is_in_multi.load(Relaxed), 'x'),
        (client.is_paused.load(Relaxed) || client.is_blocked(), 'b'),
        (client.is_killed(), 'A'),
        (client.peer().is_unix, 'U'),
        (client.no_evict.load(Relaxed), 'e'),
        (client.no_touch.load(Relaxed), 'T'),
    ];
    let set: String = letters
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, letter)| letter)
        .collect();
    if set.is_empty() { "N".to_owned() } else { set }
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Line, Server, check};
    use std::time::Duration;

    fn list(line: &mut Line, options: &str) -> Vec<String> {
        let reply = line.ask(&format!("CLIENT LIST {options}"));
        let text = reply
            .split_once('|')
            .map_or("", |(_, text)| text.trim_end_matches('|'));
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn info_describes_its_own_connection() {
        let mut line = Server::new().connect();
        line.ask("CLIENT SETNAME me\nCLIENT SETINFO lib-name lib\nCLIENT NO-TOUCH ON\nSELECT 2");
        line.pass(Duration::from_secs(7));
        let expected = "id=1 addr=10.0.0.1:5 laddr=10.0.0.2:6379 fd=9 name=me age=7 idle=0 flags=xT \
                        db=2 sub=0 psub=0 ssub=0 multi=1 ";
        let info = line.ask("MULTI\nCLIENT INFO\nEXEC");
        assert!(info.contains(expected), "{info}");
        assert!(
            info.contains(" cmd=client|info user=default redir=-1 resp=2 lib-name=lib lib-ver=")
        );
    }

    #[test]
    fn list_shows_all_connections_or_the_selected_ones() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(line.ask("CLIENT ID"), ":1|");
        assert_eq!(other.ask("CLIENT ID"), ":2|");
        assert_eq!(list(&mut line, "").len(), 2);
        assert_eq!(list(&mut line, "TYPE normal").len(), 2);
        assert_eq!(list(&mut line, "TYPE pubsub").len(), 0);
        let chosen = list(&mut line, "ID 2 99");
        assert!(
            chosen.len() == 1 && chosen[0].starts_with("id=2 "),
            "{chosen:?}"
        );
        drop(other);
        assert_eq!(list(&mut line, "").len(), 1);
    }

    #[test]
    fn list_refuses_unknown_options() {
        check(&[
            ("CLIENT LIST TYPE nope", "-ERR Unknown client type 'nope'|"),
            ("CLIENT LIST ID x", "-ERR Invalid client ID|"),
            ("CLIENT LIST ID", "-ERR syntax error|"),
            ("CLIENT LIST what ever", "-ERR syntax error|"),
        ]);
    }

    #[test]
    fn lines_are_verbatim_strings_in_resp3() {
        let mut line = Server::new().connect();
        line.ask("HELLO 3");
        let info = line.ask("CLIENT INFO");
        assert!(
            info.starts_with('=') && info.contains("|txt:id=1 "),
            "{info}"
        );
        assert!(info.contains(" resp=3 "), "{info}");
    }
}
