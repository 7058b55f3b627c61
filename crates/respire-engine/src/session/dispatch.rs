//! Takes a request to its command: looks it up, checks it, and queues or runs it.

use super::held_back::HeldBack;
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

/// The result of a request.
pub(super) enum Outcome {
    /// Answered.
    Done,
    /// Not answered yet: a pause holds the request back until this time (monotonic microseconds).
    Hold(u64),
    /// Answered, but the reply is sent only after this time.
    Wait(Duration, Box<Output>),
    /// The reply comes later.
    Pending(Box<Item>),
    /// The connection ends; the reply, if any, is written.
    Close(CloseReason),
}

/// How a request names its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By name; these are its first eight bytes in upper case.
    Name(u64),
    /// By an operation code of the binary protocol.
    Operation(u8),
}

/// A request with its command and hint, as far as they are known before dispatch.
pub(super) struct PreparedRequest<'r, A: App> {
    pub(super) args: ArgList<'r>,
    pub(super) form: Form,
    /// Its command, if it was found, is not a container, and accepts this number of arguments.
    pub(super) at: Option<u32>,
    /// The keyspace's hint for its first key.
    pub(super) hint: Option<&'r Hint<'r, A>>,
}

impl<'r, A: App> PreparedRequest<'r, A> {
    /// A request whose command is not looked up yet.
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
        prepared: &PreparedRequest<'_, A>,
        out: &mut Output,
    ) -> Outcome {
        match prepared.form {
            Form::Name(word) => self.dispatch_named(engine, now, (prepared, word), out),
            Form::Operation(op) => self.dispatch_operation(engine, now, (prepared, op), out),
        }
    }

    /// Answers one request that names its command, in the connection's protocol.
    #[inline(always)]
    pub(super) fn dispatch_named(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        named: (&PreparedRequest<'_, A>, u64),
        out: &mut Output,
    ) -> Outcome {
        if self.client.reply_mode == ReplyMode::On {
            // Only `CLIENT REPLY` changes the mode, and it writes nothing when it turns replies
            // off.
            self.answer(engine, now, named, out)
        } else {
            self.muted(engine, out, move |core, out| {
                core.answer(engine, now, named, out)
            })
        }
    }

    /// Answers one request, with `answer`, on a connection that does not want every reply. A
    /// request that ends the connection still ends it.
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
            // The request is tried again, and its reply is skipped when it runs.
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
        (prepared, word): (&PreparedRequest<'_, A>, u64),
        out: &mut Output,
    ) -> Outcome {
        let mark = out.mark();
        let mut reply = Encoder::new(out, self.client.proto);
        let found = match prepared.at {
            Some(at) => (at, 1),
            None => match find(engine, word, prepared.args) {
                Ok(found) => found,
                Err(missing) => return self.missing(engine, prepared.args, missing, &mut reply),
            },
        };
        match self.attempt(engine, now, prepared, found, &mut reply) {
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

    /// Checks whether the command may run now, then queues or runs it. An error is the time
    /// (monotonic microseconds) until which the request has to wait.
    #[inline(always)]
    pub(super) fn attempt(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        prepared: &PreparedRequest<'_, A>,
        (at, name_len): Found,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, u64> {
        let entry = engine.table.entry(at);
        if engine.pause.is_on()
            && let Some(held_back) = self.held_back(engine, now, prepared.args, at)
        {
            return self.hold_back(engine, entry.spec(), held_back, reply);
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
            self.queue(engine, (at, name_len), prepared.args, reply);
            return Ok(Flow::Replied);
        }
        let Self { client, conn, keys } = self;
        let mut cx = Cx {
            engine,
            conn,
            keys,
            client,
            now,
            request: &prepared.args,
            hint: prepared.hint.map(|hint| A::Keys::shorten(hint)),
            section: None,
        };
        Ok(engine.run(at, &mut cx, prepared.args, name_len, reply))
    }

    /// Whether a command may run or be queued on a connection that is restricted or in a
    /// transaction.
    #[cold]
    fn admit_restricted(&self, engine: &Engine<A>, spec: &Spec, now: Now) -> Result<(), Error> {
        let flags = spec.flags;
        let is_queued = self.client.transaction.is_open() && !flags.has(Flags::IMMEDIATE);
        if self.client.is_unauthenticated(&engine.tunables) && !flags.has(Flags::NO_AUTH) {
            Err(NO_AUTH)
        } else if self.client.is_resp2_subscriber() && !flags.has(Flags::SUBSCRIBED) {
            Err(not_for_subscriber(spec))
        } else if is_queued && flags.has(Flags::NO_MULTI) {
            Err(Error::fixed("ERR Command not allowed inside a transaction"))
        } else if is_queued {
            // A queued command may run after writes of the same transaction.
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
            transaction,
            shared_buffer,
            ..
        } = &mut self.client;
        let entry = engine.table.entry(found.0);
        let mut flags = entry.spec().flags;
        if flags.any(Flags::MAY_WRITE | Flags::SCRIPT) && entry.command().may_write(request) {
            flags = flags | Flags::WRITE;
        }
        let request = (request, shared_buffer.as_ref());
        if transaction.queue(found, flags, request, &engine.limits) {
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

    #[cold]
    fn hold_back(
        &mut self,
        engine: &Engine<A>,
        spec: &Spec,
        held_back: HeldBack,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, u64> {
        match held_back {
            HeldBack::Until(until_us) => Err(until_us),
            HeldBack::Refused(error) => {
                self.refuse(engine, spec, error, reply);
                Ok(Flow::Replied)
            }
        }
    }

    /// Replies with an error to a request that does not run. `EXEC` will refuse an open
    /// transaction, and a refused `EXEC` ends it.
    #[cold]
    fn refuse(&mut self, engine: &Engine<A>, spec: &Spec, error: Error, reply: &mut Reply<'_>) {
        let error = refused(spec, &mut self.client, error);
        self.client.transaction.mark_aborted();
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

    /// Counts an unknown command and reports its name to the host. The names sent by
    /// unauthenticated clients are not reported.
    #[cold]
    fn note_unknown(&self, engine: &Engine<A>, request: ArgList<'_>, is_inside: bool) {
        if self.client.is_unauthenticated(&engine.tunables) {
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

/// The index that stands for no entry of the table.
const NONE: u32 = u32::MAX;

/// Whether a command confirms subscriptions. Confirmations are not replies and are sent in any
/// reply mode.
fn confirms(spec: &Spec) -> bool {
    spec.flags.has(Flags::PUBSUB.with(Flags::SUBSCRIBED))
}

/// The error for a command that RESP2 does not allow a subscriber.
#[cold]
fn not_for_subscriber(spec: &Spec) -> Error {
    Error::owned(format!(
        "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are \
         allowed in this context",
        spec.name
    ))
}

const NO_AUTH: Error = Error::fixed("NOAUTH Authentication required.");

/// Why no command was found for a request.
pub(super) enum Missing {
    /// There is no such command.
    Command(Error),
    /// There is a container, but no such subcommand.
    Subcommand(Error),
    /// The number of arguments is wrong for the command at this index.
    Arguments(u32, Error),
}

/// Finds the command that a request names, and checks the number of its arguments.
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
