//! Describes the figures of the comparison in sentences.

use super::client::Client;
use super::figures::{Measured, Standing};
use super::rows::{PIPELINED, POOL};
use crate::cli::Service;

/// A client that was busy for at least this share of the time was the bottleneck.
const BUSY: f64 = 0.9;
/// The claimed ratio of RESP to HTTP.
const CLAIMED: f64 = 100.0;

/// The paragraphs that the measured rows allow.
pub(super) fn reading(measured: &Measured) -> Vec<String> {
    let paragraphs = [
        pool(measured),
        pipelined(measured),
        replayed(measured),
        claim(measured),
        bytes(measured),
        limits(measured),
    ];
    paragraphs.into_iter().flatten().collect()
}

fn find<'m>(
    measured: &'m Measured,
    row: &str,
    service: Service,
    client: Client,
) -> Option<&'m Standing> {
    let outcome = measured.outcomes.iter().find(|o| o.row.name == row)?;
    let mut standings = outcome.standings.iter();
    standings.find(|s| (s.entrant.service, s.entrant.client) == (service, client))
}

/// Respire's tokio flavour, and axum by GET and POST, over the pool.
fn pooled(measured: &Measured) -> Option<[&Standing; 3]> {
    let of = |service, client| find(measured, POOL, service, client);
    Some([
        of(Service::Tokio, Client::Resp)?,
        of(Service::Axum, Client::Get)?,
        of(Service::Axum, Client::Post)?,
    ])
}

fn rate(standing: &Standing) -> f64 {
    standing.per_second.median
}

fn thousands(standing: &Standing) -> String {
    format!("{:.1}k", rate(standing) / 1e3)
}

fn pool(measured: &Measured) -> Option<String> {
    let [resp, get, post] = pooled(measured)?;
    let mut text = format!(
        "**Pool against pool.** Over RESP {} calls/s, over HTTP {} by GET and {} by POST: RESP gives {:.1} and {:.1} times as many.",
        thousands(resp),
        thousands(get),
        thousands(post),
        rate(resp) / rate(get),
        rate(resp) / rate(post)
    );
    let cpu = |standing: &Standing| standing.server_cpu_us.map(|cpu| cpu.median);
    if let (Some(own), Some(by_get), Some(by_post)) = (cpu(resp), cpu(get), cpu(post)) {
        text += &format!(
            " A call costs the server {own:.1} µs of CPU over RESP, {by_get:.1} and {by_post:.1} over HTTP ({:.1} and {:.1} times as much),",
            by_get / own,
            by_post / own
        );
        let client = |standing: &Standing| standing.client_cpu_us.median;
        text += &format!(
            " and the client {:.1}, {:.1} and {:.1} µs.",
            client(resp),
            client(get),
            client(post)
        );
    }
    text += " With one call at a time on a connection, both sides pay for a read, a write and a wake-up per call whatever the protocol; \
             what is left between the two is heads, escaping and the layers of an HTTP stack.";
    Some(text)
}

fn pipelined(measured: &Measured) -> Option<String> {
    let [_, get, post] = pooled(measured)?;
    let tokio = find(measured, PIPELINED, Service::Tokio, Client::Resp)?;
    let mio = find(measured, PIPELINED, Service::Mio, Client::Resp)?;
    Some(format!(
        "**Pipelined against pool.** RESP clients pipeline; HTTP/1.1 clients (hyper, reqwest, browsers) do not, so a pool is all that HTTP \
         has. One RESP connection with {} calls under way carries {} calls/s (tokio) and {} (mio): {:.1} and {:.1} times the GETs of the \
         pool, {:.1} and {:.1} times its POSTs. Here system calls are shared by many calls, which is most of the gain.",
        measured.callers,
        thousands(tokio),
        thousands(mio),
        rate(tokio) / rate(get),
        rate(mio) / rate(get),
        rate(tokio) / rate(post),
        rate(mio) / rate(post)
    ))
}

fn replayed(measured: &Measured) -> Option<String> {
    let [resp, get, _] = pooled(measured)?;
    let pool = find(measured, POOL, Service::Axum, Client::ReplayedGet)?;
    let piped = find(measured, PIPELINED, Service::Axum, Client::ReplayedGet)?;
    let own = find(measured, PIPELINED, Service::Tokio, Client::Resp)?;
    Some(format!(
        "**What of this is the client's.** With prepared bytes in place of an HTTP client, the same axum server answers {} GETs/s over \
         the pool instead of {}: RESP then gives {:.1} times as many. Pipelined, which axum understands though no client asks for it, \
         it answers {}, against {} over RESP: {:.1} times.",
        thousands(pool),
        thousands(get),
        rate(resp) / rate(pool),
        thousands(piped),
        thousands(own),
        rate(own) / rate(piped)
    ))
}

/// The greatest ratio of RESP to HTTP with an HTTP client, for servers with the same number of
/// cores.
fn claim(measured: &Measured) -> Option<String> {
    let [resp, get, post] = pooled(measured)?;
    let alike = measured.outcomes.iter();
    let alike = alike.filter(|outcome| !outcome.row.all_cores);
    let all: Vec<(&str, &Standing)> = alike
        .flat_map(|o| o.standings.iter().map(|s| (o.row.name, s)))
        .collect();
    let speaks = |clients: &'static [Client]| {
        let all = all.iter();
        all.filter(move |(_, s)| clients.contains(&s.entrant.client))
    };
    let (best_row, best) =
        speaks(&[Client::Resp]).max_by(|a, b| rate(a.1).total_cmp(&rate(b.1)))?;
    let http = speaks(&[Client::Get, Client::Post]);
    let (least_row, least) = http.min_by(|a, b| rate(a.1).total_cmp(&rate(b.1)))?;
    let in_pool = rate(resp) / rate(get).min(rate(post));
    let widest = rate(best) / rate(least);
    let mut text = format!(
        "**The claim.** What is heard is \"over 100x faster\": HTTP at 1/128 of pooled RESP, measured in another language. Rust against \
         Rust, pool against pool, the slower kind of HTTP is at 1/{in_pool:.1}: the claim {}. The widest pair of this run, which compares \
         what is not alike, is {} ({best_row}) against {} ({least_row}): HTTP at 1/{widest:.1}.",
        if in_pool > CLAIMED {
            "holds"
        } else {
            "does not hold"
        },
        best.entrant.name,
        least.entrant.name
    );
    if in_pool <= CLAIMED {
        text += " So a factor of 100 tells of the HTTP stack that it was measured with, rather than of the protocol.";
    }
    Some(text)
}

fn bytes(measured: &Measured) -> Option<String> {
    let [resp, get, post] = pooled(measured)?;
    let both = |s: &Standing| s.bytes_sent.median + s.bytes_received.median;
    let beyond = |s: &Standing| both(s) - measured.reply_bytes as f64;
    Some(format!(
        "**Bytes.** A call takes {:.0} bytes over RESP, {:.0} by GET and {:.0} by POST, both directions: {:.0}, {:.0} and {:.0} beyond the \
         {} of the reply. What JSON must escape, it escapes wherever the reply repeats it, so its share grows with the reply; heads \
         weigh most where replies are short.",
        both(resp),
        both(get),
        both(post),
        beyond(resp),
        beyond(get),
        beyond(post),
        measured.reply_bytes
    ))
}

/// What limited the figures: the client, the server, or neither.
fn limits(measured: &Measured) -> Option<String> {
    let server_share = |s: &Standing| {
        s.server_cpu_us
            .map_or(1.0, |cpu| cpu.median * rate(s) / 1e6)
    };
    let client_was = |s: &Standing| s.client_share.median >= BUSY;
    let nobody_was = |s: &Standing| !client_was(s) && server_share(s) < BUSY;
    let mut text = "**Limits of these figures.**".to_owned();
    if let Some(load) = measured.load_average
        && load > 0.5
    {
        text += &format!(
            " When the measurement began, {load:.1} threads on average wanted to run on {} cores: other work was under way, so calls per \
             second and latencies are worse than on a quiet machine, and unevenly so. CPU time per call suffers least.",
            measured.machine.cores
        );
    }
    if let Some(names) = those(measured, client_was) {
        text += &format!(
            " The client was the limit, busy for at least 90 % of its time, in {names}. There the server could do more, and its CPU \
             time per call is the figure to compare."
        );
    }
    if let Some(names) = those(measured, nobody_was) {
        text += &format!(
            " Neither server nor client was busy for 90 % of its time in {names}. There each waits for the other, or for cores that other \
             work had."
        );
    }
    text += " In rows with all cores, servers and client share them, which shows what a small machine does as a whole. Everything is on \
             one machine: on a network, round trips make pipelining gain more and CPU time weigh less. HTTP/2 and HTTP/3, which share a \
             connection among calls, are not measured; nor is TLS.";
    Some(text)
}

/// The entrants for which `is_so` is true, by row, where servers and client have cores of their
/// own; a row whose entrants all match appears by its name alone.
fn those(measured: &Measured, is_so: impl Fn(&Standing) -> bool) -> Option<String> {
    let apart = measured.outcomes.iter().filter(|o| !o.row.all_cores);
    let rows = apart.filter_map(|outcome| {
        let names = outcome.standings.iter().filter(|&standing| is_so(standing));
        let names: Vec<&str> = names.map(|standing| standing.entrant.name).collect();
        let row = outcome.row.name;
        match names.len() {
            0 => None,
            count if count == outcome.standings.len() => Some(format!("`{row}`")),
            _ => Some(format!("`{row}` ({})", names.join("; "))),
        }
    });
    let rows: Vec<String> = rows.collect();
    (!rows.is_empty()).then(|| rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::measured;
    use super::*;

    #[test]
    fn sentences_match_the_figures() {
        let text = reading(&measured(90_000, 30_000)).join("\n");
        for part in [
            "Over RESP 90.0k calls/s, over HTTP 30.0k by GET",
            "RESP gives 3.0 and 3.0 times as many",
            "5.6 µs of CPU over RESP, 16.7 and 16.7 over HTTP",
            "the slower kind of HTTP is at 1/3.0: the claim does not hold",
            "60.0k GETs/s over the pool instead of 30.0k: RESP then gives 1.5",
            "1550 bytes over RESP",
            "3.0 threads on average",
            "The client was the limit, busy for at least 90 % of its time, in `one` (HTTP GET text, axum; HTTP POST JSON, axum), `pool` (",
            "Neither server nor client was busy for 90 % of its time in `one` (RESP, respire tokio; ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn claim_holds_if_the_figures_show_it() {
        let text = reading(&measured(90_000, 100)).join("\n");
        assert!(text.contains("at 1/900.0: the claim holds"), "{text}");
    }

    #[test]
    fn missing_rows_have_no_sentences() {
        let mut measured = measured(90_000, 30_000);
        measured.load_average = Some(0.1);
        measured.outcomes.retain(|outcome| outcome.row.all_cores);
        let [limits] = &reading(&measured)[..] else {
            panic!("only the limits remain")
        };
        assert!(!limits.contains("threads on average") && !limits.contains("The client was"));
    }
}
