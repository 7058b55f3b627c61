//! Tests of one direction: copies in, frames out.

use super::*;
use proptest::prelude::*;

/// Both directions of a connection, and the pieces they have emitted.
struct Line {
    secrets: Secrets,
    forms: VecDeque<bool>,
    held: usize,
    pieces: Vec<Piece>,
    received: Direction,
    sent: Direction,
}

impl Line {
    fn new() -> Self {
        let mut secrets = Secrets::new();
        secrets.learn(b"hunter2"[..].into());
        Self {
            secrets,
            forms: VecDeque::new(),
            held: 0,
            pieces: Vec::new(),
            received: Direction::new(true),
            sent: Direction::new(false),
        }
    }

    fn with<T>(
        &mut self,
        is_client: bool,
        act: impl FnOnce(&mut Direction, &mut Context<'_>) -> T,
    ) -> T {
        let mut cx = Context {
            secrets: &self.secrets,
            forms: &mut self.forms,
            held: &mut self.held,
            pieces: &mut self.pieces,
        };
        let side = if is_client {
            &mut self.received
        } else {
            &mut self.sent
        };
        act(side, &mut cx)
    }

    fn copy(&mut self, is_client: bool, bytes: &[u8], gap: Option<Gap>) -> bool {
        let is_binary = false;
        let bytes = bytes.into();
        let copy = Copy {
            bytes,
            is_binary,
            gap,
        };
        self.with(is_client, |side, cx| side.take(&copy, cx))
    }

    fn ask(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.copy(true, bytes.as_ref(), None)
    }

    fn answer(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.copy(false, bytes.as_ref(), None)
    }

    fn call(&mut self, is_client: bool, bytes: &[u8]) {
        let copy = Copy {
            bytes: bytes.into(),
            is_binary: true,
            gap: None,
        };
        assert!(!self.with(is_client, |side, cx| side.take(&copy, cx)));
    }

    fn end(&mut self) {
        self.with(true, Direction::end);
        self.with(false, Direction::end);
        assert_eq!(self.held, 0, "all buffers are empty");
    }

    /// The pieces emitted since the last call.
    fn given(&mut self) -> Vec<String> {
        let given = std::mem::take(&mut self.pieces).into_iter();
        given
            .map(|piece| match piece {
                Piece::Shown { bytes, cuts } => format!("{} {cuts:?}", bytes.escape_ascii()),
                Piece::Lost(Lost { bytes, why }) => format!("lost {bytes} {}", why.text()),
            })
            .collect()
    }

    /// All bytes shown since the last call, and how many were hidden.
    fn shown_and_hidden(&mut self) -> (Vec<u8>, u64) {
        let (mut shown, mut hidden) = (Vec::new(), 0);
        for piece in std::mem::take(&mut self.pieces) {
            match piece {
                Piece::Shown { bytes, .. } => shown.extend(bytes),
                Piece::Lost(Lost {
                    bytes,
                    why: Cause::Doubtful,
                }) => hidden += bytes,
                Piece::Lost(lost) => panic!("{lost:?}"),
            }
        }
        (shown, hidden)
    }

    /// Only the bytes that are shown.
    fn shown(&mut self) -> Vec<u8> {
        self.shown_and_hidden().0
    }
}

#[test]
fn frames_are_whole_and_cuts_mark_the_ends_of_reads() {
    let mut line = Line::new();
    line.ask("PI");
    assert_eq!(line.given(), [""; 0]);
    line.ask("NG\r\n\r\nGET a\r\nGE");
    assert_eq!(line.given(), [r"PING\r\n\r\nGET a\r\n [2]"]);
    line.ask("T b\r\n");
    assert_eq!(line.given(), [r"GET b\r\n [2, 7]"]);
    line.answer("+OK\r\n$1\r\n");
    assert_eq!(line.given(), [r"+OK\r\n []"]);
    line.answer("x\r\n>2\r\n+a\r\n:1\r\n");
    assert_eq!(line.given(), [r"$1\r\nx\r\n>2\r\n+a\r\n:1\r\n [4, 19]"]);
    line.end();
    assert_eq!(line.given(), [""; 0]);
}

#[test]
fn frames_above_the_size_limit_are_left_out() {
    let mut line = Line::new();
    let large = FRAME_BYTES_MAX + 100;
    let set = format!(
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${large}\r\n{}\r\n",
        "v".repeat(large)
    );
    assert!(
        !line.ask(format!("GET a\r\n{set}GET b\r\n")),
        "it is in step"
    );
    let lost = format!("lost {} too large", set.len());
    assert_eq!(line.given(), [r"GET a\r\n []", &lost, r"GET b\r\n [7]"]);

    let (first, rest) = set.split_at(FRAME_BYTES_MAX + 1);
    assert!(line.ask(first), "no more copies are wanted");
    assert!(!line.ask("what was under way"));
    assert_eq!(line.given(), [""; 0]);
    let gap = Gap {
        bytes: rest.len() as u64,
        why: Why::Unwanted,
    };
    assert!(!line.copy(true, b"GET c\r\n", Some(gap)));
    let bytes = set.len() + "what was under way".len();
    assert_eq!(
        line.given(),
        [
            format!("lost {bytes} too large"),
            r"GET c\r\n [7]".to_owned()
        ]
    );
    line.end();
}

#[test]
fn gap_reports_the_unfinished_frame_before_it() {
    let mut line = Line::new();
    let gap = |bytes, why| Some(Gap { bytes, why });
    line.copy(true, b"PING\r\n", gap(0, Why::BeganInTheMiddle));
    assert_eq!(line.given(), [r"PING\r\n [6]"]);
    line.copy(false, b"+OK\r\n", gap(3, Why::BeganInTheMiddle));
    assert_eq!(line.given(), ["lost 3 began in the middle", r"+OK\r\n [5]"]);
    line.ask("GET ");
    line.copy(true, b"PING\r\n", gap(10, Why::TooFast));
    assert_eq!(line.given(), ["lost 14 too fast", r"PING\r\n [6]"]);
    line.end();
}

#[test]
fn buffered_bytes_are_bounded_over_all_connections() {
    let mut line = Line::new();
    line.held = HELD_BYTES_MAX - 3;
    assert!(!line.ask("GET"));
    assert!(line.ask(" "));
    line.held -= HELD_BYTES_MAX - 3;
    assert_eq!(line.held, 0);
    line.end();
    assert_eq!(line.given(), ["lost 1 too fast"]);
}

#[test]
fn invalid_bytes_end_the_direction_and_only_requests_show_them() {
    let mut line = Line::new();
    assert!(line.ask("PING\r\n*1\r\n:5\r\nwhat"));
    assert_eq!(line.given(), [r"PING\r\n []", r"*1\r\n:5\r\nwhat [12]"]);
    assert!(line.answer("+OK\r\nwhat"));
    assert_eq!(line.given(), [r"+OK\r\n []", "lost 4 may hold a password"]);
    line.end();
    assert!(line.ask("POST / HTTP/1.1\r\nCookie: x\r\n"));
    let hidden = "lost 11 may hold a password";
    assert_eq!(line.given(), [r"POST / HTTP/1.1\r\n []", hidden]);
    line.end();
    // The bytes after the length are the password, however long that is.
    assert!(line.ask("*2\r\n$4\r\nAUTH\r\n$x\r\npass\r\n"));
    let shown = r"*2\r\n$4\r\nAUTH\r\n$ []";
    assert_eq!(line.given(), [shown, "lost 9 may hold a password"]);
    line.end();
}

/// Requests with a password, and the same as viewers may see them.
const SECRETS: [(&str, &str); 7] = [
    ("AUTH user pass\r\n", "AUTH user ****\r\n"),
    (
        "*2\r\n$4\r\nAUTH\r\n$4\r\npass\r\n",
        "*2\r\n$4\r\nAUTH\r\n$4\r\n****\r\n",
    ),
    (
        "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$4\r\nuser\r\n$4\r\npass\r\n",
        "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$4\r\nuser\r\n$4\r\n****\r\n",
    ),
    (
        "*5\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$3\r\nbob\r\n$2\r\non\r\n$5\r\n>pass\r\n",
        "*5\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$3\r\nbob\r\n$2\r\non\r\n$5\r\n*****\r\n",
    ),
    (
        "*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$4\r\npass\r\n",
        "*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$4\r\n****\r\n",
    ),
    (
        "CONFIG SET masterauth \"pa\\x73s\"\r\n",
        "CONFIG SET masterauth \"*******\"\r\n",
    ),
    ("SET k hunter2\r\n", "SET k *******\r\n"),
];

#[test]
fn passwords_are_hidden_however_requests_are_split() {
    for (request, safe) in SECRETS {
        for at in 0..=request.len() {
            let mut line = Line::new();
            line.ask(&request[..at]);
            line.ask(&request[at..]);
            line.ask("PING\r\n");
            let shown = format!("{safe}PING\r\n").into_bytes();
            assert_eq!(line.shown_and_hidden(), (shown, 0), "{at}");
        }
    }
}

#[test]
fn truncated_request_shows_nothing_of_its_password() {
    for (request, safe) in SECRETS {
        for at in 0..request.len() {
            let mut line = Line::new();
            line.ask("PING\r\n");
            line.ask(&request[..at]);
            line.end();
            let (shown, hidden) = line.shown_and_hidden();
            assert_eq!(
                shown.len() + hidden as usize,
                at + 6,
                "every byte is shown or counted"
            );
            let whole = format!("PING\r\n{safe}");
            assert!(
                whole.as_bytes().starts_with(&shown),
                "{}",
                shown.escape_ascii()
            );
        }
    }
}

#[test]
fn replies_never_show_the_servers_password() {
    let reply = "*2\r\n$11\r\nrequirepass\r\n$4\r\npass\r\n";
    let safe = "*2\r\n$11\r\nrequirepass\r\n$4\r\n****\r\n";
    for at in 0..=reply.len() {
        let mut line = Line::new();
        line.answer(&reply[..at]);
        line.answer(&reply[at..]);
        assert_eq!(line.shown_and_hidden(), (safe.as_bytes().to_vec(), 0));
        line.answer(&reply[..at]);
        line.end();
        let (shown, hidden) = line.shown_and_hidden();
        assert!(safe.as_bytes().starts_with(&shown), "{at}");
        assert_eq!(shown.len() + hidden as usize, at);
    }
}

/// Bytes that peers send, valid and invalid, some of them similar to passwords.
fn sent_bytes() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        &b"*3\r\n"[..],
        b"*2\r\n",
        b"$4\r\n",
        b"$7\r\n",
        b"$",
        b"\r\n",
        b"\n",
        b"AUTH",
        b"auth ",
        b"CONFIG",
        b"SET",
        b"GET k",
        b"requirepass",
        b"hunter2",
        b"\"",
        b"'",
        b" ",
        b"%1\r\n",
        b"+",
        b"-ERR ",
        b":1\r\n",
        b"\x10\x02\0\0\0",
        b"\x04\0\0\0",
        b"\x07\0\0\0",
        b"\x01",
        b"\x03",
        b"_",
        b"|1\r\n",
        b"\xff",
    ]);
    prop::collection::vec(words, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn servers_password_is_never_shown(
        reads in prop::collection::vec(sent_bytes(), 0..6),
        is_client: bool,
        is_binary: bool,
        forms in prop::collection::vec(any::<bool>(), 0..4),
    ) {
        let mut line = Line::new();
        line.forms.extend(forms);
        for read in &reads {
            let copy = Copy { bytes: read.as_slice().into(), is_binary, gap: None };
            line.with(is_client, |side, cx| side.take(&copy, cx));
        }
        line.end();
        for piece in std::mem::take(&mut line.pieces) {
            if let Piece::Shown { bytes, cuts } = piece {
                prop_assert!(memchr::memmem::find(&bytes, b"hunter2").is_none(), "{}", bytes.escape_ascii());
                prop_assert!(cuts.iter().all(|cut| (1..=bytes.len()).contains(&(*cut as usize))));
                prop_assert!(cuts.is_sorted());
            }
        }
    }
}

#[test]
fn binary_replies_are_decoded_by_the_kind_of_their_request() {
    let mut line = Line::new();
    let get = b"\x01\x01\0\0\0k";
    let auth = b"\x10\x02\0\0\0\x04\0\0\0AUTH\x04\0\0\0pass";
    line.call(true, &[&get[..], auth, get].concat());
    let safe = b"\x10\x02\0\0\0\x04\0\0\0AUTH\x04\0\0\0****";
    assert_eq!(line.shown(), [&get[..], safe, get].concat());
    // An untagged reply that would be valid as a tagged one, a tagged one, and an untagged one in
    // two pieces.
    let plain = b"\x01\0\0\0_";
    let tagged = b"+\x02\0\0\0OK";
    line.call(false, &[&plain[..], tagged, b"\x07\0\0\0hun"].concat());
    assert_eq!(line.shown(), [&plain[..], tagged].concat());
    line.call(false, b"ter2");
    assert_eq!(line.shown(), b"\x07\0\0\0*******");
    assert!(line.forms.is_empty());
    // A length may have any value.
    line.call(false, b"+hunter2");
    line.end();
    assert_eq!(line.shown(), b"+");
    // A protocol error is a tagged reply, although no request is known.
    line.call(false, b"-\x01\0\0\0e");
    assert_eq!(line.shown(), b"-\x01\0\0\0e");
    line.end();
}
