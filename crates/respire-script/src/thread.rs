//! What each thread keeps of scripts: a state of Lua, and compiled scripts.

use crate::library::Loaded;
use crate::lua::State;
use crate::script::{Script, Sha};
use crate::scripts::Scripts;
use mlua::Function;
use respire_engine::Error;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};

/// Compiled scripts that a thread keeps. When there are more, it begins anew.
const COMPILED_MAX: usize = 2 * crate::cache::EVALUATED_MAX;

/// What a thread keeps for one server.
pub(crate) struct Thread {
    pub(crate) state: State,
    compiled: RefCell<HashMap<Sha, (Arc<Script>, Function)>>,
    pub(crate) libraries: Loaded,
    /// Of the scripts that are compiled.
    epoch: Cell<u64>,
    /// The memory of the state that the server has been told of.
    told_bytes: Cell<usize>,
}

thread_local! {
    /// One for each server that has run a script on this thread. Servers that are gone leave theirs
    /// until the next new one comes.
    static THREADS: RefCell<Vec<(Weak<Scripts>, Rc<Thread>)>> = const { RefCell::new(Vec::new()) };
}

/// What this thread keeps for a server. The first call makes a state of Lua.
///
/// # Errors
/// Out of memory.
pub(crate) fn of(scripts: &Arc<Scripts>) -> Result<Rc<Thread>, Error> {
    THREADS.with_borrow_mut(|threads| {
        let is_it = |(owner, _): &&(Weak<Scripts>, _)| owner.as_ptr() == Arc::as_ptr(scripts);
        if let Some((_, thread)) = threads.iter().find(is_it) {
            return Ok(Rc::clone(thread));
        }
        threads.retain(|(owner, _)| owner.strong_count() > 0);
        let state = State::new().map_err(|error| Error::new("ERR", error))?;
        let thread = Rc::new(Thread {
            state,
            compiled: RefCell::default(),
            libraries: Loaded::default(),
            epoch: Cell::new(0),
            told_bytes: Cell::new(0),
        });
        threads.push((Arc::downgrade(scripts), Rc::clone(&thread)));
        Ok(thread)
    })
}

impl Thread {
    /// The script of this name, if this thread has compiled it and it is still known.
    pub(crate) fn compiled(&self, scripts: &Scripts, sha: Sha) -> Option<(Arc<Script>, Function)> {
        let epoch = scripts.epoch();
        if self.epoch.replace(epoch) != epoch {
            self.compiled.borrow_mut().clear();
        }
        self.compiled.borrow().get(&sha).cloned()
    }

    /// Compiles a script, and keeps it.
    ///
    /// # Errors
    /// The error for the client, with the compiler's message.
    pub(crate) fn compile(&self, script: &Arc<Script>) -> Result<Function, Error> {
        let function = self.check(script)?;
        let mut compiled = self.compiled.borrow_mut();
        if compiled.len() >= COMPILED_MAX {
            compiled.clear();
        }
        let kept = (Arc::clone(script), function.clone());
        compiled.insert(script.sha, kept);
        Ok(function)
    }

    /// Compiles a script without keeping it.
    ///
    /// # Errors
    /// The error for the client, with the compiler's message.
    pub(crate) fn check(&self, script: &Script) -> Result<Function, Error> {
        self.state.compile(script.code()).map_err(|message| {
            let prefix = b"ERR Error compiling script (new function): ";
            Error::owned([&prefix[..], &message].concat())
        })
    }

    /// Called when a script has ended and nothing of it is in use. `is_pure`: it cannot have written into
    /// the tables of the libraries.
    pub(crate) fn tidy_up(&self, scripts: &Scripts, is_pure: bool) {
        self.state.tidy_up(is_pure);
        let bytes = self.state.used_bytes();
        let before = self.told_bytes.replace(bytes);
        if before != bytes {
            scripts.note_state_bytes(before, bytes);
        }
    }
}
