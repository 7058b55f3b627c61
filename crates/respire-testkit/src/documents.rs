//! Generates docs/COMMANDS.md and docs/LIMITS.md from the sources.

use crate::target::{START_UNIX_MS, kv_engine};
use respire_engine::{Arg, ArgKind, Group, Now, Spec};
use std::fmt::Write as _;
use std::time::Duration;

/// The text of docs/COMMANDS.md: every command, by family.
#[must_use]
pub fn commands() -> String {
    let now = Now::new(Duration::ZERO, Duration::from_millis(START_UNIX_MS));
    let engine = kv_engine(now);
    let mut specs: Vec<Spec> = engine
        .commands()
        .all()
        .filter(|entry| !entry.is_container() || entry.spec().arity.accepts(1))
        .map(|entry| *entry.spec())
        .collect();
    specs.sort_by_key(|spec| (spec.group, spec.name));
    let mut text = String::from(
        "# Commands\n\n\
         Generated from the command table by `cargo xtask docs`. What differs from Redis stands in\n\
         [COMPATIBILITY.md](COMPATIBILITY.md).\n",
    );
    let mut group = None;
    for spec in &specs {
        if group.replace(spec.group) != Some(spec.group) {
            let heading = heading(spec.group);
            let _ = write!(
                text,
                "\n## {heading}\n\n| command | what it does | cost |\n|---|---|---|\n"
            );
        }
        let cost = big_o(spec.complexity);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            escape(&syntax(spec)),
            escape(spec.summary),
            escape(cost)
        );
    }
    text
}

fn heading(group: Group) -> &'static str {
    match group {
        Group::Generic => "Keys",
        Group::String => "Strings",
        Group::Bitmap => "Bits",
        Group::Hash => "Hashes",
        Group::HyperLogLog => "HyperLogLogs",
        Group::Set => "Sets",
        Group::SortedSet => "Sorted sets",
        Group::Geo => "Places",
        Group::List => "Lists",
        Group::Stream => "Streams",
        Group::Connection => "Connection",
        Group::Server => "Server",
        Group::Transactions => "Transactions",
        Group::PubSub => "Publish and subscribe",
        Group::Scripting => "Scripts and functions",
    }
}

/// The O-notation at the start of a complexity, without its explanation.
fn big_o(complexity: &str) -> &str {
    let mut depth = 0_i32;
    let end = complexity.char_indices().find(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        *letter == ')' && depth == 0
    });
    end.map_or(complexity, |(at, _)| &complexity[..=at])
}

/// Escapes bars, which would end the table cell.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

fn syntax(spec: &Spec) -> String {
    let name = spec.name.replace('|', " ").to_uppercase();
    std::iter::once(name)
        .chain(spec.args.iter().map(arg_syntax))
        .collect::<Vec<_>>()
        .join(" ")
}

fn arg_syntax(arg: &Arg) -> String {
    let parts = || arg.parts.iter().map(arg_syntax).collect::<Vec<_>>();
    let inner = match arg.kind {
        ArgKind::PureToken => String::new(),
        ArgKind::OneOf if arg.optional => parts().join(" | "),
        ArgKind::OneOf => format!("<{}>", parts().join(" | ")),
        ArgKind::Block => parts().join(" "),
        _ => arg.name.to_owned(),
    };
    let mut text = match (arg.token, inner.is_empty()) {
        (Some(token), true) => token.to_owned(),
        (Some(token), false) => format!("{token} {inner}"),
        (None, _) => inner,
    };
    if arg.multiple {
        text = format!("{text} [{text} ...]");
    }
    if arg.optional {
        format!("[{text}]")
    } else {
        text
    }
}

/// The text of docs/LIMITS.md: every limit, its default and what happens when it is reached.
#[must_use]
pub fn limits() -> String {
    let mut text = String::from(
        "# Limits\n\n\
         Generated from the limits of each crate by `cargo xtask docs`. Nothing a peer announces is\n\
         reserved before it is held against these.\n",
    );
    section(
        &mut text,
        "A request, before it is taken in (`resp-codec`, as the server sets it)",
        &codec_rows(),
    );
    section(
        &mut text,
        "A connection and its turn (`respire-engine`)",
        &engine_rows(),
    );
    section(
        &mut text,
        "Scripts and functions (`respire-script`)",
        &script_rows(),
    );
    let _ = write!(
        text,
        "\n## A server's dealings with sockets (`respire-net`)\n\n\
         | limit | unit | default | least | most |\n|---|---|---|---|---|\n"
    );
    for row in respire_net::Limits::ROWS {
        let default = (row.get)(&respire_net::Limits::DEFAULT);
        let _ = writeln!(
            text,
            "| `{}` | {} | {default} | {} | {} |",
            row.name, row.unit, row.min, row.max
        );
    }
    text
}

/// A limit's name, its default, its unit, and what happens when it is reached.
type Row = (&'static str, u64, &'static str, &'static str);

fn section(text: &mut String, heading: &str, rows: &[Row]) {
    let _ = write!(
        text,
        "\n## {heading}\n\n| limit | default | unit | past it |\n|---|---|---|---|\n"
    );
    for (name, default, unit, edge) in rows {
        let _ = writeln!(text, "| `{name}` | {default} | {unit} | {edge} |");
    }
}

fn script_rows() -> Vec<Row> {
    let now = Now::new(Duration::ZERO, Duration::from_millis(START_UNIX_MS));
    let engine = kv_engine(now);
    let busy = "busy-reply-threshold";
    let mut settings = engine.settings().iter();
    let setting = settings.find(|setting| setting.name() == busy);
    let default = setting.and_then(|setting| setting.get().parse().ok());
    let mut rows: Vec<Row> = vec![(
        busy,
        default.expect("it is a setting, and a number"),
        "ms",
        "requests for the keys of the script get `BUSY`",
    )];
    let limits = respire_script::LIMITS.iter();
    rows.extend(limits.map(|row| (row.name, row.default, row.unit, row.edge)));
    rows
}

fn codec_rows() -> Vec<Row> {
    // A new limit fails to compile here until it has its row.
    let resp_codec::Limits {
        max_bulk,
        max_args,
        max_inline,
        max_depth,
        max_nodes,
        max_frame,
        unauthenticated: _,
    } = respire_engine::Limits::DEFAULT.codec();
    let stranger = respire_engine::Limits::DEFAULT.codec_before_password();
    vec![
        (
            "max_bulk",
            max_bulk,
            "bytes",
            "protocol error `invalid bulk length`; closed. `proto-max-bulk-len`",
        ),
        (
            "max_bulk before the password",
            stranger.max_bulk,
            "bytes",
            "protocol error `unauthenticated bulk length`; closed",
        ),
        (
            "max_args",
            max_args.into(),
            "arguments",
            "protocol error `invalid multibulk length`; closed",
        ),
        (
            "max_args before the password",
            stranger.max_args.into(),
            "arguments",
            "protocol error `unauthenticated multibulk length`; closed",
        ),
        (
            "max_inline",
            max_inline.into(),
            "bytes",
            "protocol error `too big inline request`; closed",
        ),
        (
            "max_depth",
            max_depth.into(),
            "levels",
            "a reply nested deeper is refused by the client's decoder",
        ),
        (
            "max_nodes",
            max_nodes.into(),
            "values",
            "a reply of more is refused by the client's decoder",
        ),
        (
            "max_frame",
            max_frame.into(),
            "bytes",
            "protocol error; closed",
        ),
    ]
}

#[expect(
    clippy::too_many_lines,
    reason = "a table with a row per limit, whose number the compiler checks"
)]
fn engine_rows() -> Vec<Row> {
    let respire_engine::Limits {
        bulk_bytes_max,
        arguments_max,
        inline_bytes_max,
        commands_per_poll_max,
        output_bytes_max,
        waiting_input_bytes_max,
        queued_commands_max,
        queued_bytes_max,
        mailbox_bytes_max,
        pending_calls_max,
        parked_bytes_max,
        half_closed_ms_max,
        wrong_passwords_free,
        auth_wait_ms_max,
        wrong_passwords_kept_s,
        auth_peers_max,
        unknown_names_max,
    } = respire_engine::Limits::DEFAULT;
    vec![
        (
            "bulk_bytes_max",
            bulk_bytes_max,
            "bytes",
            "it is `max_bulk` above",
        ),
        (
            "arguments_max",
            arguments_max.into(),
            "arguments",
            "it is `max_args` above",
        ),
        (
            "inline_bytes_max",
            inline_bytes_max.into(),
            "bytes",
            "it is `max_inline` above",
        ),
        (
            "commands_per_poll_max",
            commands_per_poll_max.into(),
            "requests",
            "the next connection has its turn",
        ),
        (
            "output_bytes_max",
            output_bytes_max as u64,
            "bytes",
            "nothing more is read until the peer has taken them",
        ),
        (
            "waiting_input_bytes_max",
            waiting_input_bytes_max as u64,
            "bytes",
            "nothing more is read until the wait is over",
        ),
        (
            "pending_calls_max",
            pending_calls_max as u64,
            "calls",
            "the next request waits for one of them",
        ),
        (
            "parked_bytes_max",
            parked_bytes_max as u64,
            "bytes",
            "the next request waits until the pending call before them is answered",
        ),
        (
            "half_closed_ms_max",
            half_closed_ms_max.into(),
            "ms",
            "pending calls are cancelled; closed",
        ),
        (
            "queued_commands_max",
            queued_commands_max as u64,
            "requests",
            "the transaction is refused",
        ),
        (
            "queued_bytes_max",
            queued_bytes_max as u64,
            "bytes",
            "the transaction is refused",
        ),
        (
            "mailbox_bytes_max",
            mailbox_bytes_max as u64,
            "bytes",
            "a subscriber that does not take its messages is closed",
        ),
        (
            "wrong_passwords_free",
            wrong_passwords_free.into(),
            "attempts",
            "further attempts of the connection, and of its address, wait: 0.1 s, doubling each time",
        ),
        (
            "auth_wait_ms_max",
            auth_wait_ms_max.into(),
            "ms",
            "the wait does not double further",
        ),
        (
            "wrong_passwords_kept_s",
            wrong_passwords_kept_s.into(),
            "s",
            "wrong passwords are forgotten, when none followed",
        ),
        (
            "auth_peers_max",
            auth_peers_max as u64,
            "addresses",
            "the address that has been quiet for longest is forgotten; of IPv6, a /64 is an address",
        ),
        (
            "unknown_names_max",
            unknown_names_max as u64,
            "names",
            "commands that are not there are counted, and neither named nor logged",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rows_of_one_limit_agree() {
        let codec = codec_rows();
        let mut shared = 0;
        for (name, default, _, edge) in engine_rows() {
            let above = edge
                .strip_prefix("it is `")
                .and_then(|edge| edge.split('`').next());
            let Some(above) = above else { continue };
            let (_, other, ..) = codec
                .iter()
                .find(|(codec_name, ..)| *codec_name == above)
                .expect("a row with this name");
            assert_eq!(default, *other, "{name} and {above}");
            shared += 1;
        }
        assert_eq!(shared, 3);
    }
}
