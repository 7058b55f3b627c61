//! `CLIENT KILL`: closes connections selected by address or other filters.

use crate::client::{ClientShared, USER};
use crate::command::after_ends;
use crate::redis::Act;
use crate::text;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Command, Cx, Error, Flags, Flow, Group, Reply, Spec,
    Tunables,
};
use resp_codec::number;

pub(super) fn commands<A: App>() -> Vec<Box<dyn Command<A>>> {
    vec![Box::new(Act {
        spec: &CLIENT_KILL,
        run: kill,
    })]
}

static CLIENT_KILL: Spec = Spec {
    name: "client|kill",
    summary: "Kill the connection of a client",
    since: "2.4.0",
    complexity: "O(N) where N is the number of client connections",
    group: Group::Connection,
    arity: Arity::at_least(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::one_of(
        "filter",
        &[
            Arg::new("ip:port", ArgKind::String).deprecated("2.8.12"),
            Arg::one_of(
                "new-format",
                &[
                    Arg::new("client-id", ArgKind::Integer)
                        .token("ID")
                        .since("2.8.12")
                        .optional(),
                    Arg::one_of(
                        "normal_master_slave_pubsub",
                        &[
                            Arg::word("normal", "NORMAL"),
                            Arg::word("master", "MASTER").since("3.2.0"),
                            Arg::word("slave", "SLAVE"),
                            Arg::word("replica", "REPLICA").since("5.0.0"),
                            Arg::word("pubsub", "PUBSUB"),
                        ],
                    )
                    .token("TYPE")
                    .since("2.8.12")
                    .optional(),
                    Arg::new("username", ArgKind::String)
                        .token("USER")
                        .optional(),
                    Arg::new("ip:port", ArgKind::String)
                        .token("ADDR")
                        .optional(),
                    Arg::new("ip:port", ArgKind::String)
                        .token("LADDR")
                        .since("6.2.0")
                        .optional(),
                    Arg::new("yes/no", ArgKind::String)
                        .token("SKIPME")
                        .optional(),
                ],
            )
            .multiple(),
        ],
    )],
    history: &[
        ("2.8.12", "Added new filter format."),
        ("2.8.12", "`ID` option."),
        ("3.2.0", "Added `master` type in for `TYPE` option."),
        (
            "5.0.0",
            "Replaced `slave` `TYPE` with `replica`. `slave` still supported for backward compatibility.",
        ),
        ("6.2.0", "`LADDR` option."),
    ],
    examples: &[
        ("CLIENT KILL ID 99", ":0\r\n"),
        ("CLIENT KILL 10.9.8.7:6543", "-ERR No such client\r\n"),
    ],
    ..Spec::EMPTY
};

/// The kinds of connection that the `TYPE` filter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    /// A connection with a subscription.
    PubSub,
    /// A kind that does not exist here: replicas and masters.
    Other,
}

impl Kind {
    pub(super) fn parse(name: &[u8]) -> Result<Self, Error> {
        const OTHERS: [&str; 3] = ["slave", "replica", "master"];
        if name.eq_ignore_ascii_case(b"normal") {
            Ok(Self::Normal)
        } else if name.eq_ignore_ascii_case(b"pubsub") {
            Ok(Self::PubSub)
        } else if OTHERS
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
        {
            Ok(Self::Other)
        } else {
            Err(Error::quoting("ERR Unknown client type '", name, "'"))
        }
    }

    pub(super) fn matches(self, client: &ClientShared) -> bool {
        match self {
            Self::Normal => !client.subscribed.is_any(),
            Self::PubSub => client.subscribed.is_any(),
            Self::Other => false,
        }
    }
}

/// The filter of connections; an option that is not given matches all.
struct Filter<'a> {
    id: Option<u64>,
    address: Option<&'a [u8]>,
    local_address: Option<&'a [u8]>,
    kind: Option<Kind>,
    user: Option<&'a [u8]>,
    skips_me: bool,
}

impl<'a> Filter<'a> {
    const ALL: Self = Self {
        id: None,
        address: None,
        local_address: None,
        kind: None,
        user: None,
        skips_me: true,
    };

    /// `<option> <value>` pairs.
    fn parse(args: ArgList<'a>, tunables: &Tunables) -> Result<Self, Error> {
        let mut filter = Self::ALL;
        let mut args = args.iter();
        while let Some((option, value)) = args.next().map(|option| (option, args.next())) {
            let value = value.ok_or(text::SYNTAX)?;
            let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
            if is(b"ID") {
                filter.id = Some(parse_id(value)?);
            } else if is(b"TYPE") {
                filter.kind = Some(Kind::parse(value)?);
            } else if is(b"ADDR") {
                filter.address = Some(value);
            } else if is(b"LADDR") {
                filter.local_address = Some(value);
            } else if is(b"USER") {
                check_user(value, tunables)?;
                filter.user = Some(value);
            } else if is(b"SKIPME") {
                filter.skips_me = parse_yes_no(value)?;
            } else {
                return Err(text::SYNTAX);
            }
        }
        Ok(filter)
    }

    fn matches(&self, client: &ClientShared) -> bool {
        let peer = client.peer();
        self.kind.is_none_or(|kind| kind.matches(client))
            && self.user.is_none_or(|user| user == client.names().user())
            && self.id.is_none_or(|id| id == client.id())
            && self
                .address
                .is_none_or(|address| address == peer.address.as_bytes())
            && self
                .local_address
                .is_none_or(|address| address == peer.local_address.as_bytes())
    }
}

fn parse_id(value: &[u8]) -> Result<u64, Error> {
    number::parse_i64(value)
        .and_then(|id| u64::try_from(id).ok())
        .filter(|id| *id > 0)
        .ok_or(Error::fixed("ERR client-id should be greater than 0"))
}

/// The users of an authenticator are not known. Without one there is a single user.
fn check_user(name: &[u8], tunables: &Tunables) -> Result<(), Error> {
    if name == USER.as_bytes() || tunables.has_authenticator() {
        return Ok(());
    }
    Err(Error::quoting("ERR No such user '", name, "'"))
}

fn parse_yes_no(value: &[u8]) -> Result<bool, Error> {
    if value.eq_ignore_ascii_case(b"yes") {
        Ok(true)
    } else if value.eq_ignore_ascii_case(b"no") {
        Ok(false)
    } else {
        Err(text::SYNTAX)
    }
}

fn kill<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
    // One argument is the old form: an address, which may be the connection's own.
    let is_old_form = args.len() == 1;
    let filter = if is_old_form {
        Ok(Filter {
            address: args.get(0),
            skips_me: false,
            ..Filter::ALL
        })
    } else {
        Filter::parse(args, &cx.engine.tunables)
    };
    let filter = match filter {
        Ok(filter) => filter,
        Err(error) => {
            reply.error(error.text());
            return Flow::Replied;
        }
    };
    let mark = reply.sink().mark();
    let (mut is_last, mut killed) = (false, 0);
    for client in cx.engine.clients.snapshot() {
        let is_me = client.id() == cx.client.id();
        if !filter.matches(&client) || (is_me && filter.skips_me) {
            continue;
        }
        killed += 1;
        if is_me {
            // Its own reply must still be sent.
            is_last = true;
            continue;
        }
        client.kill();
        if client.is_dropped_when_killed() {
            let pending_kill = cx.client.pending_kill.get_or_insert_default();
            pending_kill.killed.push(client);
        }
    }
    match (is_old_form, killed) {
        (true, 0) => reply.error("ERR No such client"),
        (true, _) => reply.ok(),
        (false, _) => reply.int(killed),
    }
    if cx.section.is_some() {
        // Inside `EXEC`, the reply of `EXEC` waits, after the section has ended.
        return if is_last { Flow::Close } else { Flow::Replied };
    }
    after_ends(cx, (reply, mark), is_last)
}

#[cfg(test)]
mod tests {
    use crate::Wake;
    use crate::redis::testing::{Server, check};
    use crate::session::{CloseReason, SessionStep};
    use std::time::Duration;

    /// A driver that drops the sessions of killed connections.
    struct Dropping;

    impl Wake for Dropping {
        fn wake(&self) {}

        fn drops_killed(&self) -> bool {
            true
        }
    }

    #[test]
    fn kill_replies_after_the_last_killed_connection_closed() {
        let server = Server::new();
        let mut line = server.connect();
        let (first, second) = (server.connect_with(Dropping), server.connect_with(Dropping));
        assert_eq!(line.ask("CLIENT KILL TYPE normal\nPING"), "");
        drop(first);
        assert_eq!(line.ask(""), "");
        drop(second);
        assert_eq!(line.ask(""), ":2|+PONG|");
        let third = server.connect_with(Dropping);
        third.session.client().shared().kill();
        drop(third);
        assert_eq!(line.ask("CLIENT KILL ID 4"), ":0|");
    }

    #[test]
    fn kill_waits_at_most_a_second_for_a_connection_that_stays_open() {
        let server = Server::new();
        let (mut line, _busy) = (server.connect(), server.connect_with(Dropping));
        assert_eq!(line.ask("CLIENT KILL ID 2"), "");
        line.pass(Duration::from_millis(999));
        assert_eq!(line.ask(""), "");
        assert!(line.session.next_timeout().is_some());
        line.pass(Duration::from_millis(1));
        assert_eq!(line.ask(""), ":1|");
    }

    #[test]
    fn kill_of_itself_and_others_replies_after_the_others_closed() {
        let server = Server::new();
        let (mut line, other) = (server.connect(), server.connect_with(Dropping));
        assert_eq!(line.ask("CLIENT KILL TYPE normal SKIPME no\nPING"), "");
        assert_eq!(line.step, SessionStep::NeedInput);
        drop(other);
        assert_eq!(line.ask("PING"), ":2|");
        assert_eq!(line.step, SessionStep::Close(CloseReason::Quit));
    }

    #[test]
    fn kill_inside_a_transaction_delays_the_reply_to_exec() {
        let server = Server::new();
        let (mut line, other) = (server.connect(), server.connect_with(Dropping));
        line.ask("MULTI\nSET a 1\nCLIENT KILL ID 2\nGET a");
        assert_eq!(line.ask("EXEC\nGET a"), "");
        drop(other);
        assert_eq!(line.ask(""), "*3|+OK|:1|$1|1|$1|1|");
        // The same for the last reply of a connection that also kills itself.
        let other = server.connect_with(Dropping);
        line.ask("MULTI\nCLIENT KILL SKIPME no\nPING");
        assert_eq!(line.ask("EXEC"), "");
        drop(other);
        assert_eq!(line.ask(""), "*2|:2|+PONG|");
        assert_eq!(line.step, SessionStep::Close(CloseReason::Quit));
    }

    #[test]
    fn connections_that_kill_each_other_both_close() {
        let server = Server::new();
        let (mut one, mut two) = (server.connect_with(Dropping), server.connect_with(Dropping));
        assert_eq!(one.ask("CLIENT KILL ID 2"), "");
        assert_eq!(two.ask("CLIENT KILL ID 1"), "");
        assert_eq!(two.step, SessionStep::Close(CloseReason::Killed));
        drop(two);
        assert_eq!(one.ask(""), ":1|");
    }

    #[test]
    fn kill_by_id_closes_the_other_connection() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(
            line.ask("CLIENT KILL ID 2 LADDR 10.0.0.2:6379 USER default"),
            ":1|"
        );
        assert_eq!(other.ask("PING"), "");
        assert_eq!(other.step, SessionStep::Close(CloseReason::Killed));
        assert_eq!(line.ask("CLIENT KILL ID 1"), ":0|");
    }

    #[test]
    fn kill_by_address_in_the_old_form_may_close_its_own_connection() {
        let mut line = Server::new().connect();
        assert_eq!(line.ask("CLIENT KILL 1.2.3.4:5"), "-ERR No such client|");
        assert_eq!(line.ask("CLIENT KILL 10.0.0.1:5\nPING"), "+OK|");
        assert!(matches!(line.step, SessionStep::Close(_)));
    }

    #[test]
    fn kill_skips_its_own_connection_by_default() {
        let mut line = Server::new().connect();
        assert_eq!(line.ask("CLIENT KILL TYPE normal"), ":0|");
        assert_eq!(line.ask("CLIENT KILL TYPE replica SKIPME no"), ":0|");
        assert_eq!(line.ask("CLIENT KILL SKIPME no ADDR 10.0.0.1:5"), ":1|");
        assert!(matches!(line.step, SessionStep::Close(_)));
    }

    #[test]
    fn kill_refuses_invalid_filters() {
        let id = "-ERR client-id should be greater than 0|";
        check(&[
            ("CLIENT KILL ID 0", id),
            ("CLIENT KILL ID abc", id),
            ("CLIENT KILL ID 1 SKIPME", "-ERR syntax error|"),
            ("CLIENT KILL SKIPME maybe", "-ERR syntax error|"),
            ("CLIENT KILL what ever", "-ERR syntax error|"),
            ("CLIENT KILL TYPE nope", "-ERR Unknown client type 'nope'|"),
            ("CLIENT KILL USER nobody", "-ERR No such user 'nobody'|"),
        ]);
    }
}
