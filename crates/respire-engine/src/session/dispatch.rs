//! From a request to its command: found, checked, queued or run.

use super::parked::Item;
use super::{CloseReason, Core};
use crate::ArgList;
use crate::client::ReplyMode;
use crate::client::transaction::Found;
use crate::command::admit;
use crate::command::exec::refused;
use crate::command::keyspace::Hint;
use crate::observe::stats::Stats;
use crate::observe::unknown::{self, Unknown};
use crate::{
    App, Client, Cx, Engine, Error, Flags, Flow, Keyspace, Now, Output, Reply, Spec, text,
};
use resp_codec::Encoder;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What became of a request.
pub(super) enum Outcome {
    /// Answered.
    Done,
    /// Not answered and not used up: a pause holds it until this time (monotonic microseconds).
    Hold(u64),
    /// Answered, but the reply is due only after this time.
    Wait(Duration, Box<Output>),
    /// Not answered yet.
    Pending(Box<Item>),
    /// Answered if at all, and the last one.
    Close(CloseReason),
}

/// How a request says what it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By name, whose first eight bytes are these, upper-cased.
    Name(u64),
    /// By an operation of the binary protocol.
    Operation(u8),
}

/// A request, and what is known of it before it is dispatched.
pub(super) struct Asked<'r, A: App> {
    pub(super) args: ArgList<'r>,
    pub(super) form: Form,
    /// Its command, if that was found, is no container, and takes as many arguments.
    pub(super) at: Option<u32>,
    /// What the keyspace knows of its first key.
    pub(super) hint: Option<&'r Hint<'r, A>>,
}

impl<'r, A: App> Asked<'r, A> {
    /// A request of which nothing is known.
    pub(super) fn new(args: ArgList<'r>, form: Form) -> Self {
        Self {
            args,
            form,
            at: None,
            hint: None,
        }
    }
}

impl<A: App> Core<A> {
    /// Answers one request.
    #[inline(always)]
    pub(super) fn dispatch(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        asked: &Asked<'_, A>,
        out: &mut Output,
    ) -> Outcome {
        match asked.form {
            Form::Name(word) => self.dispatch_named(engine, now, (asked, word), out),
            Form::Operation(op) => self.dispatch_operation(engine, now, (asked, op), out),
        }
    }

    /// Answers one request that names its command, in the connection's protocol.
    #[inline(always)]
    pub(super) fn dispatch_named(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        named: (&Asked<'_, A>, u64),
        out: &mut Output,
    ) -> Outcome {
        if self.client.reply_mode == ReplyMode::On {
            // Only `CLIENT REPLY` changes the mode, and it writes nothing when it mutes.
            self.answer(engine, now, named, out)
        } else {
            self.muted(engine, out, move |core, out| {
                core.answer(engine, now, named, out)
            })
        }
    }

    /// Answers one request, by `answer`, of a connection that does not want to see every reply. What
    /// ends the connection does so all the same.
    #[cold]
    pub(super) fn muted(
        &mut self,
        engine: &Engine<A>,
        out: &mut Output,
        answer: impl FnOnce(&mut Self, &mut Output) -> Outcome,
    ) -> Outcome {
        if self.client.reply_mode == ReplyMode::SkipNext {
            self.client.reply_mode = ReplyMode::SkipThis;
        }
        let mark = out.mark();
        let ran_before = self.client.shared.last_entry.swap(NONE, Ordering::Relaxed);
        let mut outcome = answer(self, out);
        if let Outcome::Pending(item) = &mut outcome {
            item.is_muted = true;
        }
        match self.client.shared.last_entry.load(Ordering::Relaxed) {
            NONE => {
                let last = &self.client.shared.last_entry;
                last.store(ran_before, Ordering::Relaxed);
            }
            ran if confirms(engine.table.entry(ran).spec()) => return outcome,
            _ => {}
        }
        match (self.client.reply_mode, &mut outcome) {
            // It is tried again, and skipped when it runs.
            (ReplyMode::SkipThis, Outcome::Hold(_)) => {
                self.client.reply_mode = ReplyMode::SkipNext;
                return outcome;
            }
            (ReplyMode::Off | ReplyMode::SkipThis, Outcome::Wait(_, reply)) => {
                **reply = Output::new();
            }
            (ReplyMode::Off | ReplyMode::SkipThis, _) => out.cut(mark),
            (ReplyMode::On | ReplyMode::SkipNext, _) => {}
        }
        if self.client.reply_mode == ReplyMode::SkipThis {
            self.client.reply_mode = ReplyMode::On;
        }
        outcome
    }

    #[inline(always)]
    fn answer(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        (asked, word): (&Asked<'_, A>, u64),
        out: &mut Output,
    ) -> Outcome {
        let mark = out.mark();
        let mut reply = Encoder::new(out, self.client.proto);
        let found = match asked.at {
            Some(at) => (at, 1),
            None => match find(engine, word, asked.args) {
                Ok(found) => found,
                Err(missing) => return self.missing(engine, asked.args, missing, &mut reply),
            },
        };
        match self.attempt(engine, now, asked, found, &mut reply) {
            Ok(Flow::Replied) => Outcome::Done,
            Ok(Flow::Close) => Outcome::Close(CloseReason::Quit),
            Ok(Flow::Pending) => {
                out.cut(mark);
                self.left_pending(engine, now, found.0, out)
            }
            Ok(Flow::RepliedAfter { wait_us }) => {
                let wait = Duration::from_micros(wait_us);
                Outcome::Wait(wait, Box::new(out.split_off(mark)))
            }
            Err(until_us) => Outcome::Hold(until_us),
        }
    }

    /// Checks a request for its command, then queues or runs it; an error is the time (monotonic
    /// microseconds) until which it has to wait.
    #[inline(always)]
    pub(super) fn attempt(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        asked: &Asked<'_, A>,
        (at, name_len): Found,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, u64> {
        let entry = engine.table.entry(at);
        if engine.pause.is_on()
            && let Some(until_us) =
                engine
                    .pause
                    .holds(entry.spec(), self.client.transaction.has_writes(), now)
        {
            return Err(until_us);
        }
        let is_queued = self.client.transaction.is_open();
        let is_free = !is_queued && !self.client.is_restricted(&engine.tunables);
        let admitted = if is_free {
            admit(engine, entry.spec(), entry.needs_room(), now)
        } else {
            self.admit_restricted(engine, entry.spec(), now)
        };
        if let Err(error) = admitted {
            Stats::add(&entry.stats.rejected, 1);
            self.refuse(engine, entry.spec(), error, reply);
            return Ok(Flow::Replied);
        }
        if is_queued && !entry.spec().flags.has(Flags::IMMEDIATE) {
            self.queue(engine, (at, name_len), asked.args, reply);
            return Ok(Flow::Replied);
        }
        let Self { client, conn, keys } = self;
        let mut cx = Cx {
            engine,
            conn,
            keys,
            client,
            now,
            request: &asked.args,
            hint: asked.hint.map(|hint| A::Keys::shorten(hint)),
            held: None,
        };
        Ok(engine.run(at, &mut cx, asked.args, name_len, reply))
    }

    /// What keeps a command from running, or from being queued, where the connection may not do
    /// everything, or is in a transaction.
    #[cold]
    fn admit_restricted(&self, engine: &Engine<A>, spec: &Spec, now: Now) -> Result<(), Error> {
        let flags = spec.flags;
        let is_queued = self.client.transaction.is_open() && !flags.has(Flags::IMMEDIATE);
        if self.client.is_stranger(&engine.tunables) && !flags.has(Flags::NO_AUTH) {
            Err(NO_AUTH)
        } else if self.client.is_confined() && !flags.has(Flags::SUBSCRIBED) {
            Err(confined(spec))
        } else if is_queued && flags.has(Flags::NO_MULTI) {
            Err(Error::fixed("ERR Command not allowed inside a transaction"))
        } else if is_queued {
            // What is queued may have to run after writes of the same transaction.
            admit(engine, spec, true, now)
        } else {
            admit(engine, spec, flags.has(Flags::DENYOOM), now)
        }
    }

    #[cold]
    fn queue(
        &mut self,
        engine: &Engine<A>,
        found: Found,
        request: ArgList<'_>,
        reply: &mut Reply<'_>,
    ) {
        let Client {
            transaction, lent, ..
        } = &mut self.client;
        let is_write = engine.table.entry(found.0).spec().flags.has(Flags::WRITE);
        let request = (request, lent.as_ref());
        if transaction.queue(found, is_write, request, &engine.limits) {
            let queued = transaction.queued_len() as u32;
            self.client
                .shared
                .queued_commands
                .store(queued, Ordering::Relaxed);
            reply.simple("QUEUED");
        } else {
            let error = Error::fixed("ERR transaction is too large to queue");
            self.refuse(engine, &Spec::EMPTY, error, reply);
        }
    }

    /// Answers an error to a request that does not run. `EXEC` will refuse what is queued, and one
    /// that is itself refused ends the transaction.
    #[cold]
    fn refuse(&mut self, engine: &Engine<A>, spec: &Spec, error: Error, reply: &mut Reply<'_>) {
        let error = refused(spec, &mut self.client, error);
        self.client.transaction.spoil();
        engine.stats.count_error(error.code());
        reply.error(error.text());
    }

    #[cold]
    fn missing(
        &mut self,
        engine: &Engine<A>,
        request: ArgList<'_>,
        missing: Missing,
        reply: &mut Reply<'_>,
    ) -> Outcome {
        let name = &request[0];
        if name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:") {
            return Outcome::Close(CloseReason::CrossProtocol);
        }
        let (spec, error) = match missing {
            Missing::Command(error) => {
                self.note_unknown(engine, request, false);
                (&Spec::EMPTY, error)
            }
            Missing::Subcommand(error) => {
                self.note_unknown(engine, request, true);
                (&Spec::EMPTY, error)
            }
            Missing::Arguments(at, error) => (engine.table.entry(at).spec(), error),
        };
        self.refuse(engine, spec, error, reply);
        Outcome::Done
    }

    /// Counts a command that is not there and, unless anybody at all may have asked for it, tells the
    /// host its name.
    #[cold]
    fn note_unknown(&self, engine: &Engine<A>, request: ArgList<'_>, is_inside: bool) {
        if self.client.is_stranger(&engine.tunables) {
            return engine.unknowns.count();
        }
        let name = unknown::shown(request, is_inside);
        let peer = &self.client.shared.peer().address;
        engine.unknowns.note(&name, &engine.limits, |is_last| {
            engine.host.unknown_command(Unknown {
                name: &name,
                peer,
                is_last,
            });
        });
    }
}

/// No entry of the table.
const NONE: u32 = u32::MAX;

/// Whether a command confirms subscriptions: that is no reply, and comes in any reply mode.
fn confirms(spec: &Spec) -> bool {
    spec.flags.has(Flags::PUBSUB.with(Flags::SUBSCRIBED))
}

/// The reply to what a subscriber must not do in RESP2.
#[cold]
fn confined(spec: &Spec) -> Error {
    Error::owned(format!(
        "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are \
         allowed in this context",
        spec.name
    ))
}

const NO_AUTH: Error = Error::fixed("NOAUTH Authentication required.");

/// What is wrong with the name of a request, or the number of its arguments.
pub(super) enum Missing {
    /// There is no such command.
    Command(Error),
    /// There is a command, and no such subcommand.
    Subcommand(Error),
    /// It takes fewer arguments, or more.
    Arguments(u32, Error),
}

/// Finds the command a request names, and checks the number of its arguments.
#[cold]
pub(super) fn find<A: App>(
    engine: &Engine<A>,
    word: u64,
    request: ArgList<'_>,
) -> Result<Found, Missing> {
    let table = &engine.table;
    let Some(at) = table.find(word, &request[0]) else {
        let error = text::unknown_command(&request[0], request.skip(1).iter());
        return Err(Missing::Command(error));
    };
    let container = table.entry(at);
    let (at, name_len) = match request.get(1) {
        Some(name) if container.is_container() => match table.find_subcommand(at, name) {
            Some(at) => (at, 2),
            None => {
                let error = text::unknown_subcommand(container.spec().name, name);
                return Err(Missing::Subcommand(error));
            }
        },
        _ => (at, 1),
    };
    let entry = table.entry(at);
    if entry.spec().arity.accepts(request.len()) {
        Ok((at, name_len))
    } else {
        Stats::add(&entry.stats.rejected, 1);
        Err(Missing::Arguments(at, text::wrong_arity(entry.spec().name)))
    }
}
