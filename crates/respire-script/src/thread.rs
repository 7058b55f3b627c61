//! What each thread keeps of scripts: a state of Lua, and compiled scripts.

use crate::library::Loaded;
use crate::lua::{Callable, State};
use crate::script::{Script, Sha};
use crate::scripts::{Scripts, ThreadBytes};
use foldhash::fast::RandomState;
use respire_engine::Error;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};

/// Compiled scripts that a thread keeps. When there are more, it begins anew.
const COMPILED_MAX: usize = 2 * crate::limits::EVALUATED_MAX;

/// The server is told of the memory of a state when it has changed by so many bytes.
const TOLD_STEP_BYTES: usize = 16 << 10;

/// What a thread keeps for one server.
pub(crate) struct Thread {
    pub(crate) state: State,
    compiled: RefCell<HashMap<Sha, Rc<Compiled>>>,
    /// The same by the digits with which `EVALSHA` has named them.
    named: RefCell<HashMap<[u8; Sha::DIGITS], Rc<Compiled>, RandomState>>,
    pub(crate) libraries: Loaded,
    /// Of the scripts that are compiled.
    epoch: Cell<u64>,
    /// The memory that the server has been told of.
    told_bytes: Cell<ThreadBytes>,
}

/// A script that a thread has compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) script: Arc<Script>,
    pub(crate) function: Callable,
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
            named: RefCell::default(),
            libraries: Loaded::default(),
            epoch: Cell::new(0),
            told_bytes: Cell::default(),
        });
        threads.push((Arc::downgrade(scripts), Rc::clone(&thread)));
        Ok(thread)
    })
}

impl Thread {
    /// The script of this name, if this thread has compiled it and it is still known.
    pub(crate) fn compiled(&self, scripts: &Scripts, sha: Sha) -> Option<Rc<Compiled>> {
        self.follow(scripts);
        self.compiled.borrow().get(&sha).cloned()
    }

    /// The script that these digits name. It is compiled if need be. `None` if it is not known.
    ///
    /// # Errors
    /// The error for the client, with the compiler's message.
    pub(crate) fn named(
        &self,
        scripts: &Scripts,
        digits: &[u8],
    ) -> Result<Option<Rc<Compiled>>, Error> {
        let Ok(digits) = <&[u8; Sha::DIGITS]>::try_from(digits) else {
            return Ok(None);
        };
        self.follow(scripts);
        if let Some(compiled) = self.named.borrow().get(digits) {
            return Ok(Some(Rc::clone(compiled)));
        }
        let Some(sha) = Sha::parse(digits) else {
            return Ok(None);
        };
        let compiled = match self.compiled(scripts, sha) {
            Some(compiled) => compiled,
            None => match scripts.get(sha) {
                Some(script) => self.compile(script)?,
                None => return Ok(None),
            },
        };
        let mut named = self.named.borrow_mut();
        if named.len() >= COMPILED_MAX {
            named.clear();
        }
        named.insert(*digits, Rc::clone(&compiled));
        Ok(Some(compiled))
    }

    /// Forgets all scripts if the server has, and gives their memory back. Called before a script runs.
    fn follow(&self, scripts: &Scripts) {
        let epoch = scripts.epoch();
        if self.epoch.replace(epoch) != epoch {
            self.compiled.borrow_mut().clear();
            self.named.borrow_mut().clear();
            self.state.collect_garbage();
        }
    }

    /// Compiles a script, and keeps it.
    ///
    /// # Errors
    /// The error for the client, with the compiler's message.
    pub(crate) fn compile(&self, script: Arc<Script>) -> Result<Rc<Compiled>, Error> {
        let function = self.check(&script)?;
        let sha = script.sha;
        let new = Rc::new(Compiled { script, function });
        let mut compiled = self.compiled.borrow_mut();
        if compiled.len() >= COMPILED_MAX {
            compiled.clear();
            self.named.borrow_mut().clear();
        }
        compiled.insert(sha, Rc::clone(&new));
        Ok(new)
    }

    /// Compiles a script without keeping it.
    ///
    /// # Errors
    /// The error for the client, with the compiler's message.
    pub(crate) fn check(&self, script: &Script) -> Result<Callable, Error> {
        self.state.script(script.code()).map_err(|message| {
            let prefix = b"ERR Error compiling script (new function): ";
            Error::owned([&prefix[..], &message].concat())
        })
    }

    /// Called when a script has ended and nothing of it is in use. `is_pure`: it cannot have written into
    /// the tables of the libraries.
    pub(crate) fn tidy_up(&self, scripts: &Scripts, is_pure: bool) {
        self.state.tidy_up(is_pure);
        let (bytes, told) = (self.bytes(), self.told_bytes.get());
        if told.state.abs_diff(bytes.state) >= TOLD_STEP_BYTES || told.functions != bytes.functions
        {
            self.note_bytes(scripts);
        }
    }

    fn bytes(&self) -> ThreadBytes {
        ThreadBytes {
            state: self.state.used_bytes(),
            functions: self.libraries.code_bytes(),
        }
    }

    /// Tells the server how much memory this thread uses now.
    pub(crate) fn note_bytes(&self, scripts: &Scripts) {
        let bytes = self.bytes();
        let before = self.told_bytes.replace(bytes);
        if before != bytes {
            scripts.note_bytes(before, bytes);
        }
    }
}
