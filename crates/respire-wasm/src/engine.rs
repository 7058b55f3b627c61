//! Creates the engine and its command table.

use respire_commands::{Kv, add_to};
use respire_engine::{CommandTable, Engine, Now, Options, Router};
use respire_store::{Config, Store};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// An engine with all commands, an empty store and this password.
pub(crate) fn new_engine(now: Now, password: Option<&[u8]>) -> Arc<Engine<Kv>> {
    // One thread needs no shards; two are the minimum.
    let store = Store::new(Config {
        shards: 2,
        ..Config::default()
    });
    let options = Options {
        password: password.map(<[u8]>::to_vec),
        ..Options::default()
    };
    Engine::new(add_to(Router::new(Kv::new(store))), options, now)
}

/// The table of all commands.
pub(crate) fn commands() -> &'static CommandTable<Kv> {
    static ENGINE: OnceLock<Arc<Engine<Kv>>> = OnceLock::new();
    let start = Now::new(Duration::ZERO, Duration::ZERO);
    ENGINE.get_or_init(|| new_engine(start, None)).commands()
}
