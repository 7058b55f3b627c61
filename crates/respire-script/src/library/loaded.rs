//! The libraries that a thread has loaded.

use super::load::load_again;
use super::{FunctionInfo, Library, Registry};
use crate::lua::{Callable, Registered, State};
use respire_engine::{Error, Host};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The functions of a thread, by names in lower case.
#[derive(Default)]
pub(crate) struct Loaded {
    functions: RefCell<HashMap<String, Rc<Prepared>>>,
    /// Of the registry, when this was last compared with it.
    epoch: Cell<u64>,
    /// Of the functions.
    code_bytes: Cell<usize>,
}

/// A function that can be called.
pub(crate) struct Prepared {
    library: Arc<Library>,
    pub(crate) info: Arc<FunctionInfo>,
    pub(crate) callback: Callable,
    code_bytes: usize,
}

impl Loaded {
    /// The function of this name; loads its library if the thread has not done so.
    ///
    /// # Errors
    /// If there is none, or the library cannot be loaded here, as memory is used up.
    pub(crate) fn find(
        &self,
        registry: &Registry,
        state: &State,
        name: &[u8],
        host: &dyn Host,
    ) -> Result<Rc<Prepared>, Error> {
        const NOT_FOUND: Error = Error::fixed("ERR Function not found");
        self.follow(registry);
        let name = std::str::from_utf8(name).map_err(|_| NOT_FOUND)?;
        let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
        if let Some(prepared) = self.functions.borrow().get(&*name) {
            return Ok(Rc::clone(prepared));
        }
        let table = registry.table();
        let library = table.with_function(&name).ok_or(NOT_FOUND)?;
        let registered = load_again(state, library, host)?;
        let kept = self.keep(state, library, registered);
        kept.map_err(|error| Error::new("ERR", error))?;
        let functions = self.functions.borrow();
        functions.get(&*name).map(Rc::clone).ok_or(NOT_FOUND)
    }

    /// Keeps the functions of a library that was loaded on this thread.
    ///
    /// # Errors
    /// Out of memory. Then they are loaded again when one of them is called.
    pub(crate) fn keep(
        &self,
        state: &State,
        library: &Arc<Library>,
        registered: Vec<Registered>,
    ) -> mlua::Result<()> {
        let mut functions = self.functions.borrow_mut();
        for (info, new) in library.functions.iter().zip(registered) {
            let prepared = Prepared {
                library: Arc::clone(library),
                info: Arc::clone(info),
                callback: state.callable(&new.callback)?,
                code_bytes: new.code_bytes,
            };
            let mut bytes = self.code_bytes.get() + prepared.code_bytes;
            let name = info.name.to_ascii_lowercase();
            if let Some(replaced) = functions.insert(name, Rc::new(prepared)) {
                bytes -= replaced.code_bytes;
            }
            self.code_bytes.set(bytes);
        }
        Ok(())
    }

    /// The bytes of the compiled code of the libraries. What they keep in variables is not counted.
    pub(crate) fn code_bytes(&self) -> usize {
        self.code_bytes.get()
    }

    /// Forgets the functions of libraries that are gone. Those of others keep their upvalues.
    fn follow(&self, registry: &Registry) {
        let epoch = registry.epoch();
        if self.epoch.replace(epoch) == epoch {
            return;
        }
        let table = registry.table();
        let mut functions = self.functions.borrow_mut();
        functions.retain(|_, prepared| {
            let library = table.get(&prepared.library.name);
            library.is_some_and(|library| Arc::ptr_eq(library, &prepared.library))
        });
        let bytes = functions.values().map(|prepared| prepared.code_bytes);
        self.code_bytes.set(bytes.sum());
    }
}
