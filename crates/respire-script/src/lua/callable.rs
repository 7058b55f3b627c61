//! Functions that a state can run.

use mlua::{Function, Lua, Result, Table, Value};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;

/// The functions of a state that it can run, in the slots of a table, where they are found without
/// asking `mlua`.
pub(super) struct Callables {
    pub(super) table: Table,
    /// Keeps the state until the last slot is free.
    _lua: Lua,
    /// The slots that were used and are free again.
    free: RefCell<Vec<c_int>>,
    used: Cell<c_int>,
}

/// A function that its state can run. Its slot is free again when this is dropped.
pub(crate) struct Callable {
    slot: c_int,
    /// Whether it gets as arguments what [`bound`](super::binding::bound) names.
    is_bound: bool,
    callables: Rc<Callables>,
}

impl Callables {
    /// # Errors
    /// Out of memory.
    pub(super) fn new(lua: &Lua) -> Result<Rc<Self>> {
        Ok(Rc::new(Self {
            table: lua.create_table()?,
            _lua: lua.clone(),
            free: RefCell::default(),
            used: Cell::new(0),
        }))
    }

    /// Gives a function a slot. `is_bound`: its text was [`bound`](super::binding::bound).
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn add(self: &Rc<Self>, function: &Function, is_bound: bool) -> Result<Callable> {
        let free = self.free.borrow_mut().pop();
        let slot = free.unwrap_or_else(|| {
            self.used.set(self.used.get() + 1);
            self.used.get()
        });
        let callable = Callable {
            slot,
            is_bound,
            callables: Rc::clone(self),
        };
        self.table.raw_set(slot, function)?;
        Ok(callable)
    }
}

impl Callable {
    pub(super) fn slot(&self) -> c_int {
        self.slot
    }

    pub(super) fn is_bound(&self) -> bool {
        self.is_bound
    }
}

impl Drop for Callable {
    fn drop(&mut self) {
        // If there is no memory for it, the function stays until the slot is used again.
        let _ = self.callables.table.raw_set(self.slot, Value::Nil);
        self.callables.free.borrow_mut().push(self.slot);
    }
}

impl std::fmt::Debug for Callable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Callable").field(&self.slot).finish()
    }
}
