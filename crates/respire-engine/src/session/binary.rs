//! The binary protocol's requests: three operations of its own, and `CALL` for every command.

use super::dispatch::Outcome;
use super::{CALL, CloseReason, Core, Session, Step, Wire};
use crate::ArgList;
use crate::{App, Engine, Flow, Now, Output};
use resp_codec::binary::{self, Request};
use resp_codec::{Encoder, Proto};

impl<A: App> Session<A> {
    pub(super) fn answer_binary(
        &mut self,
        bytes: &[u8],
        now: Now,
        out: &mut Output,
    ) -> (Step, usize) {
        let mut used = 0;
        let mut budget = self.budget;
        loop {
            if used == bytes.len() {
                return (Step::NeedInput, used);
            }
            if self.is_turn_over(budget, out) {
                return (Step::Flush, used);
            }
            budget -= 1;
            let Wire::Binary(decoder) = &mut self.wire else {
                unreachable!("only called once the first byte chose the binary protocol")
            };
            let (outcome, consumed) = match decoder.decode(&bytes[used..]) {
                Ok(resp_codec::Step::Ready { item, consumed }) => (
                    self.core.dispatch_binary(&self.engine, now, &item, out),
                    consumed,
                ),
                Ok(resp_codec::Step::NeedMore { consumed, .. }) => {
                    return (Step::NeedInput, used + consumed);
                }
                Err(error) => return (self.binary_error(error, out), bytes.len()),
            };
            match outcome {
                Outcome::Done => used += consumed,
                other => {
                    self.budget = budget;
                    used += if matches!(other, Outcome::Hold(_)) {
                        0
                    } else {
                        consumed
                    };
                    return (self.settle(other, now), used);
                }
            }
        }
    }
}

impl<A: App> Core<A> {
    fn dispatch_binary(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        request: &Request<'_, '_>,
        out: &mut Output,
    ) -> Outcome {
        let entry = match request.op() {
            binary::GET => engine.binary.get,
            binary::DELETE => engine.binary.take,
            binary::SET => engine.binary.set,
            _ => return self.call(engine, now, request.args(), out),
        };
        // These three answer a bare value; anything else has no place in their reply.
        let Some(at) = entry.filter(|_| !self.client.transaction.is_open()) else {
            return Outcome::Close(CloseReason::Unanswerable);
        };
        // The protocol of a reply that comes later.
        self.client.proto = Proto::BinaryPlain;
        let mark = out.mark();
        let mut reply = Encoder::new(out, Proto::BinaryPlain);
        let flow = self.attempt(engine, now, request.args(), (at, 1), &mut reply);
        let failed = reply.error_count() > 0;
        match flow {
            Err(until_us) => Outcome::Hold(until_us),
            Ok(Flow::Pending) => {
                out.cut(mark);
                self.left_pending(engine, now, at, out)
            }
            Ok(_) if failed => {
                out.cut(mark);
                Outcome::Close(CloseReason::Unanswerable)
            }
            Ok(_) => Outcome::Done,
        }
    }

    /// Any command by name, answered with a tagged value.
    fn call(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        args: ArgList<'_>,
        out: &mut Output,
    ) -> Outcome {
        self.client.set_proto(CALL);
        let Some(name) = args.get(0) else {
            Encoder::new(out, CALL).error("ERR CALL needs the name of a command");
            return Outcome::Done;
        };
        let word = crate::table::name_word(name);
        self.dispatch(engine, now, args, word, out)
    }
}
