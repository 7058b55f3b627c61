//! `TIME` `LOLWUT` `SHUTDOWN`: commands on the server as a whole.

use super::{Act, Rows, VERSION};
use crate::command::keeper::{NOT_STOPPED, ShutdownCall, ShutdownOptions};
use crate::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Flow, Group, Reply, Row};
use crate::{Spec, text};
use resp_codec::number;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.add(Row {
        spec: &TIME,
        run: time,
    })
    .add(Row {
        spec: &LOLWUT,
        run: lolwut,
    })
    .add(Act {
        spec: &SHUTDOWN,
        run: shutdown,
    })
}

static TIME: Spec = Spec {
    name: "time",
    summary: "Return the current server time",
    since: "2.6.0",
    group: Group::Server,
    flags: Flags::LOADING
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    tips: &["nondeterministic_output"],
    ..Spec::EMPTY
};

static LOLWUT: Spec = Spec {
    name: "lolwut",
    summary: "Display some computer art and the Redis version",
    since: "5.0.0",
    complexity: "",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::READONLY.with(Flags::FAST),
    args: &[Arg::new("version", ArgKind::Integer)
        .token("VERSION")
        .optional()],
    ..Spec::EMPTY
};

static SHUTDOWN: Spec = Spec {
    name: "shutdown",
    summary: "Synchronously save the dataset to disk and then shut down the server",
    since: "1.0.0",
    complexity: "O(N) when saving, where N is the total number of keys in all databases when saving data, otherwise O(1)",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::NO_MULTI)
        .with(Flags::ALLOW_BUSY),
    args: &[
        Arg::one_of(
            "nosave_save",
            &[Arg::word("nosave", "NOSAVE"), Arg::word("save", "SAVE")],
        )
        .optional(),
        Arg::word("now", "NOW").since("7.0.0").optional(),
        Arg::word("force", "FORCE").since("7.0.0").optional(),
        Arg::word("abort", "ABORT").since("7.0.0").optional(),
    ],
    history: &[("7.0.0", "Added the `NOW`, `FORCE` and `ABORT` modifiers.")],
    ..Spec::EMPTY
};

fn time<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let us = cx.now.unix_us();
    reply.array(2);
    reply.bulk_int((us / 1_000_000) as i64);
    reply.bulk_int((us % 1_000_000) as i64);
    Ok(())
}

/// `LOLWUT [VERSION n] [columns] [breaths]`: draws a breathing curve.
fn lolwut<A: App>(
    _: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let is_version = |word: &[u8]| word.eq_ignore_ascii_case(b"VERSION");
    let options = match args.get(1) {
        Some(version) if args.get(0).is_some_and(is_version) => {
            number::parse_i64(version).ok_or(text::NOT_AN_INTEGER)?;
            args.skip(2)
        }
        _ => args,
    };
    // An argument that is not a number is replaced by the default, because the picture is only for
    // fun.
    let option = |at, default: i64, max| {
        let number = options.get(at).and_then(number::parse_i64);
        number.unwrap_or(default).clamp(1, max)
    };
    let (columns, breaths) = (option(0, 66, 160), option(1, 3, 20));
    let picture = breath(columns as usize, breaths as usize);
    let ours = env!("CARGO_PKG_VERSION");
    let text = format!("{picture}\nIn, and out. Respire ver. {ours}, as Redis ver. {VERSION}\n");
    reply.verbatim(*b"txt", text.as_bytes());
    Ok(())
}

/// A sine curve in Braille dots, 2 × 4 dots per character.
fn breath(columns: usize, breaths: usize) -> String {
    const ROWS: usize = 6;
    const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let (width, height) = (columns * 2, ROWS * 4);
    let mut cells = vec![0; columns * ROWS];
    for x in 0..width {
        let phase = x as f64 / width as f64 * breaths as f64 * std::f64::consts::TAU;
        let y = ((1.0 + phase.cos()) / 2.0 * (height - 1) as f64).round() as usize;
        cells[y / 4 * columns + x / 2] |= DOTS[y % 4][x % 2];
    }
    let mut picture = String::with_capacity(cells.len() * 3 + ROWS);
    for row in cells.chunks(columns) {
        const BLANK: u32 = 0x2800;
        picture.extend(row.iter().filter_map(|dots| char::from_u32(BLANK + dots)));
        picture.push('\n');
    }
    picture
}

/// `SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]`. Without a [`Keeper`](crate::Keeper) there is no data
/// to save, and open requests are always answered, so the first four make no difference.
fn shutdown<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
    let given = |word: &str| {
        args.iter()
            .any(|arg| arg.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_known = |arg: &[u8]| {
        const WORDS: [&str; 5] = ["NOSAVE", "SAVE", "NOW", "FORCE", "ABORT"];
        WORDS
            .iter()
            .any(|word| arg.eq_ignore_ascii_case(word.as_bytes()))
    };
    let clashes = (given("ABORT") && args.len() > 1) || (given("SAVE") && given("NOSAVE"));
    let error = if clashes || !args.iter().all(is_known) {
        text::SYNTAX
    } else if given("ABORT") {
        let keeper = cx.engine.keeper.get();
        if keeper.is_some_and(|keeper| keeper.abort_shutdown()) {
            reply.ok();
            return Flow::Replied;
        }
        Error::fixed("ERR No shutdown in progress.")
    } else if let Some(keeper) = cx.engine.keeper.get() {
        let options = ShutdownOptions {
            save: given("SAVE")
                .then_some(true)
                .or(given("NOSAVE").then_some(false)),
            now: given("NOW"),
            force: given("FORCE"),
        };
        let call = ShutdownCall::new(cx.later(), &cx.engine.host);
        keeper.before_shutdown(options, call);
        return Flow::Pending;
    } else if cx.engine.host.shutdown() {
        return Flow::Close;
    } else {
        NOT_STOPPED
    };
    reply.error(error.text());
    Flow::Replied
}

#[cfg(test)]
mod tests {
    use super::breath;
    use crate::redis::testing::{Server, check};
    use crate::session::SessionStep;
    use crate::{Keeper, ShutdownCall, ShutdownOptions};
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, Mutex};

    #[test]
    fn time_is_seconds_and_microseconds() {
        check(&[("TIME", "*2|$10|1700000000|$6|123456|")]);
    }

    #[test]
    fn lolwut_ends_with_the_versions() {
        let mut line = Server::new().connect();
        for request in [
            "LOLWUT",
            "LOLWUT VERSION 5",
            "LOLWUT VERSION 5 1 1",
            "LOLWUT wide",
        ] {
            let reply = line.ask(request);
            assert!(reply.ends_with(", as Redis ver. 7.0.15\n|"), "{reply}");
        }
        assert_eq!(
            line.ask("LOLWUT VERSION x"),
            "-ERR value is not an integer or out of range|"
        );
    }

    #[test]
    fn breath_has_the_requested_width() {
        let picture = breath(10, 1);
        assert_eq!(picture.lines().count(), 6);
        assert!(picture.lines().all(|line| line.chars().count() == 10));
    }

    #[test]
    fn shutdown_closes_without_a_reply_if_the_host_can_stop() {
        let server = Server::new();
        let mut line = server.connect();
        let cannot = "-ERR Errors trying to SHUTDOWN. Check logs.|";
        assert_eq!(line.ask("SHUTDOWN NOSAVE"), cannot);
        server.process.can_stop.store(true, Ordering::Relaxed);
        assert_eq!(line.ask("SHUTDOWN nosave now force\nPING"), "");
        assert!(matches!(line.step, SessionStep::Close(_)));
    }

    /// Remembers the calls, for the test to end.
    #[derive(Default)]
    struct Slow(Mutex<Vec<(ShutdownOptions, ShutdownCall)>>);

    impl Slow {
        fn take(&self) -> Vec<(ShutdownOptions, ShutdownCall)> {
            std::mem::take(&mut *self.0.lock().expect("no test panics with it held"))
        }
    }

    impl Keeper for Slow {
        fn before_shutdown(&self, options: ShutdownOptions, call: ShutdownCall) {
            let mut calls = self.0.lock().expect("no test panics with it held");
            calls.push((options, call));
        }

        fn abort_shutdown(&self) -> bool {
            !self.take().is_empty()
        }
    }

    #[test]
    fn keeper_decides_when_and_whether_the_server_stops() {
        const CANNOT: &str = "-ERR Errors trying to SHUTDOWN. Check logs.|";
        let (server, keeper) = (Server::new(), Arc::new(Slow::default()));
        server.engine.set_keeper(Arc::clone(&keeper) as _);
        let (mut line, mut other) = (server.connect(), server.connect());
        let mut ask = |request: &str, end: fn(ShutdownCall)| {
            assert_eq!(line.ask(request), "");
            let (options, call) = keeper.take().pop().expect("it was asked");
            end(call);
            (options, line.poll())
        };
        let (options, reply) = ask("SHUTDOWN", ShutdownCall::fail);
        assert_eq!((options, &*reply), (ShutdownOptions::default(), CANNOT));
        let (options, reply) = ask("SHUTDOWN save force", drop);
        assert!(options.save == Some(true) && options.force && reply == CANNOT);
        let (options, reply) = ask("SHUTDOWN NOSAVE NOW", ShutdownCall::stop);
        assert!(options.save == Some(false) && options.now && reply == CANNOT);
        server.process.can_stop.store(true, Ordering::Relaxed);
        assert_eq!(ask("SHUTDOWN", ShutdownCall::stop).1, "");

        assert_eq!(line.ask("SHUTDOWN"), "");
        assert_eq!(other.ask("SHUTDOWN ABORT"), "+OK|");
        assert_eq!(line.poll(), CANNOT);
        assert_eq!(
            other.ask("SHUTDOWN ABORT"),
            "-ERR No shutdown in progress.|"
        );
    }

    #[test]
    fn shutdown_refuses_invalid_options() {
        check(&[
            ("SHUTDOWN what", "-ERR syntax error|"),
            ("SHUTDOWN SAVE NOSAVE", "-ERR syntax error|"),
            ("SHUTDOWN ABORT NOW", "-ERR syntax error|"),
            ("SHUTDOWN ABORT", "-ERR No shutdown in progress.|"),
        ]);
    }
}
