//! Tests that `serve::on` announces its address. Only another process can read what a process
//! prints, so each case runs this test program again.

#![expect(clippy::unwrap_used, reason = "a test may")]

use respire::Router;
use respire::serve::{self, Flavour, Shutdown};
use std::process::{Command, Output};

const CASE: &str = "RESPIRE_TEST_ANNOUNCED";

/// Serves on a port that the system chooses, and stops at once.
fn serve() {
    let shutdown = Shutdown::new();
    shutdown.request();
    serve::on(Flavour::default(), Router::new(()), "127.0.0.1:0", shutdown).unwrap();
}

/// Runs the test of this name in a process of its own, with [`CASE`] set.
fn run(test: &str) -> Output {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", test, "--nocapture"]);
    program.env(CASE, "1").output().unwrap()
}

fn is_within() -> bool {
    std::env::var_os(CASE).is_some()
}

/// The port in the text of an announcement.
fn port(text: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(text).into_owned();
    let (_, rest) = text.split_once("listens on 127.0.0.1:")?;
    rest.lines().next()?.parse().ok()
}

#[test]
fn address_is_printed_on_standard_error_without_a_subscriber() {
    if is_within() {
        return serve();
    }
    let output = run("address_is_printed_on_standard_error_without_a_subscriber");
    assert!(output.status.success());
    assert!(
        port(&output.stderr).is_some_and(|port| port != 0),
        "{output:?}"
    );
}

#[test]
fn address_is_only_logged_with_a_subscriber() {
    if is_within() {
        tracing_subscriber::fmt().with_ansi(false).init();
        return serve();
    }
    let output = run("address_is_only_logged_with_a_subscriber");
    assert!(output.status.success());
    assert!(
        port(&output.stdout).is_some_and(|port| port != 0),
        "{output:?}"
    );
    assert_eq!(port(&output.stderr), None, "{output:?}");
}
