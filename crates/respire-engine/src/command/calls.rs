//! Calls of commands from within a command, as scripts make them.

use crate::client::transaction::Found;
use crate::command::cx::InSection;
use crate::command::exec::end_at_once;
use crate::command::keyspace::KeysConn;
use crate::observe::stats::Stats;
use crate::{
    App, ArgList, Client, Cx, Engine, Error, Flags, Flow, Keyspace, Now, Output, Proto,
    SectionScope, Spec,
};
use resp_codec::Encoder;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Calls commands on behalf of a running command, in one atomic section ([`Cx::section`]).
pub struct Calls<'c, A: App> {
    engine: &'c Engine<A>,
    conn: &'c mut A::Conn,
    keys: &'c mut KeysConn<A>,
    client: &'c mut Client,
    now: Now,
    section: InSection<'c, A>,
    /// Keys that the section covers, and their database.
    covered: (u32, &'c [&'c [u8]]),
    /// Whether the section covers every key.
    covers_all: bool,
    latest: Cell<Option<Latest<'c>>>,
}

/// The command that was found last, which is often called again.
#[derive(Clone, Copy)]
struct Latest<'e> {
    /// The name as it was spelled, behind its length.
    name: [u8; 1 + LATEST_BYTES_MAX],
    callee: Callee<'e>,
}

/// The longest name of a command that is found last.
const LATEST_BYTES_MAX: usize = 15;

impl Latest<'_> {
    #[inline]
    fn name(&self) -> &[u8] {
        &self.name[1..=usize::from(self.name[0])]
    }
}

/// The only key of a request is compared with so many keys of the section before the section is asked, which must
/// find the shard.
const COMPARED_KEYS_MAX: usize = 4;

/// A command that was found for a request.
#[derive(Clone, Copy, Debug)]
pub struct Callee<'e> {
    found: Found,
    spec: &'e Spec,
    /// The argument that is the only key, if that is known.
    only_key: Option<usize>,
}

impl<'e> Callee<'e> {
    /// The description of the command.
    #[must_use]
    pub fn spec(self) -> &'e Spec {
        self.spec
    }
}

/// Why a request cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// There is no such command or subcommand.
    Command,
    /// The command takes another number of arguments.
    Arity,
}

impl<A: App> Cx<'_, A> {
    /// Runs `body` in an atomic section that covers `keys` of the selected database. With `widens`,
    /// the section can be widened to further keys ([`Calls::cover`]).
    ///
    /// Inside `EXEC`, it is the section of the transaction.
    pub fn section(
        &mut self,
        keys: &[&[u8]],
        widens: bool,
        body: &mut dyn FnMut(&mut Calls<'_, A>),
    ) {
        let (engine, now, db) = (self.engine, self.now, self.client.db());
        let (conn, keys_conn, client) = (&mut *self.conn, &mut *self.keys, &mut *self.client);
        let own = self.section.is_none();
        let mut with = |mut section: InSection<'_, A>| {
            body(&mut Calls {
                engine,
                conn: &mut *conn,
                keys: &mut *keys_conn,
                client: &mut *client,
                now,
                section: section.reborrow(),
                // The section of a transaction has keys of its own.
                covered: (db, if own { keys } else { &[] }),
                covers_all: false,
                latest: Cell::new(None),
            });
            // A call may have selected another database.
            client.select(db);
        };
        if let Some(section) = &mut self.section {
            return with(section.reborrow());
        }
        let scope: SmallVec<[(u32, &[u8]); 4]> = keys.iter().map(|key| (db, *key)).collect();
        let scope = SectionScope::Keys(&scope);
        if widens {
            A::Keys::atomically_widening(engine.app(), &scope, now, &mut |held, widen| {
                with(InSection {
                    held,
                    widen: Some(&mut *widen),
                });
            });
        } else {
            A::Keys::atomically(engine.app(), &scope, now, &mut |held| {
                with(InSection { held, widen: None });
            });
        }
    }
}

impl<'c, A: App> Calls<'c, A> {
    /// The engine that runs the commands.
    #[must_use]
    pub fn engine(&self) -> &'c Engine<A> {
        self.engine
    }

    /// The time, which stands still for all calls of the section.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }

    /// The connection that makes the calls.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.client
    }

    /// Finds the command that a request names, and checks the number of its arguments.
    ///
    /// # Errors
    /// If there is no such command, or it takes another number of arguments.
    pub fn find(&self, request: ArgList<'_>) -> Result<Callee<'c>, NotFound> {
        let name = request.get(0).ok_or(NotFound::Command)?;
        let callee = match self.latest.get() {
            Some(latest) if latest.name() == name => latest.callee,
            _ => self.find_anew(name, request)?,
        };
        if !callee.spec.arity.accepts(request.len()) {
            return Err(NotFound::Arity);
        }
        Ok(callee)
    }

    fn find_anew(&self, name: &[u8], request: ArgList<'_>) -> Result<Callee<'c>, NotFound> {
        let table = &self.engine.table;
        let mut found = (table.find_name(name).ok_or(NotFound::Command)?, 1);
        let container = table.entry(found.0);
        if let (true, Some(name)) = (container.is_container(), request.get(1)) {
            let inner = table.find_subcommand(found.0, name);
            found = (inner.ok_or(NotFound::Command)?, 2);
        }
        let spec = table.entry(found.0).spec();
        let only_key = match spec.keys {
            [key] if key.are_keys() => key.only(),
            _ => None,
        };
        let callee = Callee {
            found,
            spec,
            only_key,
        };
        if !container.is_container() && name.len() <= LATEST_BYTES_MAX {
            let mut latest = [0; 1 + LATEST_BYTES_MAX];
            latest[0] = name.len() as u8;
            latest[1..=name.len()].copy_from_slice(name);
            self.latest.set(Some(Latest {
                name: latest,
                callee,
            }));
        }
        Ok(callee)
    }

    /// Counts a request that the caller does not run: as rejected, if there is a command for it, and as
    /// an error.
    #[cold]
    pub fn count_refusal(&self, request: ArgList<'_>, error: &Error) {
        let (engine, table) = (self.engine, &self.engine.table);
        let mut found = request.get(0).and_then(|name| table.find_name(name));
        if let (Some(at), Some(name)) = (found, request.get(1))
            && table.entry(at).is_container()
        {
            found = table.find_subcommand(at, name);
        }
        if let Some(at) = found {
            Stats::add(&table.entry(at).stats.rejected, 1);
        }
        engine.stats.count_error(error.code());
    }

    /// Says that the error with which the caller ends is that of a call or a refusal, which counts
    /// only once. Called directly before the caller writes it.
    pub fn error_is_counted(&mut self) {
        self.client.has_counted_error = true;
    }

    /// Makes sure that the section covers the keys of a request, and widens it if need be. Returns
    /// `false` if it does not cover them and cannot be widened. The command must not run then.
    #[must_use]
    pub fn cover(&mut self, callee: Callee<'_>, request: ArgList<'_>) -> bool {
        let engine = self.engine;
        if self.covers_all {
            return true;
        }
        if callee.spec.flags.has(Flags::ALL_KEYS) {
            return self.widen(&SectionScope::Everything);
        }
        let (app, db) = (engine.app(), self.client.db());
        let covered = match self.covered {
            (its_db, keys) if its_db == db => &keys[..keys.len().min(COMPARED_KEYS_MAX)],
            _ => &[],
        };
        if let Some(key) = callee.only_key.and_then(|at| request.get(at))
            && covered.contains(&key)
        {
            return true;
        }
        let mut is_covered = true;
        let held = &*self.section.held;
        // Arguments whose keys cannot be found are refused by the command itself.
        let command = engine.table.entry(callee.found.0).command();
        let _ = command.keys(request, &mut |at| {
            is_covered &= request
                .get(at)
                .is_none_or(|key| A::Keys::covers(app, held, db, key));
        });
        is_covered || self.widen_to_keys(callee, request)
    }

    #[cold]
    fn widen_to_keys(&mut self, callee: Callee<'_>, request: ArgList<'_>) -> bool {
        let (db, mut keys) = (self.client.db(), Vec::new());
        let command = self.engine.table.entry(callee.found.0).command();
        let _ = command.keys(request, &mut |at| {
            keys.extend(request.get(at).map(|key| (db, key)));
        });
        self.widen(&SectionScope::Keys(&keys))
    }

    #[cold]
    fn widen(&mut self, scope: &SectionScope<'_>) -> bool {
        let InSection { held, widen } = &mut self.section;
        let Some(widen) = widen else {
            return false;
        };
        widen(held, scope);
        self.covers_all = matches!(scope, SectionScope::Everything);
        true
    }

    /// Runs a command that was found for this request and whose keys are covered. Its reply is
    /// appended to `out` in protocol `proto`. Returns whether the reply is an error.
    ///
    /// A command that would wait is answered at once, as inside `EXEC`.
    ///
    /// # Errors
    /// If the service does not admit the command now.
    pub fn run(
        &mut self,
        callee: Callee<'_>,
        request: ArgList<'_>,
        proto: Proto,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let (engine, (at, name_len)) = (self.engine, callee.found);
        engine.app().admit(callee.spec, self.now)?;
        let mark = out.mark();
        let own_proto = std::mem::replace(&mut self.client.proto, proto);
        let caller = self.client.shared.last_entry.load(Ordering::Relaxed);
        self.client.swap_tallies();
        self.client.in_script = true;
        let mut reply = Encoder::new(out, proto);
        let errors = reply.error_count();
        let mut cx = Cx {
            engine,
            conn: self.conn,
            keys: self.keys,
            client: self.client,
            now: self.now,
            request: &request,
            hint: None,
            section: Some(self.section.reborrow()),
        };
        let flow = engine.run(at, &mut cx, request, name_len, &mut reply);
        let mut is_error = reply.error_count() != errors;
        if flow == Flow::Pending {
            reply.sink().cut(mark);
            is_error = end_at_once(engine, self.client, at, &mut reply);
        }
        self.client.swap_tallies();
        self.client.in_script = false;
        self.client.proto = own_proto;
        let last = &self.client.shared.last_entry;
        last.store(caller, Ordering::Relaxed);
        Ok(is_error)
    }
}

impl<A: App> std::fmt::Debug for Calls<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls")
            .field("client", &self.client)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
