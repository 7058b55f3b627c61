//! The program that writes this project's benchmark documents, with the loads of `respire-bench`.
//!
//! - [`table`] measures Respire beside Redis and other servers: docs/benchmarks.md, and its summary in README.md.
//! - [`growth`] measures what a request costs as keys, connections, arguments and workers grow: the rest of
//!   docs/benchmarks.md.
//! - [`http`] measures one command behind RESP and behind HTTP: docs/resp-instead-of-http.md.
//!
//! What it deliberately is not: a load generator. Loads, checks, histograms, servers that are started, and comparisons
//! are those of `respire_bench`, which knows no server in particular. Whatever knows this project's servers and
//! documents stands here.
//!
//! All of a document's figures come from one run; nobody edits them. Start reading in `table/mod.rs`.

// Floor: from the command line to a measurement
pub mod app;

// Floor: documents and their measurements
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
