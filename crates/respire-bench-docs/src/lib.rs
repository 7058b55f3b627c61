//! The program that writes this project's benchmark documents, with the loads of `respire-bench`.
//!
//! - [`table`] measures Respire beside Redis and other servers: docs/benchmarks.md, and its summary in README.md.
//! - [`growth`] measures what a request costs as keys, connections, arguments and workers grow: the rest of
//!   docs/benchmarks.md.
//! - [`collections`] measures hashes, lists, sets and sorted sets: another part of docs/benchmarks.md.
//! - [`http`] measures one command behind RESP and behind HTTP: docs/resp-instead-of-http.md.
//!
//! What it deliberately is not: a load generator. `respire_bench` has the loads, checks,
//! histograms, started servers and comparisons, and knows no particular server. This crate has the
//! code that knows this project's servers and documents.
//!
//! All figures of a document come from one run; nobody edits them. Start reading in `table/mod.rs`.

// Floor: from the command line to a measurement
pub mod app;

// Floor: documents and their measurements
pub mod collections;
pub mod growth;
pub mod http;
pub mod table;

// Floor: shared parts
pub mod cli;
pub mod floor;
pub mod machine;
pub mod marks;
mod output;
pub mod plot;
mod script;
