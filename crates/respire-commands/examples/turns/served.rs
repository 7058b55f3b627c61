//! Runs a session, or only its decoder or encoder, without a socket.

use resp_codec::{CommandDecoder, Encoder, Limits, Proto, Step};
use respire_commands::{Kv, add_to};
use respire_engine::driver::Session;
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// The bytes of a `GET` of a [`Load::key`]. For each such request, one value of three bytes is
/// encoded.
const ENCODED_REQUEST_BYTES: usize = 36;

/// The fixed time of all measurements.
pub(crate) fn now() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

/// An engine with Redis's commands on an empty store. With `looks_ahead`, the store counts as
/// larger than the caches.
pub(crate) fn engine(looks_ahead: bool) -> Arc<Engine<Kv>> {
    let mut config = Config {
        shards: 1024,
        seed: [1, 2, 3, 4],
        ..Config::default()
    };
    if looks_ahead {
        config.cached_bytes = 0;
    }
    let router = add_to(Router::new(Kv::new(Store::new(config))));
    Engine::new(router, Options::default(), now())
}

pub(crate) fn connect(engine: &Arc<Engine<Kv>>) -> Session<Kv> {
    engine
        .connect(Peer::default(), Box::new(NoWake), now())
        .expect("a measurement opens fewer connections than maxclients")
}

pub(crate) struct Bench {
    session: Session<Kv>,
    decoder: CommandDecoder,
    out: Output,
}

impl Bench {
    pub(crate) fn on(engine: &Arc<Engine<Kv>>) -> Self {
        Self {
            session: connect(engine),
            decoder: CommandDecoder::new(Limits::SERVER),
            out: Output::new(),
        }
    }

    pub(crate) fn answer_all(&mut self, turns: &[Vec<u8>]) {
        for turn in turns {
            let step = self.session.serve(black_box(turn), now(), &mut self.out);
            assert_eq!(
                black_box(step),
                respire_engine::driver::SessionStep::NeedInput
            );
            assert!(self.out.first().first() != Some(&b'-'));
            self.out.advance(self.out.len());
        }
    }

    pub(crate) fn decode_all(&mut self, turns: &[Vec<u8>]) {
        for turn in turns {
            let mut rest = &turn[..];
            while let Ok(Step::Ready { item, consumed }) = self.decoder.decode(black_box(rest)) {
                black_box(item.len());
                rest = &rest[consumed..];
            }
            assert!(rest.is_empty());
        }
    }

    pub(crate) fn encode_all(&mut self, turns: &[Vec<u8>]) {
        for turn in turns {
            for _ in 0..turn.len() / ENCODED_REQUEST_BYTES {
                Encoder::new(&mut self.out, Proto::Resp2).bulk(black_box(&b"xxx"[..]));
            }
            self.out.advance(self.out.len());
        }
    }
}
