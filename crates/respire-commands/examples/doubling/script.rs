//! Runs a server without sockets, and sends it the requests that the lines of a case describe.
//!
//! A line is a request, with blanks between its words. A word may stand for arguments that depend on the
//! case's size `n`:
//!
//! | word | means |
//! |---|---|
//! | `{n}`, `{n0}` | the number, and ten times the number |
//! | `{i}` | the number of earlier repetitions, in a repeated line |
//! | `{zeros}`, `{text}`, `{random}` | `n` bytes |
//! | `{ab}` | the text in braces, `n` times |
//! | `{keys}`, `{pairs}` | `n` keys, without or with a value after each |
//! | `{all:words}` | the words, `n` times: `_` separates words, `#` is the number of earlier repetitions |
//! | `{reply}` | the bytes of the bulk string of the last reply |
//!
//! A prefix changes how a line is sent: `n: ` sends it `n` times; `others: ` sends it on `n` further
//! connections, which stay open; `inline: ` sends it as an inline command; `pieces: ` sends it in
//! pieces of 64 bytes. `refused: ` expects an error. `after: ` is no request: it moves the clock by
//! milliseconds.

use respire_commands::{Kv, add_to};
use respire_engine::driver::{Session, SessionEvent, SessionStep};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::sync::Arc;
use std::time::Duration;

/// The length of a piece, in bytes.
const PIECE: usize = 64;

pub(crate) struct Script {
    size: usize,
    engine: Arc<Engine<Kv>>,
    session: Session<Kv>,
    others: Vec<Session<Kv>>,
    now: Now,
    /// The last reply.
    reply: Output,
}

fn connect(engine: &Arc<Engine<Kv>>, now: Now) -> Session<Kv> {
    engine
        .connect(Peer::default(), Box::new(NoWake), now)
        .expect("a case opens fewer connections than maxclients")
}

/// Sends bytes and serves the session until it needs input; returns the last output.
fn exchange(session: &mut Session<Kv>, bytes: &[u8], now: Now) -> Output {
    let mut out = Output::new();
    let mut step = session.serve(bytes, now, &mut out);
    while step == SessionStep::Flush {
        out = Output::new();
        step = session.serve(SessionEvent::Turn, now, &mut out);
    }
    assert_eq!(step, SessionStep::NeedInput);
    out
}

impl Script {
    pub(crate) fn new(size: usize) -> Self {
        let now = Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000));
        let store = Store::new(Config {
            shards: 1024,
            seed: [1, 2, 3, 4],
            ..Config::default()
        });
        let engine = Engine::new(add_to(Router::new(Kv::new(store))), Options::default(), now);
        Self {
            size,
            session: connect(&engine, now),
            engine,
            others: Vec::new(),
            now,
            reply: Output::new(),
        }
    }

    /// Runs a line before the measurement.
    pub(crate) fn prepare(&mut self, line: &str) {
        if let Some(ms) = line.strip_prefix("after: ") {
            let ms = ms.parse().expect("milliseconds");
            self.now = self.now.after(Duration::from_millis(ms));
        } else if let Some(line) = line.strip_prefix("others: ") {
            for at in 0..self.size {
                let mut other = connect(&self.engine, self.now);
                exchange(&mut other, &self.encode(line, at), self.now);
                self.others.push(other);
            }
        } else {
            let request = self.request(line);
            self.send(&request);
            self.expect(line);
        }
    }

    /// Checks that the last reply is an error if and only if the line expects one.
    pub(crate) fn expect(&self, line: &str) {
        let is_refused = self.reply.first().first() == Some(&b'-');
        let reply = self.reply.to_vec();
        let reply = reply[..reply.len().min(99)].escape_ascii();
        assert_eq!(is_refused, line.starts_with("refused: "), "{line}: {reply}");
    }

    /// The bytes that a line sends, in the pieces in which they arrive.
    pub(crate) fn request(&self, line: &str) -> Vec<Vec<u8>> {
        let line = line.strip_prefix("refused: ").unwrap_or(line);
        if let Some(line) = line.strip_prefix("n: ") {
            let all = (0..self.size).flat_map(|at| self.encode(line, at));
            vec![all.collect()]
        } else if let Some(line) = line.strip_prefix("inline: ") {
            let words: Vec<String> = line
                .split(' ')
                .flat_map(|word| self.word(word, 0))
                .map(|word| String::from_utf8_lossy(&word).into_owned())
                .collect();
            vec![format!("{}\r\n", words.join(" ")).into_bytes()]
        } else if let Some(line) = line.strip_prefix("pieces: ") {
            let whole = self.encode(line, 0);
            whole.chunks(PIECE).map(<[u8]>::to_vec).collect()
        } else {
            vec![self.encode(line, 0)]
        }
    }

    pub(crate) fn send(&mut self, request: &[Vec<u8>]) {
        for part in request {
            self.reply = exchange(&mut self.session, part, self.now);
        }
    }

    fn encode(&self, line: &str, at: usize) -> Vec<u8> {
        let words: Vec<Vec<u8>> = line
            .split(' ')
            .flat_map(|word| self.word(word, at))
            .collect();
        let mut bytes = Vec::new();
        resp_codec::command(&mut bytes, &words);
        bytes
    }

    /// The arguments that a word stands for.
    fn word(&self, word: &str, at: usize) -> Vec<Vec<u8>> {
        let key = |nth: usize| format!("key:{nth}").into_bytes();
        if let Some(all) = word.strip_prefix("{all:") {
            let one = all.trim_end_matches('}').replace('_', " ");
            let of = |nth: usize| one.replace("#", &nth.to_string());
            let words = (0..self.size).flat_map(|nth| {
                let words: Vec<Vec<u8>> = of(nth).split(' ').map(|word| word.into()).collect();
                words
            });
            return words.collect();
        }
        match word {
            "{keys}" => (0..self.size).map(key).collect(),
            "{pairs}" => (0..self.size)
                .flat_map(|nth| [key(nth), b"value".to_vec()])
                .collect(),
            "{reply}" => vec![self.bulk()],
            _ => vec![self.bytes(word, at)],
        }
    }

    /// The bytes of the bulk string of the last reply.
    fn bulk(&self) -> Vec<u8> {
        let reply = self.reply.to_vec();
        let start = reply
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        reply[start..reply.len() - 2].to_vec()
    }

    /// The bytes of a word, with the text in braces replaced.
    fn bytes(&self, word: &str, at: usize) -> Vec<u8> {
        let Some((before, (name, after))) = word
            .split_once('{')
            .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        else {
            return word.into();
        };
        let filled = |unit: &[u8]| unit.repeat(self.size);
        let bytes = match name {
            "n" => self.size.to_string().into_bytes(),
            "n0" => (10 * self.size).to_string().into_bytes(),
            "i" => at.to_string().into_bytes(),
            "zeros" => filled(b"\0"),
            "text" => self.random_bytes(|number| b"etaoin shrdlu cmfwyp"[number % 20]),
            "random" => self.random_bytes(|number| number as u8),
            unit => filled(unit.as_bytes()),
        };
        [before.as_bytes(), &bytes, after.as_bytes()].concat()
    }

    /// `size` bytes, each computed from a random number.
    fn random_bytes(&self, byte: impl Fn(usize) -> u8) -> Vec<u8> {
        let mut state = 1_u64;
        let next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            byte((state >> 33) as usize)
        };
        std::iter::repeat_with(next).take(self.size).collect()
    }
}
