//! Tests that a decoder does not allocate per request or reply once it has decoded its largest.

mod allocator;

use allocator::allocations;
use resp_codec::{
    CommandDecoder, Encoder, EventDecoder, FrameDecoder, Limits, Proto, Step, binary, command,
};

/// Drives `decode` over `input` in reads of `size` bytes.
fn drive<T>(input: &[u8], size: usize, mut decode: impl FnMut(&[u8]) -> Step<T>) {
    let (mut start, mut end) = (0, 0);
    while start < input.len() {
        match decode(&input[start..end]) {
            Step::Ready { consumed, .. } => start += consumed,
            Step::NeedMore { consumed, .. } => {
                start += consumed;
                end = (end + size).min(input.len());
            }
        }
    }
}

fn requests() -> Vec<u8> {
    let mut input = b"SET k 'a b'\r\n\r\n*0\r\n".to_vec();
    command(&mut input, &["SET", "key", &"v".repeat(1000)]);
    command(&mut input, &vec!["x"; 500]);
    input
}

#[test]
fn requests_allocate_nothing_in_steady_state() {
    let input = requests();
    for size in [1, 7, 1448, input.len()] {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        let mut pass = || {
            drive(&input, size, |buf| match decoder.decode(buf).unwrap() {
                Step::Ready { item, consumed } => Step::Ready {
                    item: item.len(),
                    consumed,
                },
                Step::NeedMore { consumed, hint } => Step::NeedMore { consumed, hint },
            })
        };
        pass();
        assert_eq!(allocations(pass), 0, "reads of {size}");
    }
}

#[test]
fn replies_allocate_nothing_in_steady_state() {
    let input = b"|1\r\n+a\r\n:1\r\n*3\r\n%?\r\n$?\r\n;1\r\na\r\n;0\r\n#t\r\n.\r\n~2\r\n,1.5\r\n(1\r\n$-1\r\n".repeat(20);
    for size in [1, 7, 1448] {
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        let mut pass = || {
            drive(&input, size, |buf| match decoder.decode(buf).unwrap() {
                Step::Ready { item, consumed } => Step::Ready {
                    item: item.len(),
                    consumed,
                },
                Step::NeedMore { consumed, hint } => Step::NeedMore { consumed, hint },
            })
        };
        pass();
        assert_eq!(allocations(pass), 0, "reads of {size}");
        let mut decoder = EventDecoder::new(Limits::CLIENT);
        let mut pass = || {
            drive(&input, size, |buf| match decoder.decode(buf).unwrap() {
                Step::Ready { consumed, .. } => Step::Ready { item: (), consumed },
                Step::NeedMore { consumed, hint } => Step::NeedMore { consumed, hint },
            })
        };
        // Events without bytes end a frame, so the input is driven twice to return to its start.
        pass();
        pass();
        assert_eq!(allocations(pass), 0, "events, reads of {size}");
    }
}

#[test]
fn binary_requests_allocate_nothing_in_steady_state() {
    let mut input = Vec::new();
    binary::write_set(&mut input, b"key", b"value");
    binary::write_call(&mut input, &["PING"; 30]);
    let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    let mut pass = || {
        drive(&input, 5, |buf| match decoder.decode(buf).unwrap() {
            Step::Ready { item, consumed } => Step::Ready {
                item: item.op(),
                consumed,
            },
            Step::NeedMore { consumed, hint } => Step::NeedMore { consumed, hint },
        })
    };
    pass();
    assert_eq!(allocations(pass), 0);
}

#[test]
fn encoding_into_a_large_enough_buffer_allocates_nothing() {
    for proto in [Proto::Resp2, Proto::Resp3, Proto::Binary] {
        let mut out = Vec::with_capacity(4096);
        let count = allocations(|| {
            let mut encoder = Encoder::new(&mut out, proto);
            encoder.map(2);
            encoder.bulk("short");
            encoder.bulk([b'x'; 300]);
            encoder.double(-1.5e-7);
            encoder.int(i64::MIN);
            encoder.error("ERR a\r\nb");
            encoder.verbatim(*b"txt", b"text");
        });
        assert_eq!(count, 0);
    }
}
