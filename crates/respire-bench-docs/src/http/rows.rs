//! The rows: how calls reach the servers, and which servers and clients take part.

use respire_bench::error::{Error, Result};
use serde::Serialize;

use super::client::Client;
use crate::cli::{HttpArgs, Service};

/// A server and how it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Entrant {
    /// As the tables name it.
    pub name: &'static str,
    /// The server.
    pub service: Service,
    /// The client.
    pub client: Client,
}

const TOKIO: Entrant = Entrant {
    name: "RESP, respire tokio",
    service: Service::Tokio,
    client: Client::Resp,
};
const MIO: Entrant = Entrant {
    name: "RESP, respire mio",
    service: Service::Mio,
    client: Client::Resp,
};
const GET: Entrant = Entrant {
    name: "HTTP GET text, axum",
    service: Service::Axum,
    client: Client::Get,
};
const POST: Entrant = Entrant {
    name: "HTTP POST JSON, axum",
    service: Service::Axum,
    client: Client::Post,
};
const REPLAYED_GET: Entrant = Entrant {
    name: "HTTP GET replayed, axum",
    service: Service::Axum,
    client: Client::ReplayedGet,
};
const REPLAYED_POST: Entrant = Entrant {
    name: "HTTP POST replayed, axum",
    service: Service::Axum,
    client: Client::ReplayedPost,
};

/// Everybody, on connections that carry one call at a time.
const ALL: &[Entrant] = &[TOKIO, MIO, GET, POST, REPLAYED_GET, REPLAYED_POST];
/// Those whose client can have several calls under way on a connection.
const PIPELINING: &[Entrant] = &[TOKIO, MIO, REPLAYED_GET, REPLAYED_POST];

/// Calls of so many callers over some connections.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// As `--row` and the plots name it.
    pub name: &'static str,
    /// What it is, in words.
    pub title: String,
    /// Connections.
    pub connections: usize,
    /// Calls under way at a time on each.
    pub depth: usize,
    /// Whether servers have a thread for every core, and every core for their threads.
    pub all_cores: bool,
    /// Who takes part; the others are measured by the first.
    pub entrants: &'static [Entrant],
}

/// Names of the rows whose figures the reading is about.
pub(super) const POOL: &str = "pool";
pub(super) const PIPELINED: &str = "pipelined";

/// The rows, in the order of the document.
pub(super) fn rows(args: &HttpArgs) -> Vec<Row> {
    let pool = args.pool;
    let depth = args.callers.div_ceil(pool);
    let row = |name, title: String, connections, depth, entrants| Row {
        name,
        title,
        connections,
        depth,
        all_cores: false,
        entrants,
    };
    let alone = "one connection, one call at a time".to_owned();
    let pooled = format!("a pool of {pool} connections, one call at a time on each");
    let piped = format!("one connection, up to {} calls under way", args.callers);
    let both = format!("a pool of {pool} connections, up to {depth} calls under way on each");
    let cores = "a server thread for every core";
    let on_all = |row: Row| Row {
        all_cores: true,
        ..row
    };
    vec![
        row("one", alone, 1, 1, ALL),
        row(POOL, pooled.clone(), pool, 1, ALL),
        row(PIPELINED, piped, 1, args.callers, PIPELINING),
        row("pool-pipelined", both.clone(), pool, depth, PIPELINING),
        on_all(row(
            "pool-cores",
            format!("{pooled}, {cores}"),
            pool,
            1,
            ALL,
        )),
        on_all(row(
            "pool-pipelined-cores",
            format!("{both}, {cores}"),
            pool,
            depth,
            PIPELINING,
        )),
    ]
}

/// The rows that `--row` asks for.
pub(super) fn choose(args: &HttpArgs) -> Result<Vec<Row>> {
    let rows = rows(args);
    if let Some(name) = args
        .row
        .iter()
        .find(|name| rows.iter().all(|row| row.name != **name))
    {
        let all: Vec<&str> = rows.iter().map(|row| row.name).collect();
        let reason = format!("no row {name:?} among {}", all.join(", "));
        return Err(Error::flag("--row", reason));
    }
    let wanted = |row: &Row| args.row.is_empty() || args.row.iter().any(|name| name == row.name);
    Ok(rows.into_iter().filter(wanted).collect())
}
