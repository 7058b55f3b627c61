//! Tests that the different views of a document agree.

use super::*;
use proptest::prelude::*;
use resp_codec::{EventDecoder, Step};

fn document(bytes: &[u8], mode: u32) -> Document {
    let mut document = Document::new(mode, 2).expect("a mode");
    document.set_bytes(bytes.to_vec()).expect("short");
    document.parse(usize::MAX);
    document
}

fn all_frames(document: &Document) -> Vec<u32> {
    document.frames(0, usize::MAX)
}

/// Checks that frames cover the document and marks cover frames without gaps, and that the path of
/// every byte leads back to its mark.
fn check_agreement(bytes: &[u8], mode: u32) {
    let document = document(bytes, mode);
    let mut at = 0;
    for row in all_frames(&document).chunks(FRAME_WORDS) {
        assert_eq!(row[1], at);
        assert!(row[2] > row[1]);
        at = row[2];
    }
    assert_eq!(at as usize, bytes.len());
    let marks = document.marks(0, bytes.len());
    let mut at = 0;
    for mark in marks.chunks(MARK_WORDS) {
        let (start, end) = (mark[1], mark[2]);
        assert_eq!(start, at, "{:?}", bytes.escape_ascii());
        at = end;
        for offset in start..end {
            let path = document.path(offset as usize);
            let span = document.resolve(&path);
            assert_eq!(
                span,
                Some((start as usize, end as usize)),
                "{path} at {offset} of {:?}",
                bytes.escape_ascii()
            );
        }
        check_node(&document, mark);
    }
    assert_eq!(at as usize, bytes.len());
    check_states(&document, bytes);
}

/// Checks that a mark lies within its node, and a node within its parent.
fn check_node(document: &Document, mark: &[u32]) {
    let nodes = document.nodes(mark[5] as usize).expect("a frame");
    let row = |node: u32| &nodes[node as usize * NODE_WORDS..][..NODE_WORDS];
    let mut node = row(mark[4]);
    assert!(
        node[1] <= mark[1] && mark[2] <= node[2],
        "{mark:?} in {node:?}"
    );
    assert_eq!(node[3], mark[3]);
    while node[4] != u32::MAX {
        let around = row(node[4]);
        assert!(around[1] <= node[1] && node[2] <= around[2]);
        assert!(around[3] < node[3]);
        node = around;
    }
}

/// Checks that the open values match the codec's own stack, and that the next byte was expected.
fn check_states(document: &Document, bytes: &[u8]) {
    for offset in 0..bytes.len() {
        let state = document.state(offset).expect("decoded");
        let frame = document.frames[state.frame as usize];
        if frame.is_bad() {
            continue;
        }
        // The codec refuses misplaced values only when their line is complete.
        let is_line_whole = bytes[offset..frame.end()].contains(&b'\n');
        assert!(
            state.expected_bytes.contains(&bytes[offset]) || !is_line_whole,
            "{state:?} of {:?}",
            bytes.escape_ascii()
        );
        for open in &state.open {
            assert_eq!(open.of.is_none(), open.left.is_none());
            assert!(open.of.is_none_or(|of| open.done < of), "{state:?}");
        }
        if document.mode == Mode::Replies {
            let depth = codec_depth(&bytes[frame.start()..offset], document.limits);
            assert_eq!(
                state.open.len(),
                depth,
                "{state:?} of {:?}",
                bytes.escape_ascii()
            );
        }
    }
}

/// The number of values that the codec has open after these bytes.
fn codec_depth(bytes: &[u8], limits: Limits) -> usize {
    let mut decoder = EventDecoder::new(limits);
    let mut rest = bytes;
    while let Ok(Step::Ready { consumed, .. }) = decoder.decode(rest) {
        rest = &rest[consumed..];
    }
    decoder.depth()
}

const SAMPLES: &[(&[u8], u32)] = &[
    (b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\nSET 'a b' \"c\\x41\"\r\n\r\n*0\r\n*1\r\n$4\r\nPI", 0),
    (b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n+v\r\n*1\r\n$4\r\nPING\r\n", 0),
    (b"  \r\n", 0),
    (b" GET  k \r\n", 0),
    (b"%2\r\n+a\r\n*2\r\n:1\r\n:-2\r\n$1\r\nb\r\n_\r\n", 1),
    (b"|1\r\n+ttl\r\n:9\r\n|1\r\n+x\r\n:8\r\n*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n", 1),
    (b"*?\r\n:1\r\n$?\r\n;2\r\nab\r\n;1\r\nc\r\n;0\r\n.\r\n", 1),
    (b"*2\r\n*0\r\n%0\r\n*-1\r\n$-1\r\n#t\r\n,1.5\r\n(123\r\n=7\r\ntxt:abc\r\n!3\r\nERR\r\n", 1),
    (b"*2\r\n*1\r\n:1\r\n:x\r\n+OK\r\n>2\r\n+a\r\n", 1),
    (b"\x03\x01\0\0\0k\x02\0\0\0vv\x10\x02\0\0\0\x03\0\0\0GET\x01\0\0\0k\x01\x09", 2),
    (b"\x01\x01\0\0\0k\x09rest", 2),
    (b"*\x02\0\0\0:\x01\0\0\0\0\0\0\0%\x01\0\0\0#\x01,\0\0\0\0\0\0\xf8\x3f=\x05\0\0\0txtab_$\x02\0\0\0hi+", 3),
];

#[test]
fn samples_agree_whole_and_truncated_at_every_byte() {
    for (bytes, mode) in SAMPLES {
        for end in 0..=bytes.len() {
            check_agreement(&bytes[..end], *mode);
        }
    }
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    let fixed: Vec<&'static [u8]> = vec![
        b"*2\r\n",
        b"*1\r\n",
        b"*0\r\n",
        b"%1\r\n",
        b"~1\r\n",
        b">1\r\n",
        b"|1\r\n",
        b"*?\r\n",
        b"$?\r\n",
        b";1\r\na\r\n",
        b";0\r\n",
        b".\r\n",
        b"$1\r\nk\r\n",
        b"$3\r\nGET\r\n",
        b"$-1\r\n",
        b"_\r\n",
        b":12\r\n",
        b":-3\r\n",
        b"+OK\r\n",
        b"#t\r\n",
        b",1e3\r\n",
        b"(99\r\n",
        b"=5\r\ntxt:a\r\n",
        b"\r\n",
        b"PING 'x y'\r\n",
        b"\r",
        b"\n",
        b"x",
        b"$",
        b"5",
        b"\"",
        b"\x01",
        b"\x02\0\0\0",
        b"\x10",
    ];
    proptest::sample::select(fixed).prop_map(<[u8]>::to_vec)
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(token(), 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn all_views_of_any_bytes_agree(bytes in input(), mode in 0..4u32) {
        check_agreement(&bytes, mode);
    }

    #[test]
    fn any_slices_and_pieces_give_the_same_frames(
        bytes in input(),
        mode in 0..4u32,
        budget in 1..9usize,
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = all_frames(&document(&bytes, mode));
        let mut sliced = Document::new(mode, 2).expect("a mode");
        sliced.set_bytes(bytes.clone()).expect("short");
        while sliced.parse(budget) < bytes.len() {}
        prop_assert_eq!(&all_frames(&sliced), &whole);
        let cut = cut.index(bytes.len() + 1);
        let mut grown = document(&bytes[..cut], mode);
        grown.append(&bytes[cut..]).expect("short");
        while grown.parse(budget) < bytes.len() {}
        prop_assert_eq!(&all_frames(&grown), &whole);
        prop_assert_eq!(grown.error_count(), sliced.error_count());
    }

    #[test]
    fn edited_document_equals_a_new_one_with_the_same_bytes(
        bytes in input(),
        with in input(),
        mode in 0..4u32,
        at in any::<prop::sample::Index>(),
        len in 0..6usize,
    ) {
        let at = at.index(bytes.len() + 1);
        let len = len.min(bytes.len() - at);
        let mut edited = document(&bytes, mode);
        edited.replace(at, len, &with).expect("within");
        edited.parse(usize::MAX);
        let fresh = document(&[&bytes[..at], &with, &bytes[at + len..]].concat(), mode);
        prop_assert_eq!(all_frames(&edited), all_frames(&fresh));
        prop_assert_eq!(edited.error_count(), fresh.error_count());
    }

    #[test]
    fn any_reads_complete_the_same_frames(
        bytes in input(),
        mode in 0..4u32,
        mut cuts in prop::collection::vec(0..64u32, 0..20),
    ) {
        cuts.sort_unstable();
        let document = document(&bytes, mode);
        let sums = |cuts: &[u32]| {
            let rows = document.reads(cuts).expect("few");
            let rows: Vec<_> = rows.chunks(READ_WORDS).map(<[u32]>::to_vec).collect();
            let frames: u32 = rows.iter().map(|row| row[3]).sum();
            let last = rows.last().expect("one read").clone();
            (frames, last[0], if last[0] == 1 { last[4] } else { last[5] })
        };
        prop_assert_eq!(sums(&cuts), sums(&[]));
        prop_assert!(bytes.len() < 3 || document.reads(&[2, 1]).is_err());
    }
}

#[test]
fn paths_of_common_values_resolve() {
    let request = document(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", 0);
    for (offset, path) in [
        (0, "cmd[0].type"),
        (1, "cmd[0].len"),
        (2, "cmd[0].len.crlf"),
        (5, "cmd[0].arg[0].len"),
        (8, "cmd[0].arg[0].payload"),
        (11, "cmd[0].arg[0].crlf"),
        (17, "cmd[0].arg[1].payload"),
    ] {
        assert_eq!(request.path(offset), path);
    }
    assert_eq!(request.resolve("cmd[0].arg[1]"), Some((13, 20)));
    assert_eq!(request.resolve("cmd[0]"), Some((0, 20)));
    assert_eq!(request.resolve("cmd[1]"), None);
    assert_eq!(request.resolve("cmd[0].arg[2]"), None);
    let reply = document(
        b"|1\r\n+a\r\n:1\r\n%1\r\n*1\r\n#t\r\n$?\r\n;1\r\nx\r\n;0\r\n",
        1,
    );
    assert_eq!(reply.path(5), "reply[0].attr[0][0].key.payload");
    assert_eq!(reply.path(21), "reply[0][0].key[0].payload");
    assert_eq!(reply.path(32), "reply[0][0].value.chunk[0].payload");
}

#[test]
fn state_has_the_number_of_missing_values() {
    let document = document(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nvalue", 0);
    let state = document.state(22).expect("decoded");
    assert_eq!(
        (state.state, state.number.as_deref()),
        ("length", Some("1"))
    );
    assert_eq!(state.text, "in the length of argument 2");
    assert_eq!(state.expected, "a digit or CR");
    assert_eq!(
        (state.open[0].done, state.open[0].of, state.open[0].left),
        (2, Some(3), Some(1))
    );
    let state = document.state(28).expect("decoded");
    assert_eq!(
        (state.state, state.payload_left, state.need),
        ("payload", Some(9), 11)
    );
    assert_eq!(state.path, "cmd[0].arg[2]");
    let state = document.state(0).expect("decoded");
    assert_eq!((state.state, state.need), ("between", 0));
}

#[test]
fn state_after_a_header_above_the_limit_is_an_error() {
    let mut document = Document::new(1, 2).expect("a mode");
    document.limits.max_frame = 64;
    let bytes = b"*2\r\n:1\r\n$100\r\nabc";
    document.set_bytes(bytes.to_vec()).expect("short");
    document.parse(usize::MAX);
    assert_eq!(document.state(13).expect("decoded").state, "lf");
    for offset in 14..bytes.len() {
        assert_eq!(document.state(offset).expect("decoded").state, "error");
    }
}

#[test]
fn error_has_offset_reply_and_fix() {
    let mut document = document(b"PING\r\n*1\r\n$4\r\nPINGS\r\n*1\r\n$4\r\nPING\r\n", 0);
    assert_eq!((document.frame_count(), document.error_count()), (3, 1));
    let error = document.error(1).expect("a frame").expect("bad");
    assert_eq!((error.offset, error.resync), (18, 21));
    assert_eq!(error.reply, "-ERR Protocol error: invalid bulk length\r\n");
    assert!(
        error
            .rendered
            .starts_with("Protocol error: invalid bulk length at byte 18\n")
    );
    assert_eq!(document.error(0), Ok(None));
    document.fix(1, 0).expect("a fix");
    document.parse(usize::MAX);
    assert_eq!((document.frame_count(), document.error_count()), (3, 0));
}

#[test]
fn verdict_depends_on_the_limits() {
    let request = format!("*1\r\n${}\r\n", 20_000);
    let document = document(request.as_bytes(), 0);
    let verdicts = document.verdicts(0).expect("a frame");
    assert_eq!(verdicts[0].reply, None);
    assert_eq!(
        verdicts[1].reply.as_deref(),
        Some("-ERR Protocol error: unauthenticated bulk length\r\n")
    );
    assert!(verdicts[1].closes);
}

#[test]
fn text_and_payload_are_readable() {
    let reply = document(
        b"*4\r\n$2\r\na\n\r\n:-5\r\n$?\r\n;1\r\nx\r\n;1\r\ny\r\n;0\r\n%1\r\n+k\r\n_\r\n",
        1,
    );
    let text = |node| reply.text(0, node, 80).expect("a node");
    assert_eq!(text(0), "array of 4");
    assert_eq!(text(1), "\"a\\n\"");
    assert_eq!(text(2), "(integer) -5");
    assert_eq!(reply.payload(0, 3), Ok(b"xy".to_vec()));
    assert_eq!(text(7), "map of 1 pair");
    assert_eq!(text(9), "(nil)");
    let line = document(b"set 'a b' \"\\x01\"\r\n", 0);
    assert_eq!(line.payload(0, 2), Ok(b"a b".to_vec()));
    assert_eq!(line.payload(0, 3), Ok(vec![1]));
    assert_eq!(line.text(0, 0, 80), Ok("request of 3".to_owned()));
    let error = document(b"-ERR no 'FOO' \"bar\" \\ \x01\r\n", 1);
    let said = "(error) ERR no 'FOO' \"bar\" \\\\ \\x01";
    assert_eq!(error.text(0, 0, 80), Ok(said.to_owned()));
    let binary = document(b":\xff\xff\xff\xff\xff\xff\xff\xff", 3);
    assert_eq!(binary.text(0, 0, 80), Ok("(integer) -1".to_owned()));
    assert!(line.text(0, 9, 80).is_err() && line.text(5, 0, 80).is_err());
}

#[test]
fn filter_finds_frames_that_match_its_words() {
    let bytes = b"GET user:1\r\nSET user:2 v\r\nAUTH hunter2\r\n*1\r\n+x\r\nFOO\r\nGET";
    let document = document(bytes, 0);
    let found = |query| document.filter(query, 99).expect("a query");
    assert_eq!(found("get"), [0]);
    assert_eq!(found("key:user:*"), [0, 1]);
    assert_eq!(found("set key:user:1"), [0; 0]);
    assert_eq!(found("is:secret"), [2]);
    assert_eq!(found("is:bad"), [3]);
    assert_eq!(found("foo"), [3; 0]);
    assert_eq!(document.filter("", 2), Ok(vec![0, 1]));
    assert!(document.filter("is:nice", 9).is_err() && document.filter("bytes>x", 9).is_err());
    assert_eq!(document.find(b"user:", 1, 9), [4, 16]);
}

#[test]
fn secret_argument_is_flagged_in_the_tree() {
    for bytes in [
        &b"*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"[..],
        b"*2\r\n$4\r\nAUTH\r\n$9\r\npw",
        b"auth pw\r\n",
    ] {
        let document = document(bytes, 0);
        let nodes = document.nodes(0).expect("a frame");
        assert_eq!(
            nodes[2 * NODE_WORDS] >> 8 & 16,
            16,
            "{:?}",
            bytes.escape_ascii()
        );
        assert_eq!(nodes[NODE_WORDS] >> 8 & 16, 0);
    }
}

#[test]
fn list_of_passwords_has_their_spans() {
    let found = |bytes: &[u8], mode| -> Vec<Vec<u8>> {
        let document = document(bytes, mode);
        let spans = document.secrets(0, bytes.len());
        let spans = spans.chunks(2);
        spans
            .map(|span| bytes[span[0] as usize..span[1] as usize].to_vec())
            .collect()
    };
    let several = b"AUTH one\r\nGET k\r\n*2\r\n$4\r\nAUTH\r\n$3\r\ntwo\r\nHELLO 3 AUTH u three\r\n";
    assert_eq!(found(several, 0), [&b"one"[..], b"two", b"three"]);
    assert_eq!(found(b"*2\r\n$4\r\nAUTH\r\n$9\r\npw", 0), [b"pw"]);
    assert_eq!(found(b"*2\r\n$4\r\nAUTH\r\n$2\r\npwx\r\n", 0), [b"pw"]);
    assert_eq!(found(b"+AUTH pw\r\n", 1), [b""; 0]);
    assert_eq!(document(several, 0).secrets(6, 7), [6, 7]);
    assert_eq!(document(several, 0).secrets(10, 17), [0; 0]);
}

#[test]
fn empty_requests_are_not_unknown_values() {
    let bytes = b"*0\r\n*-1\r\n\r\n*1\r\n$4\r\nPING\r\n";
    check_agreement(bytes, 0);
    let document = document(bytes, 0);
    let nodes = document.nodes(0).expect("a frame");
    assert!(
        nodes
            .chunks(NODE_WORDS)
            .all(|node| node[0] & 0xff != crate::NodeKind::Unknown as u32),
        "{nodes:?}"
    );
}
