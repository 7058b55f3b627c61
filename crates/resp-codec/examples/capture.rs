//! Explains a file of captured bytes: `capture replies.bin`, or `capture requests requests.bin`.
//!
//! Prints every run of bytes with its position and meaning, and every error with the bytes that
//! were expected and suggested fixes.

use std::io::{self, Write};

use resp_codec::Limits;
use resp_codec::annotate::{Mode, annotate, diagnose};

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mode, path) = match args.as_slice() {
        [mode, path] if mode == "requests" => (Mode::Requests, path),
        [mode, path] if mode == "binary-requests" => (Mode::BinaryRequests, path),
        [mode, path] if mode == "binary-replies" => (Mode::BinaryReplies, path),
        [path] => (Mode::Replies, path),
        _ => {
            return Err(io::Error::other(
                "usage: capture [requests|binary-requests|binary-replies] FILE",
            ));
        }
    };
    let bytes = std::fs::read(path)?;
    let mut marks = Vec::new();
    let outcome = annotate(&bytes, mode, &Limits::CLIENT, &mut marks);
    let mut out = io::stdout().lock();
    for mark in &marks {
        let run = &bytes[mark.at as usize..(mark.at + mark.len) as usize];
        let indent = usize::from(mark.depth) * 2;
        writeln!(
            out,
            "{:8}  {:indent$}{:?}  {}",
            mark.at,
            "",
            mark.role,
            run.escape_ascii()
        )?;
    }
    writeln!(out, "{} frames, {} errors", outcome.frames, outcome.errors)?;
    match diagnose(&bytes, mode, &Limits::CLIENT) {
        Some(diagnosis) => writeln!(out, "{diagnosis}"),
        None => Ok(()),
    }
}
