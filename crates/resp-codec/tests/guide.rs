//! Checks every table row of the guide `docs/resp.md` against the decoders.

use resp_codec::{CommandDecoder, Encoder, FrameDecoder, Limits, Proto, Step};

/// The bytes of a cell: only `\r`, `
/// ` and `\|` are escapes. Within the quotes of an inline request a backslash stays.
fn wire(cell: &str) -> Vec<u8> {
    cell.replace(r"\r", "\r")
        .replace(r"\n", "\n")
        .replace(r"\|", "|")
        .into_bytes()
}

/// The rows of every table with these columns.
fn rows(columns: [&str; 2]) -> Vec<(String, String)> {
    let guide = include_str!("../docs/resp.md");
    let header = format!("| {} | {} |", columns[0], columns[1]);
    let mut rows = Vec::new();
    let mut within = false;
    for line in guide.lines() {
        within = line == header || (within && line.starts_with('|'));
        let cells = line
            .strip_prefix("| `")
            .and_then(|line| line.strip_suffix("` |"));
        if let (true, Some((left, right))) =
            (within, cells.and_then(|cells| cells.split_once("` | `")))
        {
            rows.push((left.to_string(), right.to_string()));
        }
    }
    assert!(rows.len() >= 3, "{header}");
    rows
}

fn reply(wire: &[u8]) -> Result<String, String> {
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    match decoder
        .decode(wire)
        .map_err(|error| error.kind.to_string())?
    {
        Step::Ready { item, consumed } if consumed == wire.len() => Ok(format!("{item:?}")),
        step => panic!("{}: {step:?}", wire.escape_ascii()),
    }
}

fn request(wire: &[u8]) -> Result<String, String> {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    match decoder
        .decode(wire)
        .map_err(|error| error.kind.to_string())?
    {
        Step::Ready { item, consumed } if consumed == wire.len() => {
            let args = item.args();
            let args: Vec<_> = args
                .iter()
                .map(|arg| format!("\"{}\"", arg.escape_ascii()))
                .collect();
            Ok(format!("[{}]", args.join(", ")))
        }
        step => panic!("{}: {step:?}", wire.escape_ascii()),
    }
}

#[test]
fn guide_requests_decode_to_the_listed_arguments() {
    for (bytes, args) in rows(["request", "arguments"]) {
        // In single quotes a backslash is an ordinary byte, so this cell is not unescaped.
        let bytes = if bytes.contains('\'') {
            bytes.replace(r"\r\n", "\r\n").into_bytes()
        } else {
            wire(&bytes)
        };
        assert_eq!(request(&bytes), Ok(args), "{}", bytes.escape_ascii());
    }
}

#[test]
fn guide_requests_are_refused_with_the_listed_text() {
    for (bytes, text) in rows(["request", "refused"]) {
        assert_eq!(
            request(&wire(&bytes)),
            Err(format!("Protocol error: {text}")),
            "{bytes}"
        );
    }
}

#[test]
fn guide_replies_decode_to_the_listed_values() {
    for (bytes, value) in rows(["reply", "value"]) {
        assert_eq!(reply(&wire(&bytes)), Ok(value), "{bytes}");
    }
}

#[test]
fn guide_replies_are_refused_with_the_listed_text() {
    for (bytes, text) in rows(["reply", "refused"]) {
        assert_eq!(
            reply(&wire(&bytes)),
            Err(format!("Protocol error: {text}")),
            "{bytes}"
        );
    }
}

#[test]
fn guide_values_are_written_as_the_listed_resp2_bytes() {
    for (three, two) in rows(["RESP3", "RESP2"]) {
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        let bytes = wire(&three);
        let frame = decoder.decode(&bytes).unwrap().ready().unwrap();
        let mut out = Vec::new();
        frame.encode(&mut Encoder::new(&mut out, Proto::Resp2));
        assert_eq!(
            out.escape_ascii().to_string(),
            wire(&two).escape_ascii().to_string(),
            "{three}"
        );
        assert_eq!(
            frame.to_value().to_bytes(Proto::Resp2),
            wire(&two),
            "{three}"
        );
    }
}
