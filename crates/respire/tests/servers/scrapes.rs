//! Tests of scrapes while a server is busy.

use crate::exposition::{self, Samples};
use crate::harness::{Kind, Running, request};
use respire::serve::MetricsListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn scrape(url: &str) -> Samples {
    let mut answer = ureq::get(url).call().unwrap();
    assert_eq!(answer.status(), 200);
    let kind = answer.headers()["content-type"].to_str().unwrap();
    assert_eq!(
        kind,
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    exposition::read(&answer.body_mut().read_to_string().unwrap())
}

pub(crate) fn metrics_are_scraped_while_load_runs(kind: Kind) {
    const SCRAPES: usize = 20;
    let server = Running::start(kind);
    let listener = MetricsListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", listener.address());
    let scraped = listener.serve(Arc::clone(&server.engine)).unwrap();
    let is_over = AtomicBool::new(false);
    let rounds = std::thread::scope(|scope| {
        let load = || {
            let mut peer = server.connect();
            let pair = [request(&[b"SET", b"k", b"v"]), request(&[b"GET", b"k"])].concat();
            let (requests, replies) = (pair.repeat(50), "+OK\r\n$1\r\nv\r\n".repeat(50));
            let mut rounds = 0;
            while !is_over.load(Ordering::Relaxed) {
                peer.send(&requests);
                peer.expect(&replies);
                rounds += 1;
            }
            peer.send("NOPE\r\nSET k\r\nINCRBYFLOAT k 1\r\n");
            while !peer.line().contains("not a valid float") {}
            rounds
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(load)).collect();
        let mut before = Samples::new();
        for _ in 0..SCRAPES {
            let samples = scrape(&url);
            for (id, value) in &before {
                let only_grows = id.contains("_total") || id.contains("_bucket");
                assert!(!only_grows || samples[id] >= *value, "{id} was {value}");
            }
            before = samples;
        }
        is_over.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum::<u32>()
    });
    server.until("the connections are closed", |engine| {
        engine.clients().is_empty()
    });
    let samples = scrape(&url);
    let calls = f64::from(rounds) * 50.0;
    for (id, value) in [
        ("respire_commands_total{command=\"get\"}", calls),
        ("respire_commands_total{command=\"set\"}", calls),
        ("respire_command_rejections_total{command=\"set\"}", 3.0),
        (
            "respire_command_failures_total{command=\"incrbyfloat\"}",
            3.0,
        ),
        ("respire_error_replies_total{code=\"ERR\"}", 9.0),
        ("respire_connections_opened_total", 3.0),
        ("respire_connections", 0.0),
        ("respire_keys{db=\"0\"}", 1.0),
        ("respire_keyspace_hits_total", calls),
        (
            "respire_command_duration_seconds_count{command=\"incrbyfloat\"}",
            3.0,
        ),
    ] {
        assert_eq!(samples.get(id), Some(&value), "{id}");
    }
    assert!(samples["respire_received_bytes_total"] > calls * 40.0);
    assert!(samples["respire_command_duration_seconds_sum{command=\"get\"}"] > 0.0);
    drop(scraped);
    assert!(
        ureq::get(&url).call().is_err(),
        "the listener must be closed"
    );
}

pub(crate) fn only_get_of_the_metrics_path_is_answered(kind: Kind) {
    let server = Running::start(kind);
    let listener = MetricsListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.address());
    let _scraped = listener.serve(Arc::clone(&server.engine)).unwrap();
    let status = |answer: Result<_, ureq::Error>| match answer {
        Err(ureq::Error::StatusCode(status)) => status,
        other => panic!("{other:?}"),
    };
    assert_eq!(status(ureq::get(&base).call().map(drop)), 404);
    assert_eq!(status(ureq::get(format!("{base}/x")).call().map(drop)), 404);
    assert_eq!(
        status(ureq::post(format!("{base}/metrics")).send("x").map(drop)),
        405
    );
    scrape(&format!("{base}/metrics?collect=all"));
}
