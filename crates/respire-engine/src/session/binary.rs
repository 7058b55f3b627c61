//! Requests of the binary protocol: three operations of its own, and `CALL` for every command.

use super::dispatch::{Outcome, PreparedRequest};
use super::{CALL, CloseReason, Core};
use crate::client::ReplyMode;
use crate::{App, Engine, Flow, Now, Output};
use resp_codec::{Encoder, Proto, binary};

impl<A: App> Core<A> {
    #[inline(never)]
    pub(super) fn dispatch_operation(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        (prepared, op): (&PreparedRequest<'_, A>, u8),
        out: &mut Output,
    ) -> Outcome {
        if op == binary::CALL {
            return self.call(engine, now, prepared, out);
        }
        if self.client.reply_mode == ReplyMode::On {
            self.operate(engine, now, (prepared, op), out)
        } else {
            self.muted(engine, out, move |core, out| {
                core.operate(engine, now, (prepared, op), out)
            })
        }
    }

    /// Runs one of the three operations.
    #[inline(always)]
    fn operate(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        (prepared, op): (&PreparedRequest<'_, A>, u8),
        out: &mut Output,
    ) -> Outcome {
        let entry = engine.binary.entry(op);
        // These three reply with a bare value, which cannot express any other reply.
        let Some(at) = entry.filter(|_| !self.client.transaction.is_open()) else {
            return Outcome::Close(CloseReason::Unanswerable);
        };
        // The protocol of a deferred reply.
        self.client.proto = Proto::BinaryPlain;
        let mark = out.mark();
        let mut reply = Encoder::new(out, Proto::BinaryPlain);
        let flow = self.attempt(engine, now, prepared, (at, 1), &mut reply);
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

    /// Runs any command by name and replies with a tagged value.
    fn call(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        prepared: &PreparedRequest<'_, A>,
        out: &mut Output,
    ) -> Outcome {
        self.client.set_proto(CALL);
        let Some(name) = prepared.args.get(0) else {
            Encoder::new(out, CALL).error("ERR CALL needs the name of a command");
            return Outcome::Done;
        };
        let word = crate::command::table::name_word(name);
        self.dispatch_named(engine, now, (prepared, word), out)
    }
}
