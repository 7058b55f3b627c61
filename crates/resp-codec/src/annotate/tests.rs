//! Unit tests of annotations, diagnoses and fixes.

use alloc::vec::Vec;
use std::format;
use std::string::{String, ToString};

use super::{
    Mark, Mode, Outcome, Prefix, Role, annotate, annotate_frame, diagnose, expected_after,
};
use crate::{ErrorKind, Limits};

fn marks(input: &[u8], mode: Mode) -> (Vec<Mark>, Outcome) {
    let mut marks = Vec::new();
    let outcome = annotate(input, mode, &Limits::SERVER, &mut marks);
    let mut at = 0;
    for mark in &marks {
        assert_eq!(mark.at, at, "{marks:?}");
        assert_eq!(mark.len == 0, mark.role == Role::Missing, "{marks:?}");
        at += mark.len;
    }
    assert_eq!(
        at as usize,
        input.len(),
        "{:?}: {marks:?}",
        input.escape_ascii()
    );
    (marks, outcome)
}

/// Draws one letter per byte, in upper case where a new mark begins.
fn draw(input: &[u8], mode: Mode) -> String {
    let mut drawn = String::new();
    for mark in marks(input, mode).0 {
        let letter = match mark.role {
            Role::Type => 't',
            Role::Sign => 's',
            Role::Length => 'l',
            Role::Digits => 'd',
            Role::Crlf => 'c',
            Role::Payload => 'p',
            Role::Format => 'f',
            Role::Colon => 'o',
            Role::StreamOpen => 'q',
            Role::StreamEnd => 'e',
            Role::InlineArg => 'a',
            Role::Space => 'b',
            Role::Quote => 'u',
            Role::Escape => 'x',
            Role::Field => 'n',
            Role::Bad(_) => 'z',
            Role::Missing => continue,
        };
        drawn.push(letter.to_ascii_uppercase());
        drawn.extend(core::iter::repeat_n(letter, mark.len as usize - 1));
    }
    drawn
}

#[test]
fn every_byte_of_a_valid_request_is_annotated() {
    assert_eq!(
        draw(b"*2\r\n$3\r\nGET\r\n$10\r\n0123456789\r\n", Mode::Requests),
        "TLCcTLCcPppCcTLlCcPpppppppppCc"
    );
    assert_eq!(
        draw(b"*-1\r\n\r\nPING\r\n", Mode::Requests),
        "TSLCcCcAaaaCc"
    );
    assert_eq!(
        draw(b" ECHO \"a\\x41\"  'b' \n", Mode::Requests),
        "BAaaaBUAXxxxUBbUAUBC"
    );
}

#[test]
fn every_byte_of_a_valid_reply_is_annotated() {
    assert_eq!(
        draw(
            b"|1\r\n+a\r\n:-5\r\n%?\r\n$?\r\n;2\r\nab\r\n;0\r\n=5\r\ntxt:v\r\n.\r\n",
            Mode::Replies
        ),
        "TLCcTPCcTSDCcTQCcTQCcTLCcPpCcTECcTLCcFffOPCcTCc"
    );
    assert_eq!(
        draw(b"_\r\n$-1\r\n,1.5\r\n#t\r\n", Mode::Replies),
        "TCcTSLCcTDddCcTPCc"
    );
}

#[test]
fn every_byte_of_valid_binary_messages_is_annotated() {
    assert_eq!(
        draw(b"\x03\x01\0\0\0k\x02\0\0\0vw", Mode::BinaryRequests),
        "TLlllPLlllPp"
    );
    assert_eq!(
        draw(b"\x10\x01\0\0\0\x04\0\0\0PING", Mode::BinaryRequests),
        "TLlllLlllPppp"
    );
    assert_eq!(draw(b"*\x02\0\0\0_#\x01", Mode::BinaryReplies), "TLlllTTN");
    assert_eq!(draw(b"=\x04\0\0\0txtv", Mode::BinaryReplies), "TLlllFffP");
}

#[test]
fn marks_have_the_depth_and_node_of_their_value() {
    let (marks, _) = marks(b"*2\r\n*1\r\n:1\r\n|1\r\n+a\r\n+b\r\n:2\r\n", Mode::Replies);
    let types: Vec<_> = marks
        .iter()
        .filter(|mark| mark.role == Role::Type)
        .map(|mark| (mark.node, mark.depth))
        .collect();
    assert_eq!(
        types,
        [(0, 0), (1, 1), (2, 2), (3, 1), (4, 2), (5, 2), (6, 1)]
    );
}

#[test]
fn incomplete_input_is_annotated_with_its_missing_bytes() {
    let input = b"*1\r\n$4\r\nPI";
    let (marks, outcome) = marks(input, Mode::Requests);
    assert_eq!(draw(input, Mode::Requests), "TLCcTLCcPp");
    assert_eq!(
        marks.last().map(|mark| (mark.role, mark.len)),
        Some((Role::Missing, 0))
    );
    assert_eq!((outcome.frames, outcome.missing), (0, Some(4)));
}

#[test]
fn annotation_resumes_after_an_error() {
    let input = b"*1\r\n$4\r\nPINGPONG\r\n*1\r\n$4\r\nPING\r\n";
    assert_eq!(
        draw(input, Mode::Requests),
        "TLCcTLCcPpppZzzzzzTLCcTLCcPpppCc"
    );
    let (_, outcome) = marks(input, Mode::Requests);
    assert_eq!((outcome.frames, outcome.errors), (1, 1));
    assert_eq!(
        outcome.error.map(|error| (error.kind, error.offset)),
        Some((ErrorKind::InvalidBulkLength, 12))
    );
    assert_eq!(draw(b":x\r\n+OK\r\n", Mode::Replies), "TZzzTPpCc");
}

#[test]
fn marks_cover_every_prefix_and_every_changed_byte() {
    let samples: [(&[u8], Mode); 4] = [
        (b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n\r\nSET 'a b' \"\\x41\"\r\n*0\r\n", Mode::Requests),
        (b"|1\r\n+a\r\n:1\r\n%?\r\n$?\r\n;2\r\nab\r\n;0\r\n=5\r\ntxt:v\r\n.\r\n>1\r\n+p\r\n,1e9\r\n(12\r\n#t\r\n", Mode::Replies),
        (b"\x03\x01\0\0\0k\x02\0\0\0vw\x10\x01\0\0\0\x04\0\0\0PING", Mode::BinaryRequests),
        (b"|\x01\0\0\0_#\x01*\x02\0\0\0:\x01\0\0\0\0\0\0\0=\x04\0\0\0txtv", Mode::BinaryReplies),
    ];
    for (sample, mode) in samples {
        for len in 0..=sample.len() {
            marks(&sample[..len], mode);
        }
        for at in 0..sample.len() {
            for byte in [
                0, b'\r', b'\n', b'0', b'9', b'-', b'$', b'*', b'?', b'.', b';', b'"', 0xff,
            ] {
                let mut flipped = sample.to_vec();
                flipped[at] = byte;
                marks(&flipped, mode);
            }
        }
    }
}

#[test]
fn expected_bytes_are_exact() {
    let expected = |input: &[u8], mode| {
        diagnose(input, mode, &Limits::SERVER)
            .unwrap()
            .expected
            .to_string()
    };
    assert_eq!(expected(b"*1\r\nPING\r\n", Mode::Requests), "'$'");
    assert_eq!(expected(b"*x", Mode::Requests), "a digit or '-'");
    assert_eq!(expected(b"*1x", Mode::Requests), "a digit or CR");
    assert_eq!(expected(b"*0x", Mode::Requests), "CR");
    assert_eq!(expected(b"*1\rX", Mode::Requests), "LF");
    assert_eq!(expected(b"$3\r\nabcd", Mode::Replies), "CR");
    assert_eq!(expected(b"=5\r\ntxtX", Mode::Replies), "':'");
    assert_eq!(expected(b"#x", Mode::Replies), "'f' or 't'");
    assert_eq!(expected(b"$?\r\nx", Mode::Replies), "';'");
    assert_eq!(
        expected(b"X", Mode::Replies),
        "'!', '#', '$', '%', '(', '*', '+', ',', '-', ':', '=', '>', '_', '|' or '~'"
    );
    assert_eq!(
        expected(b"\x04", Mode::BinaryRequests),
        "0x01, 0x02, 0x03 or 0x10"
    );
}

/// Invalid samples, each with the input that was meant.
const BROKEN: &[(Mode, &[u8], &[u8])] = &[
    (
        Mode::Requests,
        b"*1\r\n$3\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1\r\n$5\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1\r\n$6\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*2\r\n$4\r\nECHO\r\n$2\r\n\xc3\xa9t\r\n",
        b"*2\r\n$4\r\nECHO\r\n$3\r\n\xc3\xa9t\r\n",
    ),
    (Mode::Requests, b"*1\r\nPING\r\n", b"*1\r\n$4\r\nPING\r\n"),
    (
        Mode::Requests,
        b"*2\r\n$3\r\nGET\r\n:12\r\n",
        b"*2\r\n$3\r\nGET\r\n$2\r\n12\r\n",
    ),
    (
        Mode::Requests,
        b"*2\r\n+GET\r\n$1\r\nk\r\n",
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
    ),
    (
        Mode::Requests,
        b"*3\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n",
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*+1\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*01\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"* 1\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1 \r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1\r\n$04\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1\r\n$ 4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (Mode::Requests, b"*1\n$4\nPING\n", b"*1\r\n$4\r\nPING\r\n"),
    (
        Mode::Requests,
        b"*1\r\n$4\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1\r$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        b"*1\r\n$4\r\nPING\n*1\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
    ),
    (
        Mode::Requests,
        br"*1\r\n$4\r\nPING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ),
    (Mode::Requests, b"SET k \"a\r\n", b"SET k \"a\"\r\n"),
    (Mode::Requests, b"SET k 'a\r\n", b"SET k 'a'\r\n"),
    (Mode::Requests, b"SET \"k\"v\r\n", b"SET \"k\" v\r\n"),
    (
        Mode::Requests,
        b"*2\r\n$3\r\nGET\r\n$-1\r\n",
        b"*2\r\n$3\r\nGET\r\n$0\r\n\r\n",
    ),
    (Mode::Replies, b"OK\r\n", b"+OK\r\n"),
    (Mode::Replies, b"+OK\n", b"+OK\r\n"),
    (Mode::Replies, b"$2\r\nhello\r\n", b"$5\r\nhello\r\n"),
    (Mode::Replies, b"$-2\r\n", b"$-1\r\n"),
    (Mode::Replies, b"%-1\r\n", b"_\r\n"),
    (Mode::Replies, b"#true\r\n", b"#t\r\n"),
    (Mode::Replies, b"#T\r\n", b"#t\r\n"),
    (Mode::Replies, b",infinity\r\n", b",inf\r\n"),
    (Mode::Replies, b",NaN\r\n", b",nan\r\n"),
    (Mode::Replies, b",.5\r\n", b",0.5\r\n"),
    (Mode::Replies, b": 5\r\n", b":5\r\n"),
    (Mode::Replies, b":1.5\r\n", b",1.5\r\n"),
    (
        Mode::Replies,
        b":99999999999999999999\r\n",
        b"(99999999999999999999\r\n",
    ),
    (Mode::Replies, b"_x\r\n", b"_\r\n"),
    (Mode::Replies, b"=5\r\ntxt-v\r\n", b"=5\r\ntxt:v\r\n"),
    (Mode::Replies, b"*1\r\n>1\r\n+a\r\n", b"*1\r\n*1\r\n+a\r\n"),
    (
        Mode::Replies,
        b"%?\r\n+a\r\n.\r\n",
        b"%?\r\n+a\r\n_\r\n.\r\n",
    ),
];

#[test]
fn each_invalid_sample_is_corrected_by_a_fix() {
    let mut mended = 0;
    let mut meant = 0;
    for &(mode, broken, right) in BROKEN {
        let diagnosis = diagnose(broken, mode, &Limits::SERVER);
        let diagnosis = diagnosis.unwrap_or_else(|| panic!("{}", broken.escape_ascii()));
        let fixed: Vec<_> = diagnosis
            .fixes
            .iter()
            .map(|fix| fix.apply(broken))
            .collect();
        mended += usize::from(
            fixed
                .iter()
                .any(|fixed| diagnose(fixed, mode, &Limits::SERVER).is_none()),
        );
        let found = fixed.iter().any(|fixed| fixed == right);
        meant += usize::from(found);
        assert!(found, "{}: {:?}", broken.escape_ascii(), diagnosis.fixes);
    }
    assert_eq!((mended, meant), (BROKEN.len(), BROKEN.len()));
}

#[test]
fn diagnosis_displays_as_a_few_lines() {
    let diagnosis = diagnose(b"+OK\r\n*1\r\nPING\r\n", Mode::Replies, &Limits::CLIENT).unwrap();
    let text = format!("{diagnosis}");
    assert!(text.starts_with(
        "Protocol error: unknown reply type 0x50 at byte 9\n  +OK\\r\\n*1\\r\\nPING\\r\\n\n"
    ));
    assert!(text.lines().all(|line| line.len() < 120));
    let long = [&b"$3\r\n"[..], &b"x".repeat(1000)].concat();
    let diagnosis = diagnose(&long, Mode::Replies, &Limits::CLIENT).unwrap();
    assert!(format!("{diagnosis}").len() < 500);
}

#[test]
fn annotating_frame_by_frame_gives_the_same_marks() {
    let inputs: [(&[u8], Mode); 4] = [
        (
            b"\r\n*1\r\n$4\r\nPING\r\nGET 'a'\r\n*1\r\n+x\r\n*1\r\n$1",
            Mode::Requests,
        ),
        (b"*2\r\n:1\r\n_\r\n#x\r\n+OK\r\n$3\r\nab", Mode::Replies),
        (b"\x01\x01\0\0\0k\x04", Mode::BinaryRequests),
        (b"_*\x01\0\0\0#\x01$\x09\0\0\0a", Mode::BinaryReplies),
    ];
    for (input, mode) in inputs {
        let (whole, _) = marks(input, mode);
        let (mut parts, mut at) = (Vec::new(), 0);
        while at < input.len() {
            (at, _) = annotate_frame(input, at, mode, &Limits::SERVER, &mut parts);
        }
        let tile = |marks: &[Mark]| -> Vec<_> {
            let tile = marks.iter().map(|mark| (mark.at, mark.len, mark.role));
            tile.collect()
        };
        assert_eq!(tile(&whole), tile(&parts), "{:?}", input.escape_ascii());
    }
}

#[test]
fn every_byte_of_valid_input_is_expected() {
    let inputs: [(&[u8], Mode); 4] = [
        (b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", Mode::Requests),
        (
            b"|1\r\n+a\r\n*0\r\n%?\r\n$?\r\n;2\r\nab\r\n;0\r\n=5\r\ntxt:v\r\n.\r\n",
            Mode::Replies,
        ),
        (b"\x03\x01\0\0\0k\x01\0\0\0v", Mode::BinaryRequests),
        (b"*\x02\0\0\0#\x01,\0\0\0\0\0\0\0\0", Mode::BinaryReplies),
    ];
    for (input, mode) in inputs {
        for at in 0..input.len() {
            let expected = expected_after(&input[..at], mode, &Limits::SERVER);
            assert!(expected.contains(input[at]), "{mode:?} at {at}: {expected}");
        }
    }
}

#[test]
fn cloned_prefix_answers_like_a_new_one() {
    let inputs: [(&[u8], Mode); 6] = [
        (
            b"*0\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n",
            Mode::Requests,
        ),
        (b" SET 'a b' \"\\x01\"\r\n", Mode::Requests),
        (
            b"|1\r\n+a\r\n*0\r\n%?\r\n$?\r\n;2\r\nab\r\n;0\r\n=5\r\ntxt:v\r\n.\r\n",
            Mode::Replies,
        ),
        (b"*2\r\n*2\r\n:1\r\n*1\r\n_\r\n>1\r\n:1\r\n", Mode::Replies),
        (
            b"\x10\x02\0\0\0\x03\0\0\0GET\x01\0\0\0k",
            Mode::BinaryRequests,
        ),
        (
            b"*\x02\0\0\0%\x01\0\0\0:\0\0\0\0\0\0\0\0*\x01\0\0\0_#\x02",
            Mode::BinaryReplies,
        ),
    ];
    for (input, mode) in inputs {
        let knows = |mut prefix: Prefix, at: usize| {
            let lacking = prefix.advance(&input[..at]);
            (lacking, lacking.map(|_| prefix.expected(&input[..at])))
        };
        let mut kept = Prefix::new(mode, Limits::SERVER);
        for from in 0..=input.len() {
            // After the end of the frame or an error, decoding cannot continue.
            if !matches!(kept.advance(&input[..from]), Ok(1..)) {
                break;
            }
            for at in from..=input.len() {
                let fresh = knows(Prefix::new(mode, Limits::SERVER), at);
                let resumed = knows(kept.clone(), at);
                assert_eq!(resumed, fresh, "{mode:?} at {at}, kept at {from}");
            }
        }
    }
}

#[test]
fn each_word_of_an_inline_request_is_a_node() {
    let (marks, _) = marks(b" SET 'a b' \"\\x01\"  x \r\nPING\r\n", Mode::Requests);
    let nodes: Vec<_> = marks
        .iter()
        .filter(|mark| mark.role != Role::Space)
        .map(|mark| mark.node)
        .collect();
    assert_eq!(nodes, [0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4]);
}
