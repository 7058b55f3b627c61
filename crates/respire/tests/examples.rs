//! Tests of the examples: both flavours serve them on a free port, and clients use them over a
//! socket.

#![cfg(all(feature = "derive", feature = "msgpack"))]
#![expect(clippy::unwrap_used, reason = "a test may")]

use respire::engine::{Engine, Options};
use respire::net::{Config, Listeners, ProtectedMode, clock};
use respire::serve::{Flavour, Shutdown};
use respire::{App, Router};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

#[path = "../examples/bench_command.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod bench_command;
#[path = "../examples/echo.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod echo;
#[path = "../examples/flavour.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod flavour;
#[path = "../examples/kept_counter.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod kept_counter;
#[path = "../examples/key_value.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod key_value;
#[path = "../examples/messagepack.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod messagepack;
#[path = "../examples/rate_limiter.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod rate_limiter;
#[cfg(feature = "scripts")]
#[path = "../examples/typed_commands_in_lua.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod typed_commands_in_lua;

/// Serves the commands, sends the lines, and returns the output until the server has closed.
fn talk<A: App>(flavour: Flavour, router: Router<A>, lines: &str) -> String {
    let config = Config {
        protected_mode: ProtectedMode::new(false),
        threads: 1,
        ..Config::default()
    };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listeners = Listeners::on(&[any], &config).unwrap();
    let address = listeners.local_addresses()[0];
    let engine = Engine::new(router, Options::default(), clock::now());
    let shutdown = Shutdown::new();
    let stopper = shutdown.clone();
    let server = thread::spawn(move || flavour.serve(listeners, engine, config, stopper));
    let mut socket = TcpStream::connect(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    socket
        .write_all(format!("{lines}\nQUIT\n").as_bytes())
        .unwrap();
    let mut replies = String::new();
    socket.read_to_string(&mut replies).unwrap();
    shutdown.request();
    server.join().unwrap().unwrap();
    replies.replace("\r\n", "|")
}

#[test]
fn both_flavours_serve_every_example() {
    for flavour in Flavour::ALL.iter().copied() {
        assert_eq!(
            talk(flavour, echo::router(), "SAY hello\nSAY hello"),
            "*2|$5|hello|:1|*2|$5|hello|:2|+OK|"
        );
        assert_eq!(
            talk(
                flavour,
                messagepack::router(),
                "JOB.PUT a \"\\x92\\xa4mail\\x05\"\nJOB.GET b"
            ),
            ":1|$-1|+OK|"
        );
        let limited = talk(
            flavour,
            rate_limiter::router(),
            "LIMIT.TAKE a 100\nLIMIT.TAKE b 11 BURST 10\nLIMIT.TAKE b 0",
        );
        assert_eq!(
            limited,
            "*4|$4|left|:0|$8|reset-ms|:100000|-LIMITED retry-ms=1000|\
             -ERR n is out of range, must be from 1 to 1000|+OK|"
        );
        assert_eq!(
            talk(flavour, key_value::router(), "SET a xyz\nSIZES a b\nKEYS *"),
            "+OK|*2|$1|a|:3|-NOPERM use SCAN|+OK|"
        );
        assert_eq!(
            talk(flavour, kept_counter::router(), "HIT a\nHIT b\nHIT a"),
            ":1|:1|:2|+OK|"
        );
        assert_eq!(
            talk(flavour, flavour::router(flavour), "FLAVOUR"),
            format!("${}|{}|+OK|", flavour.name().len(), flavour.name())
        );
        assert_eq!(
            talk(flavour, bench_command::router(), "BENCH ab 3"),
            "$6|ababab|+OK|"
        );
        #[cfg(feature = "scripts")]
        assert_eq!(
            talk(
                flavour,
                typed_commands_in_lua::router(),
                "EVAL \"return redis.call('PRICE.NET', ARGV[1], 'DE')\" 0 1190"
            ),
            ":1000|+OK|"
        );
    }
}
