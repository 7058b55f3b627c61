//! Tests of whole runs: against a small server in this file, and against redis-server if it is
//! installed.
#![expect(clippy::unwrap_used, reason = "the small server is part of the tests")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use resp_codec::{Args, CommandDecoder, Encoder, Limits, Proto, Step, binary};
use respire_bench::check::Verify;
use respire_bench::compare::{Contender, Contest};
use respire_bench::engine::{Beside, Bound, Load};
use respire_bench::launch::{Probe, Server, words};
use respire_bench::target::{Client, Login, Target};
use respire_bench::workload::{Kind, Mix, Pattern, Protocol, Workload};

type Entries = Arc<Mutex<HashMap<Vec<u8>, Vec<u8>>>>;

/// How the small server misbehaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Every value has its last byte changed.
    WrongValues,
    /// Every SET gets an error reply.
    Errors,
    /// The connection closes at the first GET.
    Closes,
}

/// Starts the small server; its threads end with their connections.
fn serve(fault: Fault) -> Target {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let entries = Entries::default();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, entries) = (stream.unwrap(), Arc::clone(&entries));
            thread::spawn(move || serve_connection(stream, &entries, fault));
        }
    });
    Target::Tcp {
        host: "127.0.0.1".to_owned(),
        port,
    }
}

fn serve_connection(mut stream: TcpStream, entries: &Entries, fault: Fault) {
    stream.set_nodelay(true).unwrap();
    let mut input = Vec::new();
    let mut room = [0; 4096];
    loop {
        let Ok(count @ 1..) = stream.read(&mut room) else {
            return;
        };
        input.extend_from_slice(&room[..count]);
        let mut output = Vec::new();
        let is_binary = binary::is_op(input[0]);
        let consumed = if is_binary {
            answer_binary(&input, entries, &mut output)
        } else {
            answer_resp(&input, entries, fault, &mut output)
        };
        let Some(consumed) = consumed else { return };
        input.drain(..consumed);
        // Write in small pieces, so that replies arrive in pieces.
        for piece in output.chunks(7_000) {
            if stream.write_all(piece).is_err() {
                return;
            }
        }
    }
}

/// Answers the complete requests; `None` closes the connection.
fn answer_resp(input: &[u8], entries: &Entries, fault: Fault, out: &mut Vec<u8>) -> Option<usize> {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    let mut consumed = 0;
    while let Ok(Step::Ready { item, consumed: n }) = decoder.decode(&input[consumed..]) {
        let is_get = item.name().eq_ignore_ascii_case(b"GET");
        if is_get && fault == Fault::Closes {
            return None;
        }
        reply(
            item.args(),
            entries,
            fault,
            &mut Encoder::new(out, Proto::Resp2),
        );
        consumed += n;
    }
    Some(consumed)
}

fn reply(args: Args<'_>, entries: &Entries, fault: Fault, out: &mut Encoder<'_, Vec<u8>>) {
    let mut entries = entries.lock().unwrap();
    match &args[0] {
        b"SET" if fault == Fault::Errors => out.error("OOM no room"),
        b"SET" => {
            entries.insert(args[1].to_vec(), args[2].to_vec());
            out.ok();
        }
        b"GET" => match entries.get(&args[1]) {
            None => out.null(),
            Some(value) if fault == Fault::WrongValues => {
                let mut value = value.clone();
                *value.last_mut().unwrap() ^= 1;
                out.bulk(value);
            }
            Some(value) => out.bulk(value),
        },
        b"DEL" => out.int(i64::from(entries.remove(&args[1]).is_some())),
        b"HELLO" => {
            out.map(1);
            out.bulk("proto");
            out.int(3);
        }
        b"PING" if args.len() > 1 => out.bulk(&args[1]),
        b"REFUSE" => out.error("ERR refused"),
        _ => out.simple("PONG"),
    }
}

fn answer_binary(input: &[u8], entries: &Entries, out: &mut Vec<u8>) -> Option<usize> {
    let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    let mut consumed = 0;
    while let Ok(Step::Ready { item, consumed: n }) = decoder.decode(&input[consumed..]) {
        let mut entries = entries.lock().unwrap();
        let key = item.key()?;
        let held = match item.op() {
            binary::SET => entries.insert(key.to_vec(), item.value()?.to_vec()),
            binary::DELETE => entries.remove(key),
            _ => entries.get(key).cloned(),
        };
        Encoder::new(out, Proto::BinaryPlain).bulk(held.unwrap_or_default());
        consumed += n;
    }
    Some(consumed)
}

fn load(target: Target, workload: Workload, requests: u64) -> Load {
    Load {
        target,
        login: Login {
            protocol: workload.protocol,
            ..Login::default()
        },
        workload,
        verify: Verify::Values,
        clients: 5,
        threads: 1,
        bound: Bound::requests(requests),
        rate: None,
        seed: 1,
        logging: false,
        beside: None,
    }
}

fn cycle(protocol: Protocol) -> Workload {
    Workload {
        protocol,
        mix: Mix::Cycle,
        key_space: 1_000_000_000_000,
        ..Workload::mixed(1, 1)
    }
}

#[test]
fn commands_run_beside_a_load_in_turn_and_are_reported() {
    let target = serve(Fault::None);
    let words = |line: &str| line.split(' ').map(str::to_owned).collect();
    let beside = |lines: &[&str]| Load {
        beside: Some(Beside {
            commands: lines.iter().map(|line| words(line)).collect(),
            pause: Duration::ZERO,
        }),
        ..load(target.clone(), cycle(Protocol::Binary), 2_000)
    };
    let (report, _) = beside(&["SET beside:{n} x", "GET beside:{n}"])
        .run(|_| ())
        .unwrap();
    assert!(report.is_sound());
    let told = report.beside.unwrap();
    assert!(told.commands > 0 && told.avg_ms <= told.max_ms, "{told:?}");
    let value = Client::connect(&target, &Login::default())
        .unwrap()
        .call(&["GET", "beside:0"])
        .unwrap();
    assert_eq!(value.as_str(), Some("x"));

    let (report, _) = beside(&["REFUSE"]).run(|_| ()).unwrap();
    assert!(!report.is_sound());
    let text = report.to_string();
    assert!(text.contains("the first: ERR refused"), "{text}");

    let error = beside(&[]).run(|_| ()).map(drop).unwrap_err().to_string();
    assert!(error.starts_with("--beside: "), "{error}");
}

#[test]
fn cycle_of_every_protocol_reads_its_own_values() {
    for protocol in [Protocol::Resp2, Protocol::Resp3, Protocol::Binary] {
        for pipeline in [1, 4] {
            let workload = Workload {
                pipeline,
                ..cycle(protocol)
            };
            let (report, _) = load(serve(Fault::None), workload, 500).run(|_| ()).unwrap();
            assert_eq!(report.commands, 1_500, "{protocol:?} {pipeline}");
            assert!(report.kinds.iter().all(|kind| kind.commands == 500));
            assert_eq!(report.counts.misses, 0);
            assert!(report.is_sound(), "{:?}", report.first_complaint);
        }
    }
}

#[test]
fn every_get_of_a_populated_load_is_a_hit() {
    for pattern in [
        Pattern::Uniform,
        Pattern::Zipf { exponent: 1.0 },
        Pattern::Gaussian { deviation: 0.1 },
        Pattern::Sequential,
    ] {
        let workload = Workload {
            pipeline: 16,
            data_size: 20_000,
            key_space: 300,
            pattern,
            ..Workload::mixed(1, 3)
        };
        let load = Load {
            threads: 2,
            ..load(serve(Fault::None), workload, 2_000)
        };
        load.populating().run(|_| ()).unwrap();
        let (report, _) = load.run(|_| ()).unwrap();
        assert_eq!((report.commands, report.counts.misses), (2_000, 0));
        assert!(report.is_sound(), "{:?}", report.first_complaint);
    }
}

#[test]
fn missing_keys_are_misses_and_not_errors() {
    let (report, _) = load(serve(Fault::None), Workload::mixed(0, 1), 100)
        .run(|_| ())
        .unwrap();
    assert_eq!(report.counts.misses, 100);
    assert!(report.is_sound());
}

#[test]
fn wrong_values_and_errors_are_counted_and_reported() {
    let (report, _) = load(serve(Fault::WrongValues), cycle(Protocol::Resp2), 50)
        .run(|_| ())
        .unwrap();
    assert_eq!((report.counts.mismatches, report.counts.errors), (50, 0));
    assert!(!report.is_sound());
    let (report, _) = load(serve(Fault::Errors), cycle(Protocol::Resp2), 50)
        .run(|_| ())
        .unwrap();
    assert_eq!((report.counts.errors, report.counts.misses), (50, 100));
    let complaint = report.first_complaint.unwrap();
    assert!(complaint.contains("OOM no room"), "{complaint}");
}

#[test]
fn error_for_a_closed_connection_names_the_server() {
    let target = serve(Fault::Closes);
    let failed = load(target.clone(), cycle(Protocol::Resp2), 50).run(|_| ());
    let text = failed.err().unwrap().to_string();
    assert!(text.contains(&target.to_string()), "{text}");
}

#[test]
fn open_loop_sends_every_request_at_its_rate() {
    let load = Load {
        rate: Some(2_000.0),
        bound: Bound::requests(400),
        ..load(serve(Fault::None), Workload::mixed(1, 1), 0)
    };
    let (report, _) = load.run(|_| ()).unwrap();
    assert_eq!((report.commands, report.counts.unsent), (400, 0));
    // The last of 400 requests leaves 199.5 ms after the first.
    assert!(report.seconds >= 0.1995, "{}", report.seconds);
}

#[test]
fn open_loop_of_cycles_ends_after_a_whole_sequence() {
    let load = Load {
        rate: Some(20_000.0),
        ..load(serve(Fault::None), cycle(Protocol::Resp2), 100)
    };
    let (report, _) = load.run(|_| ()).unwrap();
    assert_eq!((report.commands, report.counts.misses), (300, 0));
}

#[test]
fn test_time_ends_a_load_without_a_request_count() {
    let load = Load {
        bound: Bound::time(Duration::from_millis(60)),
        ..load(serve(Fault::None), Workload::mixed(1, 1), 0)
    };
    let (report, _) = load.run(|_| ()).unwrap();
    assert!(report.commands > 0 && report.seconds >= 0.05);
}

#[test]
fn comparison_alternates_servers_and_reports_spreads() {
    let mut contenders = [
        Contender::running("one", serve(Fault::None)),
        Contender::running("two", serve(Fault::WrongValues)),
    ];
    let contest = Contest {
        load: load(contenders[0].target.clone(), cycle(Protocol::Resp2), 40),
        populate: false,
        rounds: 3,
        warm_up: Duration::from_millis(10),
    };
    let mut notes = 0;
    let standings = contest.run(&mut contenders, |_| notes += 1).unwrap();
    assert_eq!(notes, 3);
    assert_eq!(standings[0].samples.len(), 3);
    assert_eq!((standings[0].wrong, standings[1].wrong), (0, 120));
    let rate = standings[0].per_second;
    assert!(rate.min <= rate.median && rate.median <= rate.max);
}

#[cfg(unix)]
#[test]
fn null_server_sends_the_bytes_of_its_load() {
    for protocol in [Protocol::Resp2, Protocol::Binary] {
        let workload = Workload {
            protocol,
            pipeline: 30,
            data_size: 256,
            ..Workload::mixed(1, 10)
        };
        let mut line = words(env!("CARGO_BIN_EXE_respire-bench")).unwrap();
        line.extend(words("null-server --port {port}").unwrap());
        line.extend(workload.flags());
        let server = Server::start(&line, None, Probe::Connect).unwrap();
        let load = Load {
            verify: Verify::Replies,
            ..load(server.target().clone(), workload, 11_000)
        };
        let (report, _) = load.run(|_| ()).unwrap();
        assert!(report.is_sound(), "{:?}", report.first_complaint);
        let counts = report.kinds.iter().map(|kind| (kind.kind, kind.commands));
        let counts: Vec<_> = counts.collect();
        assert_eq!(report.commands, 11_000);
        assert_eq!((counts[0].0, counts[1].0), (Kind::Set, Kind::Get));
    }
}

/// Without redis-server this test passes without checking anything.
#[cfg(unix)]
#[test]
fn redis_server_sends_correct_replies_and_reports_its_process() {
    let line = words("redis-server --port {port} --save '' --appendonly no").unwrap();
    if respire_bench::launch::first_line("redis-server", &["--version"]).is_none() {
        return;
    }
    let server = Server::start(&line, None, Probe::Ping).unwrap();
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let load = load(server.target().clone(), cycle(protocol), 300);
        let (report, _) = load.run(|_| ()).unwrap();
        assert_eq!((report.commands, report.counts.misses), (900, 0));
        assert!(report.is_sound(), "{:?}", report.first_complaint);
    }
    let mut contender = Contender::running("redis", server.target().clone());
    contender.find_pid(&Login::default());
    assert_eq!(contender.pid, Some(server.pid()));
}
