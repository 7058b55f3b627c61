//! Gates: reasons of the server, and not of its clients, for which commands are refused or wait.

use crate::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A reason for which commands must not run now ([`Engine::close_gate`](crate::Engine::close_gate)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The keys are being loaded: commands without [`Flags::LOADING`](crate::Flags::LOADING) are
    /// refused, and nothing is swept or evicted.
    Loading,
    /// Changes cannot be kept: commands with [`Flags::WRITE`](crate::Flags::WRITE), and
    /// [probes](crate::Flags::PROBE), are refused with this error. Scripts may read. A script that has
    /// written goes on.
    Misconf(Error),
    /// Changes are made faster than they are kept: commands that write wait, as during `CLIENT PAUSE
    /// WRITE`. Other commands of their connections wait behind them.
    Pace,
}

/// The kinds of [`Gate`], to open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateKind {
    /// [`Gate::Loading`].
    Loading,
    /// [`Gate::Misconf`].
    Misconf,
    /// [`Gate::Pace`].
    Pace,
}

impl Gate {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> GateKind {
        match self {
            Self::Loading => GateKind::Loading,
            Self::Misconf(_) => GateKind::Misconf,
            Self::Pace => GateKind::Pace,
        }
    }
}

impl GateKind {
    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The error while keys are loaded.
pub(crate) const LOADING: Error = Error::fixed("LOADING Redis is loading the dataset in memory");

/// The gates that are closed.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    closed: AtomicU32,
    misconf: Mutex<Option<Error>>,
}

impl Gates {
    /// Closes a gate. A gate of the same kind that is closed already is replaced.
    pub(crate) fn close(&self, gate: Gate, on_change: impl FnOnce(bool)) {
        let mut misconf = self.lock();
        self.closed.fetch_or(gate.kind().bit(), Ordering::AcqRel);
        if let Gate::Misconf(error) = gate {
            *misconf = Some(error);
        }
        on_change(true);
    }

    /// Opens a gate. `on_change` learns, under the lock, whether any other is closed.
    pub(crate) fn open(&self, kind: GateKind, on_change: impl FnOnce(bool)) {
        let mut misconf = self.lock();
        let before = self.closed.fetch_and(!kind.bit(), Ordering::AcqRel);
        if kind == GateKind::Misconf {
            *misconf = None;
        }
        on_change(before & !kind.bit() != 0);
    }

    /// Whether a gate of this kind is closed.
    pub(crate) fn is_closed(&self, kind: GateKind) -> bool {
        self.closed.load(Ordering::Acquire) & kind.bit() != 0
    }

    /// Whether any gate is closed.
    pub(crate) fn is_any_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) != 0
    }

    /// The error with which writes are refused, if they are.
    pub(crate) fn misconf(&self) -> Option<Error> {
        if self.is_closed(GateKind::Misconf) {
            self.lock().clone()
        } else {
            None
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.misconf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
