//! The rounds that the wasm bench runs as native code and as wasm.

use std::hint::black_box;

use resp_codec::{CommandDecoder, Encoder, FrameDecoder, Limits, Proto, command};

use crate::drain;
use crate::inputs::{self, Input};

/// One round to time, with all its inputs.
#[derive(Debug)]
pub struct Round {
    /// Its name in the report.
    pub name: &'static str,
    /// The number of items, by which a time is divided.
    pub items: u64,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Commands(CommandDecoder, Vec<u8>, usize),
    Frames(FrameDecoder, Vec<u8>, usize),
    EncodeRequests(Vec<u8>),
    EncodeReplies(Vec<u8>),
}

const ENCODED: u64 = 1000;
/// The bytes of one network segment.
const SEGMENT: usize = 1448;

/// All rounds, in the order of the report.
pub fn all() -> Vec<Round> {
    let encode = |name, work: fn(Vec<u8>) -> Work| Round {
        name,
        items: ENCODED,
        work: work(Vec::new()),
    };
    vec![
        commands("SET, 3 B", inputs::set("", 3, 1000), usize::MAX),
        commands("GET", inputs::get(), usize::MAX),
        commands("random requests", inputs::random(), usize::MAX),
        commands("SET, 64 KiB", inputs::set("", 64 * 1024, 64), usize::MAX),
        commands("array of 10k, as a request", inputs::array(), usize::MAX),
        frames("array of 10k, as a reply", inputs::array(), usize::MAX),
        frames("the same in segments", inputs::array(), SEGMENT),
        frames("nested RESP3", inputs::nested(), usize::MAX),
        encode("encode SET, 3 B", Work::EncodeRequests),
        encode("encode a bulk reply, 3 B", Work::EncodeReplies),
    ]
}

fn commands(name: &'static str, input: Input, piece: usize) -> Round {
    let piece = piece.min(input.bytes.len());
    Round {
        name,
        items: input.items,
        work: Work::Commands(CommandDecoder::new(Limits::SERVER), input.bytes, piece),
    }
}

fn frames(name: &'static str, input: Input, piece: usize) -> Round {
    let piece = piece.min(input.bytes.len());
    Round {
        name,
        items: input.items,
        work: Work::Frames(FrameDecoder::new(Limits::CLIENT), input.bytes, piece),
    }
}

impl Round {
    /// Runs the round `times` times. The sum keeps the compiler from optimizing the work away.
    pub fn run(&mut self, times: u32) -> usize {
        (0..times).map(|_| self.once()).sum()
    }

    fn once(&mut self) -> usize {
        match &mut self.work {
            Work::Commands(decoder, input, piece) => {
                drain::commands(decoder, black_box(input), *piece)
            }
            Work::Frames(decoder, input, piece) => drain::frames(decoder, black_box(input), *piece),
            Work::EncodeRequests(out) => {
                out.clear();
                for _ in 0..ENCODED {
                    let args: [&[u8]; 3] = [b"SET", b"key:000123", b"abc"];
                    command(out, &black_box(args));
                }
                out.len()
            }
            Work::EncodeReplies(out) => {
                out.clear();
                for _ in 0..ENCODED {
                    Encoder::new(out, black_box(Proto::Resp3)).bulk(black_box(&b"abc"[..]));
                }
                out.len()
            }
        }
    }
}
