//! The rows of the comparison: how calls reach the servers, and which servers and clients take
//! part.

use respire_bench::error::{Error, Result};
use serde::Serialize;

use super::client::Client;
use crate::cli::{HttpArgs, Service};

/// A server with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Entrant {
    /// Its name in the tables.
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

/// All entrants, on connections with one call at a time.
const ALL: &[Entrant] = &[TOKIO, MIO, GET, POST, REPLAYED_GET, REPLAYED_POST];
/// The entrants whose client can have several calls at a time on a connection.
const PIPELINING: &[Entrant] = &[TOKIO, MIO, REPLAYED_GET, REPLAYED_POST];

/// A number of callers over a number of connections.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name for `--row` and in plots.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// Connections.
    pub connections: usize,
    /// Calls at a time on each connection.
    pub depth: usize,
    /// Whether servers have one thread per core, on all cores.
    pub all_cores: bool,
    /// The entrants; the others are compared with the first.
    pub entrants: &'static [Entrant],
}

/// The rows that the reading describes.
pub(super) const POOL: &str = "pool";
pub(super) const PIPELINED: &str = "pipelined";

/// The rows, in document order.
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

/// The rows that `--row` names.
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
