//! A session of redis-rs. Usage: redis-rs PORT PROTOCOL
#![expect(clippy::print_stderr, reason = "a failed session says why")]

use redis::{Client, Commands, Connection, ErrorKind, RedisResult, Value, cmd, pipe};
use std::collections::{HashMap, HashSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, expected: &T) -> Outcome {
    if got == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected:?}, got {got:?}").into())
    }
}

fn expect_error(what: &str, got: RedisResult<Value>, text: &str) -> Outcome {
    match got {
        Err(error) if error.to_string().contains(text) => Ok(()),
        other => Err(format!("{what}: expected an error with {text:?}, got {other:?}").into()),
    }
}

fn strings(c: &mut Connection) -> Outcome {
    let () = c.set("s", "value")?;
    expect("GET", &c.get::<_, String>("s")?, &"value".to_owned())?;
    expect(
        "GET of nothing",
        &c.get::<_, Option<String>>("missing")?,
        &None,
    )?;
    expect("SETNX", &c.set_nx::<_, _, bool>("s", "other")?, &false)?;
    let () = c.mset(&[("a", 1), ("b", 2)])?;
    let values: Vec<Option<i64>> = c.mget(&["a", "missing", "b"])?;
    expect("MGET", &values, &vec![Some(1), None, Some(2)])?;
    expect("INCRBY", &c.incr::<_, _, i64>("a", 41)?, &42)?;
    expect("APPEND", &c.append::<_, _, usize>("s", "r")?, &6)?;
    expect(
        "GETRANGE",
        &c.getrange::<_, String>("s", 0, 2)?,
        &"val".to_owned(),
    )?;
    let blob: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    let () = c.set("blob", &blob)?;
    expect("a large value", &c.get::<_, Vec<u8>>("blob")?, &blob)
}

fn expiry(c: &mut Connection) -> Outcome {
    let () = c.set_ex("t", "v", 100)?;
    expect("TTL", &c.ttl::<_, i64>("t")?, &100)?;
    let () = c.pset_ex("t", "v", 30)?;
    let began = Instant::now();
    while c.exists("t")? {
        if began.elapsed() > Duration::from_secs(5) {
            return Err("a key did not expire".into());
        }
    }
    Ok(())
}

fn pipelines_and_transactions(c: &mut Connection, client: &Client) -> Outcome {
    let mut many = pipe();
    (0..1000).for_each(|i| {
        many.set(format!("p:{i}"), i).ignore();
    });
    let () = many.query(c)?;
    let replies: (String, i64, i64) = pipe().atomic().set("x", 1).incr("x", 1).get("x").query(c)?;
    expect("MULTI/EXEC", &replies, &("OK".to_owned(), 2, 2))?;
    let mut other = client.get_connection()?;
    let () = cmd("WATCH").arg("x").query(c)?;
    let () = other.set("x", 10)?;
    let refused: Option<()> = pipe().atomic().set("x", 0).ignore().query(c)?;
    expect("a transaction on a changed key", &refused, &None)?;
    expect("a refused transaction", &c.get::<_, i64>("x")?, &10)?;
    let sum: (i64,) = redis::transaction(c, &["x"], |c, pipe| {
        let x: i64 = c.get("x")?;
        pipe.set("x", x + 1).ignore().get("x").query(c)
    })?;
    expect("transaction()", &sum, &(11,))
}

fn scanning(c: &mut Connection) -> Outcome {
    let found: HashSet<String> = c
        .scan_match::<_, String>("p:*")?
        .collect::<RedisResult<_>>()?;
    expect("SCAN", &found.len(), &1000)
}

fn errors_and_maps(c: &mut Connection) -> Outcome {
    expect_error("INCR of text", c.incr("s", 1), "not an integer")?;
    expect_error("NOSUCH", cmd("NOSUCH").arg("a").query(c), "unknown command")?;
    expect_error("GET", cmd("GET").query(c), "wrong number of arguments")?;
    let config: HashMap<String, String> = cmd("CONFIG").arg("GET").arg("maxmemory").query(c)?;
    expect("CONFIG GET", &config["maxmemory"], &"0".to_owned())?;
    let wrong = c.get::<_, i64>("s").map_err(|error| error.kind());
    expect(
        "GET of text as a number",
        &wrong.is_err_and(|kind| kind != ErrorKind::Io),
        &true,
    )
}

fn reconnect(c: &mut Connection, client: &Client) -> Outcome {
    let mut other = client.get_connection()?;
    let own: i64 = cmd("CLIENT").arg("ID").query(&mut other)?;
    let killed: i64 = cmd("CLIENT").arg("KILL").arg("ID").arg(own).query(c)?;
    expect("CLIENT KILL", &killed, &1)?;
    let lost = cmd("PING").query::<String>(&mut other);
    expect(
        "PING on a killed connection",
        &lost.is_err_and(|error| error.is_connection_dropped()),
        &true,
    )?;
    expect(
        "PING on a new connection",
        &cmd("PING").query(&mut client.get_connection()?)?,
        &"PONG".to_owned(),
    )
}

fn session(port: &str, protocol: &str) -> Outcome {
    let resp3 = if protocol == "3" {
        "?protocol=resp3"
    } else {
        ""
    };
    let client = Client::open(format!("redis://127.0.0.1:{port}/{resp3}"))?;
    let mut c = client.get_connection()?;
    let () = cmd("FLUSHALL").query(&mut c)?;
    strings(&mut c)?;
    expiry(&mut c)?;
    pipelines_and_transactions(&mut c, &client)?;
    scanning(&mut c)?;
    errors_and_maps(&mut c)?;
    reconnect(&mut c, &client)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let [_, port, protocol] = args.as_slice() else {
        eprintln!("usage: redis-rs PORT PROTOCOL");
        return ExitCode::FAILURE;
    };
    match session(port, protocol) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
