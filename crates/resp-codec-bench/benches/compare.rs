//! Compares decoding and encoding with `redis-protocol`, the `redis` crate's parser and (feature
//! `hiredis`) hiredis.
//!
//! Times are per group of items; the report's throughput is in items.

use std::hint::black_box;
use std::time::Duration;

use bytes::BytesMut;
use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use redis_protocol::{resp2, resp3};
use resp_codec::{CommandDecoder, Encoder, FrameDecoder, Limits, Proto, command};
use resp_codec_bench::drain::{commands, frames};
use resp_codec_bench::inputs::{self, Input};

/// The bytes of one network segment, for input that comes in pieces.
const SEGMENT: usize = 1448;

fn group<'c>(criterion: &'c mut Criterion, input: &Input) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(input.name);
    group.throughput(Throughput::Elements(input.items));
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    group
}

/// Decodes all items of `input` with a decoder that starts again after every piece.
fn stateless(input: &[u8], piece: usize, decode: impl Fn(&[u8]) -> Option<usize>) {
    let (mut start, mut end) = (0, piece.min(input.len()));
    while start < input.len() {
        match decode(&input[start..end]) {
            Some(len) => start += len,
            None => end = (end + piece).min(input.len()),
        }
    }
}

fn others(group: &mut BenchmarkGroup<'_, WallTime>, bytes: &[u8], piece: usize, two: bool) {
    if two {
        group.bench_function("redis-protocol RESP2 range", |bencher| {
            bencher.iter(|| {
                stateless(black_box(bytes), piece, |rest| {
                    resp2::decode::decode_range(rest)
                        .expect("a good frame")
                        .map(|(frame, len)| {
                            black_box(frame);
                            len
                        })
                });
            });
        });
    }
    group.bench_function("redis-protocol RESP3 range", |bencher| {
        bencher.iter(|| {
            stateless(black_box(bytes), piece, |rest| {
                resp3::decode::complete::decode_range(rest)
                    .expect("a good frame")
                    .map(|(frame, len)| {
                        black_box(frame);
                        len
                    })
            });
        });
    });
    if piece >= bytes.len() {
        group.bench_function("redis Parser", |bencher| {
            bencher.iter(|| {
                let mut rest = black_box(bytes);
                let mut parser = redis::Parser::new();
                while !rest.is_empty() {
                    black_box(parser.parse_value(&mut rest).expect("a good value"));
                }
            });
        });
    }
    // Debian's hiredis has no RESP3.
    #[cfg(feature = "hiredis")]
    if two {
        group.bench_function("hiredis", |bencher| {
            let mut reader = resp_codec_bench::hiredis::Reader::new();
            bencher.iter(|| reader.drain(black_box(bytes), piece));
        });
    }
}

fn decode_requests(criterion: &mut Criterion) {
    for input in [
        inputs::set("SET 3 B", 3, 1000),
        inputs::get(),
        inputs::random(),
        inputs::set("SET 256 B", 256, 1000),
        inputs::set("SET 64 KiB", 64 * 1024, 64),
        inputs::array(),
    ] {
        let mut group = group(criterion, &input);
        group.bench_function("resp-codec", |bencher| {
            let mut decoder = CommandDecoder::new(Limits::SERVER);
            bencher.iter(|| commands(&mut decoder, black_box(&input.bytes), input.bytes.len()));
        });
        group.bench_function("resp-codec frames", |bencher| {
            let mut decoder = FrameDecoder::new(Limits::CLIENT);
            bencher.iter(|| frames(&mut decoder, black_box(&input.bytes), input.bytes.len()));
        });
        others(&mut group, &input.bytes, input.bytes.len(), true);
    }
}

fn decode_nested(criterion: &mut Criterion) {
    let input = inputs::nested();
    let mut group = group(criterion, &input);
    group.bench_function("resp-codec", |bencher| {
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        bencher.iter(|| frames(&mut decoder, black_box(&input.bytes), input.bytes.len()));
    });
    others(&mut group, &input.bytes, input.bytes.len(), false);
}

fn decode_in_segments(criterion: &mut Criterion) {
    let input = Input {
        name: "array of 10k in segments of 1448 B",
        ..inputs::array()
    };
    let mut group = group(criterion, &input);
    group.bench_function("resp-codec", |bencher| {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        bencher.iter(|| commands(&mut decoder, black_box(&input.bytes), SEGMENT));
    });
    group.bench_function("resp-codec frames", |bencher| {
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        bencher.iter(|| frames(&mut decoder, black_box(&input.bytes), SEGMENT));
    });
    others(&mut group, &input.bytes, SEGMENT, true);
}

fn encode(criterion: &mut Criterion) {
    let input = Input {
        name: "encode SET 3 B",
        bytes: Vec::new(),
        items: 1000,
    };
    let args: [&[u8]; 3] = [b"SET", b"key:000123", b"abc"];
    let mut requests = group(criterion, &input);
    requests.bench_function("resp-codec", |bencher| {
        let mut out = Vec::with_capacity(1 << 16);
        bencher.iter(|| {
            out.clear();
            for _ in 0..1000 {
                command(&mut out, black_box(&args));
            }
        });
    });
    requests.bench_function("redis-protocol borrowed", |bencher| {
        let mut out = BytesMut::with_capacity(1 << 16);
        bencher.iter(|| {
            out.clear();
            for _ in 0..1000 {
                let frames = black_box(args).map(resp2::types::BorrowedFrame::BulkString);
                let frame = resp2::types::BorrowedFrame::Array(&frames);
                resp2::encode::extend_encode_borrowed(&mut out, &frame, false)
                    .expect("room enough");
            }
        });
    });
    requests.bench_function("redis Cmd", |bencher| {
        bencher.iter(|| {
            for _ in 0..1000 {
                black_box(
                    redis::cmd("SET")
                        .arg(black_box(args[1]))
                        .arg(args[2])
                        .get_packed_command(),
                );
            }
        });
    });
    requests.finish();
    let input = Input {
        name: "encode bulk reply 3 B",
        ..input
    };
    let mut replies = group(criterion, &input);
    replies.bench_function("resp-codec", |bencher| {
        let mut out = Vec::with_capacity(1 << 16);
        bencher.iter(|| {
            out.clear();
            for _ in 0..1000 {
                Encoder::new(&mut out, black_box(Proto::Resp3)).bulk(black_box(&b"abc"[..]));
            }
        });
    });
    replies.bench_function("redis-protocol borrowed", |bencher| {
        let mut out = BytesMut::with_capacity(1 << 16);
        bencher.iter(|| {
            out.clear();
            for _ in 0..1000 {
                let frame = resp2::types::BorrowedFrame::BulkString(black_box(b"abc"));
                resp2::encode::extend_encode_borrowed(&mut out, &frame, false)
                    .expect("room enough");
            }
        });
    });
}

criterion_group!(
    benches,
    decode_requests,
    decode_nested,
    decode_in_segments,
    encode
);
criterion_main!(benches);
