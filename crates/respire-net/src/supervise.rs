//! Runs a server on a thread of its own, so that a command that does not end cannot keep it from
//! stopping.

use crate::{Report, Service, clock};
use respire_engine::App;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long a driver that is not blocked may take beyond the grace time to return by itself.
const MARGIN: Duration = Duration::from_millis(100);

/// The usual stack of a main thread: handlers may rely on it.
const STACK_BYTES: usize = 8 << 20;

enum Event {
    /// The server was asked to stop, possibly again.
    StopRequested,
    /// The driver returned, or panicked.
    Ended(thread::Result<io::Result<u64>>),
}

/// Runs `serve` on a thread called `name` and returns the number of connections it cut.
///
/// After the server is asked to stop, `serve` has [`Limits::shutdown_grace_ms`](crate::Limits) and
/// a tenth of a second to return. After a second request it has a tenth of a second. If it has not
/// returned then, because a command still runs, its thread is left running; it ends with its
/// command or with the process.
///
/// # Errors
/// The errors of `serve`; and when the system refuses the thread.
///
/// # Panics
/// When `serve` does.
pub fn supervise<A: App>(
    name: &str,
    service: &Arc<Service<A>>,
    serve: impl FnOnce(Arc<Service<A>>) -> io::Result<u64> + Send + 'static,
) -> io::Result<Report> {
    let (events, heard) = channel();
    let pressed = events.clone();
    service.shutdown.on_request(move || {
        // Fails if this function has returned; then there is nothing left to stop.
        let _ = pressed.send(Event::StopRequested);
    });
    let served = Arc::clone(service);
    thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| serve(served)));
            // Fails if this function returned before the driver did.
            let _ = events.send(Event::Ended(ended));
        })?;
    let mut due_us = u64::MAX;
    loop {
        match heard.recv_timeout(clock::until(due_us, clock::now())) {
            Ok(Event::StopRequested) => {
                let due = clock::now().after(time_to_return(service)).monotonic_us();
                due_us = due_us.min(due);
            }
            Ok(Event::Ended(Ok(cut))) => return cut.map(|cut| service.stats.report(cut)),
            Ok(Event::Ended(Err(panic))) => resume_unwind(panic),
            Err(_) => {
                tracing::warn!("a command still runs; stopping without waiting for its end");
                return Ok(service.stats.report(service.cut_open()));
            }
        }
    }
}

/// How long the driver may still take to return.
fn time_to_return<A: App>(service: &Service<A>) -> Duration {
    if service.shutdown.is_forced() {
        return MARGIN;
    }
    let grace_ms = u64::from(service.limits().shutdown_grace_ms);
    Duration::from_millis(grace_ms) + MARGIN
}
