//! Hands a worker over to another thread while a long call holds up its own.

use respire_engine::Relief;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The thread of a long call gives its worker away.
#[derive(Debug)]
pub(crate) struct HandOver;

/// How long the thread waits until another one has taken the worker, and it may go on. If none has, the
/// next call tries again.
const WAIT: Duration = Duration::from_micros(50);

impl Relief for HandOver {
    fn relieve(&self) {
        if can_hand_over() {
            block_in_place(|| thread::sleep(WAIT));
        }
    }

    fn block(&self, wait: &mut dyn FnMut()) {
        if can_hand_over() {
            block_in_place(wait);
        } else {
            wait();
        }
    }
}

/// Whether this thread has a worker to give away. Outside of a runtime, and in one of a single thread, a
/// long call holds up nobody or everybody.
fn can_hand_over() -> bool {
    let handle = Handle::try_current();
    handle.is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}
