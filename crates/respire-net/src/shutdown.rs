//! A switch that asks a server to stop, from any thread.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The switch that stops a server. Clones share its state.
///
/// ```
/// use respire_net::Shutdown;
///
/// let shutdown = Shutdown::new();
/// let elsewhere = shutdown.clone();
/// elsewhere.request();
/// assert!(shutdown.is_requested());
/// ```
#[derive(Clone, Default)]
pub struct Shutdown(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: AtomicU8,
    listeners: Mutex<Vec<Listener>>,
}

type Listener = Box<dyn Fn() + Send>;

const RUNNING: u8 = 0;
const DRAINING: u8 = 1;
const FORCED: u8 = 2;

impl Shutdown {
    /// A switch that nobody has used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A switch that SIGTERM and SIGINT operate. The first signal requests a shutdown; a second one
    /// forces it, so that the server stops waiting for its peers. Starts one thread, which lives as
    /// long as the process.
    ///
    /// # Errors
    /// When the system refuses the signal handlers or the thread.
    pub fn on_signals() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};

        let shutdown = Self::new();
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
        let switch = shutdown.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    let name = if signal == SIGTERM {
                        "SIGTERM"
                    } else {
                        "SIGINT"
                    };
                    if switch.is_requested() {
                        tracing::warn!("received {name} again, stopping at once");
                        switch.force();
                    } else {
                        tracing::info!("received {name}, stopping");
                        switch.request();
                    }
                }
            })?;
        Ok(shutdown)
    }

    /// Asks the server to stop: it accepts no new connections, and open ones end after their
    /// replies.
    pub fn request(&self) {
        self.advance_to(DRAINING);
    }

    /// Asks the server to stop without waiting for its peers.
    pub fn force(&self) {
        self.advance_to(FORCED);
    }

    /// Whether the server has been asked to stop. One relaxed load.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) >= DRAINING
    }

    /// Whether the server has been asked to stop without waiting.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) == FORCED
    }

    /// Calls `listener` on each request to stop; at once if there was one before.
    pub fn on_request(&self, listener: impl Fn() + Send + 'static) {
        // Read the state under the lock that `advance_to` takes after it wrote the state, so that
        // no request is missed between the two.
        let mut listeners = self
            .0
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_requested() {
            listener();
        }
        listeners.push(Box::new(listener));
    }

    fn advance_to(&self, state: u8) {
        if self.0.state.fetch_max(state, Ordering::AcqRel) < state {
            let listeners = self
                .0
                .listeners
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            listeners.iter().for_each(|listener| listener());
        }
    }
}

impl std::fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = match self.0.state.load(Ordering::Relaxed) {
            RUNNING => "running",
            DRAINING => "requested",
            _ => "forced",
        };
        f.debug_tuple("Shutdown").field(&state).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn listener_is_called_once_per_stage() {
        let shutdown = Shutdown::new();
        let heard = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&heard);
        shutdown.on_request(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(!shutdown.is_requested());
        shutdown.request();
        shutdown.request();
        assert_eq!(heard.load(Ordering::Relaxed), 1);
        assert!(shutdown.is_requested() && !shutdown.is_forced());
        shutdown.force();
        shutdown.request();
        assert_eq!(heard.load(Ordering::Relaxed), 2);
        assert!(shutdown.is_forced());
    }

    #[test]
    fn late_listener_is_called_at_once() {
        let shutdown = Shutdown::new();
        shutdown.request();
        let heard = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&heard);
        shutdown.on_request(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(heard.load(Ordering::Relaxed), 1);
    }
}
