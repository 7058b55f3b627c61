//! Redis's commands on the Respire store.

mod app;
mod ctx;
mod errors;
mod info;
mod kv;
mod options;
mod settings;
mod stats;
mod table;
mod value;

mod bit;
mod key;
mod rdb;
mod server;
mod string;

pub(crate) use ctx::Ctx;
pub use kv::{HasKv, Kv};
pub use settings::settings;
pub use stats::ConnStats;

use respire_engine::{Command, Router};

/// Adds every command of this crate to a router.
#[must_use]
pub fn add_to<A: HasKv>(router: Router<A>) -> Router<A> {
    let router = table::rows().fold(router, |router, row| router.add(*row));
    table::containers().fold(router, |router, (container, subcommands)| {
        let subcommands = subcommands.iter().map(|row| Box::new(*row) as Box<dyn Command<A>>);
        router.container(*container, subcommands)
    })
}
