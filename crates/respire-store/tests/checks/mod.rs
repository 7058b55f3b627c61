//! Compares the store with a simple model, by operations read from bytes. The tests and the fuzzer share it.

mod cut;
mod edit;
mod log;
mod source;
mod whole;
mod world;

use source::Source;
use world::World;

/// Largest number of operations of one input.
const OPERATIONS_MAX: usize = 300;

/// Reads operations from any bytes, and does them on a store and on its model. It checks that both have the same
/// contents and return the same answers, and that every change is reported to observers and watches.
pub(crate) fn check_store_ops(data: &[u8]) {
    let mut source = Source::new(data);
    let mut world = World::new(source.config());
    for _ in 0..OPERATIONS_MAX {
        if source.is_empty() {
            break;
        }
        world.step(&mut source);
    }
    world.finish();
}
