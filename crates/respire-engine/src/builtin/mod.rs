//! The commands every client library expects, one file per family.
//!
//! They are rows of the table like any other; only here they may look into the engine.

mod acl;
mod auth;
mod client;
mod command;
mod config;
mod connection;
mod exec;
mod help;
mod info;
mod latency;
mod pubsub;
mod server;
mod settings;
mod slowlog;
mod sparkline;
#[cfg(test)]
pub(crate) mod testing;
mod transactions;

pub(crate) use exec::aborted;
pub(crate) use settings::settings;

use crate::client::Client;
use crate::{App, ArgList, Command, Cx, Flow, Reply, Router, Spec};
use std::sync::atomic::Ordering;

/// The version of Redis whose behaviour is followed, which is what clients look for.
const VERSION: &str = "7.0.15";

/// Adds all of them.
pub(crate) fn add_to<A: App>(router: Router<A>) -> Router<A> {
    let router = acl::add_to(router);
    let router = auth::add_to(router);
    let router = client::add_to(router);
    let router = command::add_to(router);
    let router = config::add_to(router);
    let router = connection::add_to(router);
    let router = pubsub::add_to(router);
    let router = exec::add_to(router);
    let router = info::add_to(router);
    let router = latency::add_to(router);
    let router = server::add_to(router);
    let router = slowlog::add_to(router);
    transactions::add_to(router)
}

/// A command that decides what follows its reply, and so writes its errors itself.
struct Act<A: App> {
    spec: &'static Spec,
    run: fn(&mut Cx<'_, A>, ArgList<'_>, &mut Reply<'_>) -> Flow,
}

impl<A: App> Command<A> for Act<A> {
    fn spec(&self) -> &Spec {
        self.spec
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        (self.run)(cx, args, reply)
    }
}

/// Ends the connection's transaction, if any, and its watches.
pub(crate) fn settled(client: &mut Client) {
    client.transaction.end();
    client.shared.is_in_multi.store(false, Ordering::Relaxed);
    client.shared.queued_commands.store(0, Ordering::Relaxed);
    client.shared.watched_keys.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::testing::Server;
    use crate::Entry;

    /// The rows that come with every router.
    fn rows(server: &Server) -> impl Iterator<Item = &Entry<super::testing::Cells>> {
        const OF_THE_TESTS: [&str; 5] = ["get", "set", "copy", "nap", "count"];
        let all = server.engine.commands().all();
        all.filter(|entry| !OF_THE_TESTS.contains(&entry.spec().name))
    }

    #[test]
    fn every_row_is_described() {
        for spec in rows(&Server::new()).map(Entry::spec) {
            assert!(!spec.summary.is_empty(), "{} has no summary", spec.name);
            assert_eq!(spec.name, spec.name.to_ascii_lowercase());
        }
    }

    #[test]
    fn every_example_is_answered_as_written() {
        for spec in rows(&Server::new()).map(Entry::spec) {
            let mut line = Server::new().connect();
            for (request, reply) in spec.examples {
                assert_eq!(line.ask(request), reply.replace("\r\n", "|"), "{request}");
            }
        }
    }
}
