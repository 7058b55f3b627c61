//! Libraries of functions: what all threads share of them, and what each has loaded.
//!
//! A library is loaded on the thread that adds it, and on each other thread when that calls one of
//! its functions for the first time. So each thread has upvalues of its own: a counter that a library
//! keeps in a local variable counts the calls on one thread.

mod header;
mod load;
mod loaded;
mod payload;
mod registry;

pub(crate) use load::{Loading, Stopwatch, load};
pub(crate) use loaded::Loaded;
pub(crate) use payload::{dump, restore};
pub use registry::LibraryObserver;
pub(crate) use registry::{Policy, Registry, Table};

use crate::flags::Flags;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A library that the server knows.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) name: String,
    /// The whole text, with the first line.
    pub(crate) code: Box<[u8]>,
    /// Where Lua's code begins.
    code_at: usize,
    /// In the order in which they were registered; at least one.
    pub(crate) functions: Vec<Arc<FunctionInfo>>,
}

/// A function of a library.
#[derive(Debug)]
pub(crate) struct FunctionInfo {
    pub(crate) name: String,
    pub(crate) description: Option<Box<[u8]>>,
    pub(crate) flags: Flags,
    /// Whether the code of its library cannot write into the tables of others.
    pub(crate) is_pure: bool,
    /// Whether it may use keys that it does not declare.
    widens: AtomicBool,
}

impl FunctionInfo {
    pub(crate) fn widens(&self) -> bool {
        self.widens.load(Ordering::Relaxed)
    }

    /// From now on it runs in sections that can be widened.
    pub(crate) fn mark_widening(&self) {
        self.widens.store(true, Ordering::Relaxed);
    }
}

impl Library {
    /// Where in its text the code begins.
    pub(crate) fn code_at(&self) -> usize {
        self.code_at
    }

    /// The bytes that it takes.
    fn bytes(&self) -> usize {
        let of = |function: &Arc<FunctionInfo>| {
            let description = function.description.as_ref().map_or(0, |text| text.len());
            size_of::<FunctionInfo>() + 2 * function.name.len() + description
        };
        let functions: usize = self.functions.iter().map(of).sum();
        size_of::<Self>() + self.name.len() + self.code.len() + functions
    }
}
