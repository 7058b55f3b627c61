//! Runs the terminal sessions of the README against both flavours.

use respire::serve::Flavour;
use respire_testkit::target::FlavourServer;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command line and what it prints.
type Exchange = (String, String);

/// The exchanges of every `console` block.
fn exchanges(readme: &str) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut is_console = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if is_console {
            match (line.strip_prefix("$ "), exchanges.last_mut()) {
                (Some(command), _) => exchanges.push((command.to_owned(), String::new())),
                (None, Some((_, printed))) => printed.push_str(&format!("{line}\n")),
                (None, None) => panic!("the README prints before it asks: {line}"),
            }
        }
    }
    exchanges
}

/// Runs the commands in one shell, and returns what each printed.
fn run(exchanges: &[Exchange], port: u16) -> Vec<String> {
    const MARK: &str = "--- next ---";
    // As in a terminal: otherwise redis-cli shows no types.
    let mut script = format!("redis-cli() {{ command redis-cli -p {port} --no-raw \"$@\"; }}\n");
    for (command, _) in exchanges {
        let command = command.replace("/6379", &format!("/{port}"));
        script.push_str(&format!("{command}\necho '{MARK}'\n"));
    }
    let output = Command::new("bash")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.is_empty(), "the shell complains: {complaint}");
    printed
        .split(&format!("{MARK}\n"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn readme_sessions_print_what_the_readme_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let exchanges = exchanges(&fs::read_to_string(path).expect("the README is there"));
    assert!(exchanges.len() > 5);
    for flavour in Flavour::ALL {
        let server = FlavourServer::start(*flavour);
        let printed = run(&exchanges, server.address().port());
        for ((command, expected), printed) in exchanges.iter().zip(printed) {
            assert_eq!(printed, *expected, "{command}");
        }
    }
}
