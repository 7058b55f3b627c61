//! `HELLO` and `AUTH`: authenticate a connection, and choose its protocol.

use super::client::set_name;
use super::{Act, Rows, VERSION};
use crate::client::USER;
use crate::observe::stats::Stats;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Client, Cx, Error, Flags, Flow, Group, Proto, Reply,
};
use crate::{Spec, Tunables, text};
use resp_codec::{Encoder, number};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.add(Act {
        spec: &HELLO,
        run: |cx, args, reply| answer(hello, cx, args, reply),
    })
    .add(Act {
        spec: &AUTH,
        run: |cx, args, reply| answer(auth, cx, args, reply),
    })
}

const WRONG_PASSWORD: Error =
    Error::fixed("WRONGPASS invalid username-password pair or user is disabled.");
const HELLO_NEEDS_AUTH: Error = Error::fixed(
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH \
     <user> <pass> option can be used to authenticate the client and select the RESP protocol \
     version at the same time",
);
const NO_PASSWORD_SET: Error = Error::fixed(
    "ERR AUTH <password> called without any password configured for the default user. Are you \
     sure your configuration is correct?",
);

static HELLO: Spec = Spec {
    name: "hello",
    summary: "Handshake with Redis",
    since: "6.0.0",
    group: Group::Connection,
    arity: Arity::at_least(1),
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::NO_AUTH)
        .with(Flags::ALLOW_BUSY),
    args: &[Arg::block(
        "arguments",
        &[
            Arg::new("protover", ArgKind::Integer),
            Arg::block(
                "username_password",
                &[
                    Arg::new("username", ArgKind::String),
                    Arg::new("password", ArgKind::String),
                ],
            )
            .token("AUTH")
            .optional(),
            Arg::new("clientname", ArgKind::String)
                .token("SETNAME")
                .optional(),
        ],
    )
    .optional()],
    history: &[(
        "6.2.0",
        "`protover` made optional; when called without arguments the command reports the current connection's context.",
    )],
    examples: &[
        ("HELLO 4", "-NOPROTO unsupported protocol version\r\n"),
        (
            "HELLO 2 SETNAME worker",
            "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n",
        ),
    ],
    ..Spec::EMPTY
};

static AUTH: Spec = Spec {
    name: "auth",
    summary: "Authenticate to the server",
    since: "1.0.0",
    complexity: "O(N) where N is the number of passwords defined for the user",
    group: Group::Connection,
    arity: Arity::at_least(2),
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::NO_AUTH)
        .with(Flags::ALLOW_BUSY),
    args: &[
        Arg::new("username", ArgKind::String)
            .since("6.0.0")
            .optional(),
        Arg::new("password", ArgKind::String),
    ],
    history: &[("6.0.0", "Added ACL style (username and password).")],
    examples: &[
        ("CONFIG SET requirepass secret", "+OK\r\n"),
        ("AUTH secret", "+OK\r\n"),
        ("AUTH default secret", "+OK\r\n"),
        (
            "AUTH wrong",
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

/// A command that may authenticate. It writes its reply and sets the last argument to the delay of
/// the reply in microseconds.
type Attempt<A> = fn(&mut Cx<'_, A>, ArgList<'_>, &mut Reply<'_>, &mut u64) -> Result<(), Error>;

/// Runs an attempt and delays its reply.
fn answer<A: App>(
    attempt: Attempt<A>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Flow {
    let mut wait_us = 0;
    if let Err(error) = attempt(cx, args, reply, &mut wait_us) {
        reply.error(error.text());
    }
    if wait_us == 0 {
        Flow::Replied
    } else {
        Flow::RepliedAfter { wait_us }
    }
}

/// Applies the options of `HELLO` one by one, as Redis does: options before a refused one stay
/// applied.
fn apply_options<A: App>(
    cx: &mut Cx<'_, A>,
    options: ArgList<'_>,
    wait_us: &mut u64,
) -> Result<(), Error> {
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        if is(b"AUTH") && options.len() >= 2 {
            let (user, password) = (options.next(), options.next());
            let pair = (user.unwrap_or_default(), password.unwrap_or_default());
            log_in(cx, pair, wait_us)?;
        } else if is(b"SETNAME")
            && let Some(name) = options.next()
        {
            set_name(cx.client, name)?;
        } else {
            return Err(Error::quoting(
                "ERR Syntax error in HELLO option '",
                option,
                "'",
            ));
        }
    }
    Ok(())
}

fn hello<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    wait_us: &mut u64,
) -> Result<(), Error> {
    let proto = args.get(0).map(protocol).transpose()?;
    apply_options(cx, args.skip(1), wait_us)?;
    if cx.client.is_unauthenticated(&cx.engine.tunables) {
        return Err(HELLO_NEEDS_AUTH);
    }
    // The binary protocol has only one form of reply.
    if let Some(proto) = proto.filter(|_| cx.client.proto != Proto::Binary) {
        cx.client.set_proto(proto);
    }
    write_properties(cx.client, &mut Encoder::new(reply.sink(), cx.client.proto));
    Ok(())
}

fn protocol(version: &[u8]) -> Result<Proto, Error> {
    match number::parse_i64(version) {
        Some(2) => Ok(Proto::Resp2),
        Some(3) => Ok(Proto::Resp3),
        Some(_) => Err(Error::fixed("NOPROTO unsupported protocol version")),
        None => Err(Error::fixed(
            "ERR Protocol version is not an integer or out of range",
        )),
    }
}

/// Writes the reply to `HELLO`, in the protocol that it chose.
fn write_properties(client: &Client, reply: &mut Reply<'_>) {
    reply.map(7);
    reply.bulk("server");
    reply.bulk("redis");
    reply.bulk("version");
    reply.bulk(VERSION);
    reply.bulk("proto");
    reply.int(if client.proto == Proto::Resp3 { 3 } else { 2 });
    reply.bulk("id");
    reply.int(client.id() as i64);
    reply.bulk("mode");
    reply.bulk("standalone");
    reply.bulk("role");
    reply.bulk("master");
    reply.bulk("modules");
    reply.array(0);
}

fn auth<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    wait_us: &mut u64,
) -> Result<(), Error> {
    match args.len() {
        1 if !cx.engine.tunables.has_password() => return Err(NO_PASSWORD_SET),
        1 => log_in(cx, (USER.as_bytes(), &args[0]), wait_us)?,
        2 => log_in(cx, (&args[0], &args[1]), wait_us)?,
        _ => return Err(text::SYNTAX),
    }
    reply.ok();
    Ok(())
}

/// Authenticates a connection. If that fails, its state stays as it was. After wrong passwords the
/// reply is delayed, whether this one is right or wrong.
fn log_in<A: App>(
    cx: &mut Cx<'_, A>,
    (user, password): (&[u8], &[u8]),
    wait_us: &mut u64,
) -> Result<(), Error> {
    let is_right = match &cx.engine.authenticator {
        Some(authenticator) => authenticator.authenticate(cx, user, password),
        None => is_the_password(&cx.engine.tunables, user, password),
    };
    let (shared, engine) = (&cx.client.shared, cx.engine);
    let mut own = shared.lock_wrong_passwords();
    *wait_us += engine
        .guard
        .attempt((shared.peer(), &mut own), is_right, cx.now, &engine.limits);
    drop(own);
    if !is_right {
        Stats::add(&engine.stats.auth_denied, 1);
        return Err(WRONG_PASSWORD);
    }
    cx.client.is_authenticated = true;
    cx.client.shared.names().user = user.into();
    Ok(())
}

fn is_the_password(tunables: &Tunables, user: &[u8], password: &[u8]) -> bool {
    // Compare even if the user does not exist, so that the time taken does not reveal which users
    // exist.
    let is_right = tunables.password_is(password) || !tunables.has_password();
    is_right && user == USER.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Passwords;
    use crate::redis::testing::{Cells, Line, Server, check};
    use std::time::Duration;

    const WRONG: &str = "-WRONGPASS invalid username-password pair or user is disabled.|";

    #[test]
    fn hello_replies_in_the_protocol_it_chooses() {
        let mut line = Server::new().connect();
        let fields = |head: &str, proto: u8| {
            format!(
                "{head}|$6|server|$5|redis|$7|version|$6|7.0.15|$5|proto|:{proto}|$2|id|:1|$4|mode|\
                 $10|standalone|$4|role|$6|master|$7|modules|*0|"
            )
        };
        assert_eq!(line.ask("HELLO"), fields("*14", 2));
        assert_eq!(line.ask("HELLO 3"), fields("%7", 3));
        assert_eq!(line.ask("HELLO"), fields("%7", 3));
        assert_eq!(line.ask("HELLO 2"), fields("*14", 2));
    }

    #[test]
    fn invalid_hello_does_not_change_the_protocol() {
        let version = "-ERR Protocol version is not an integer or out of range|";
        check(&[
            ("HELLO abc", version),
            ("HELLO 03", version),
            ("HELLO 1", "-NOPROTO unsupported protocol version|"),
            ("HELLO 4", "-NOPROTO unsupported protocol version|"),
            ("HELLO 3 foo", "-ERR Syntax error in HELLO option 'foo'|"),
            (
                "HELLO 3 AUTH default",
                "-ERR Syntax error in HELLO option 'AUTH'|",
            ),
            (
                "HELLO 3 SETNAME",
                "-ERR Syntax error in HELLO option 'SETNAME'|",
            ),
            ("HELLO 3 AUTH nobody pw", WRONG),
            (
                "HELLO 3 SETNAME \"a b\"",
                "-ERR Client names cannot contain spaces, newlines or special characters.|",
            ),
            ("GET a", "$-1|"),
        ]);
    }

    #[test]
    fn hello_of_an_unauthenticated_client_needs_the_password() {
        let server = Server::new();
        server.engine.tunables().set_password(b"pw");
        let mut line = server.connect();
        assert!(
            line.ask("HELLO 3")
                .starts_with("-NOAUTH HELLO must be called with the client")
        );
        assert_eq!(line.ask("HELLO 3 AUTH default no"), WRONG);
        assert_eq!(line.ask("GET a"), "-NOAUTH Authentication required.|");
        assert!(
            line.ask("HELLO 3 SETNAME me AUTH default pw")
                .starts_with("%7|")
        );
        assert_eq!(line.ask("CLIENT GETNAME\nGET a"), "$2|me|_|");
    }

    #[test]
    fn auth_accepts_the_password_with_or_without_the_user() {
        let server = Server::new();
        let mut line = server.connect();
        let none = line.ask("AUTH pw");
        assert!(none.starts_with("-ERR AUTH <password> called without any password configured"));
        assert_eq!(
            line.ask("AUTH default anything\nAUTH a b c"),
            "+OK|-ERR syntax error|"
        );
        server.engine.tunables().set_password(b"pw");
        let mut line = server.connect();
        assert_eq!(
            line.ask("AUTH no\nAUTH default no\nAUTH nobody pw"),
            WRONG.repeat(3)
        );
        let mut line = server.connect_from("10.0.0.7:5");
        assert_eq!(
            line.ask("AUTH pw\nAUTH no\nGET a"),
            format!("+OK|{WRONG}$-1|")
        );
        assert_eq!(line.ask("AUTH default pw"), "+OK|");
    }

    #[test]
    fn removing_the_password_gives_everyone_access() {
        let server = Server::new();
        server.engine.tunables().set_password(b"pw");
        let mut line = server.connect();
        assert_eq!(line.ask("GET a"), "-NOAUTH Authentication required.|");
        server.engine.tunables().set_password(b"");
        assert_eq!(line.ask("GET a"), "$-1|");
    }

    #[test]
    fn hello_does_not_change_the_binary_protocol() {
        let mut line = Server::new().connect();
        let mut call = |args: &[&str]| {
            let mut bytes = Vec::new();
            resp_codec::binary::write_call(&mut bytes, args);
            let mut out = crate::Output::new();
            assert_eq!(
                line.session.serve(&bytes, line.now, &mut out),
                crate::session::SessionStep::NeedInput
            );
            out.take()
        };
        let plain = call(&["GET", "a"]);
        assert_eq!(call(&["HELLO", "3"])[..5], [b'%', 7, 0, 0, 0]);
        assert_eq!(call(&["RESET"]), b"+\x05\0\0\0RESET");
        assert_eq!(call(&["GET", "a"]), plain);
    }

    #[test]
    fn authenticator_replaces_the_password() {
        let users = Passwords::new()
            .with("alice", "wonder land")
            .with("default", "pw");
        let server = Server::with(|router| router.auth(users));
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(line.ask("GET a"), "-NOAUTH Authentication required.|");
        assert!(line.ask("HELLO 3").starts_with("-NOAUTH HELLO must be"));
        assert_eq!(line.ask("AUTH alice pw\nAUTH nobody pw"), WRONG.repeat(2));
        assert_eq!(
            line.ask("AUTH alice \"wonder land\"\nACL WHOAMI"),
            "+OK|$5|alice|"
        );
        assert!(line.ask("CLIENT LIST").contains(" user=alice "));
        assert!(other.ask("HELLO 3 AUTH default pw").starts_with("%7|"));
        assert_eq!(other.ask("ACL WHOAMI"), "$7|default|");
        assert_eq!(
            other.ask("CLIENT KILL USER alice\nCLIENT KILL USER nobody"),
            ":1|:0|"
        );
        assert_eq!(
            other.ask("RESET\nGET a"),
            "+RESET|-NOAUTH Authentication required.|"
        );
        assert_eq!(other.ask("AUTH pw\nACL WHOAMI"), "+OK|$7|default|");
        assert_eq!(
            other.ask("CONFIG SET requirepass x"),
            "-ERR CONFIG SET failed (possibly related to argument 'requirepass') - this service \
             has an authenticator of its own|"
        );
        // Removing the password does not give access either.
        server.engine.tunables().set_password(b"");
        assert_eq!(
            server.connect().ask("GET a"),
            "-NOAUTH Authentication required.|"
        );
    }

    #[test]
    fn unauthenticated_clients_have_tight_limits_until_an_authenticator_accepts_them() {
        let server = Server::with(|router| {
            router.auth(|_: &mut Cx<'_, Cells>, user: &[u8], _: &[u8]| user == b"a b\xff")
        });
        let mut line = server.connect();
        let mut out = crate::Output::new();
        let big = format!("*2\r\n$3\r\nGET\r\n${}\r\n", 1 << 20);
        let _ = line.session.serve(big.as_bytes(), line.now, &mut out);
        assert_eq!(
            out.take(),
            b"-ERR Protocol error: unauthenticated bulk length\r\n"
        );
        let mut line = server.connect();
        assert_eq!(line.ask("AUTH \"a b\\xff\" x"), "+OK|");
        assert!(line.ask("CLIENT INFO").contains(" user=a\\x20b\\xff "));
        assert_eq!(
            line.session.serve(big.as_bytes(), line.now, &mut out),
            crate::session::SessionStep::NeedInput
        );
    }

    /// Repeats a request, and advances the time by at most this much until the last reply is due.
    fn guess(line: &mut Line, request: &str, by: Duration) -> usize {
        let (mut answers, mut passed) = (0, Duration::ZERO);
        let mut reply = line.ask(request);
        loop {
            answers += reply.matches("WRONGPASS").count();
            let Some(due_us) = line.session.next_timeout() else {
                return answers;
            };
            let wait = Duration::from_micros(due_us - line.now.monotonic_us());
            passed += wait;
            if passed > by {
                return answers;
            }
            line.pass(wait);
            reply = line.poll();
        }
    }

    #[test]
    fn ten_thousand_wrong_passwords_in_a_pipeline_take_hours() {
        let server = Server::new();
        server.engine.tunables().set_password(b"pw");
        for request in ["AUTH guess", "HELLO 3 AUTH default guess"] {
            let mut line = server.connect_from(&format!("10.0.0.{}:5", request.len()));
            let pipeline = vec![request; 10_000].join("\n");
            // Three at once, then after 0.1, 0.2, 0.4 and 0.8 seconds, then one per second.
            assert_eq!(
                guess(&mut line, &pipeline, Duration::from_secs(60)),
                3 + 4 + 58
            );
            // No more input is read until it is answered.
            assert!(!line.session.wants_input(&crate::Output::new()));
            // Other addresses are not delayed.
            assert_eq!(server.connect_from("10.9.0.1:5").ask("AUTH pw"), "+OK|");
        }
        let mut line = server.connect_from("10.9.0.1:6");
        let info = line.ask("AUTH pw\nINFO stats");
        assert!(info.contains("acl_access_denied_auth:132|"), "{info}");
        assert!(line.ask("SLOWLOG GET 100").len() < 200);
    }

    #[test]
    fn reconnecting_does_not_make_guessing_faster() {
        let server = Server::new();
        server.engine.tunables().set_password(b"pw");
        let mut now = server.connect().now;
        let (mut answers, mut waited) = (0, 0);
        for port in 1..=10_000 {
            let mut line = server.connect_from(&format!("10.0.0.1:{port}"));
            line.now = now;
            // It does not wait for a reply that does not come at once.
            answers += line.ask("AUTH guess").matches("WRONGPASS").count();
            waited += usize::from(line.session.next_timeout().is_some());
            now = now.after(Duration::from_millis(1));
        }
        assert_eq!((answers, waited), (3, 9997));
        // The right password from that address is delayed like wrong ones, and accepted.
        let mut line = server.connect_from("10.0.0.1:99");
        line.now = now;
        assert_eq!(line.ask("AUTH pw"), "");
        line.pass(Duration::from_secs(1));
        assert_eq!(line.poll(), "+OK|");
    }

    #[test]
    fn wrong_passwords_are_reported_without_the_attempt() {
        let server = Server::new();
        server.engine.tunables().set_password(b"pw");
        let mut line = server.connect();
        line.ask("AUTH guess\nAUTH guess guess");
        server.engine.tick(line.now);
        line.ask("AUTH guess");
        server.engine.tick(line.now);
        line.pass(Duration::from_secs(60));
        server.engine.tick(line.now);
        assert_eq!(
            server.process.take_reports(),
            ["2 wrong from 10.0.0.1:5", "1 wrong from 10.0.0.1:5"]
        );
    }
}
