//! The store against a plain model, whatever is done to it: shared by the tests and the fuzzer.

mod edit;
mod log;
mod source;
mod whole;
mod world;

use source::Source;
use world::World;

/// How many operations one input makes at most.
const OPERATIONS_MAX: usize = 300;

/// Reads operations from any bytes and does them to a store and to a model of it. The store holds what the
/// model holds, answers what it answers, and tells its observers and watchers of every change.
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
