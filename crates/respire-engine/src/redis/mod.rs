//! The commands that every Redis client library expects, one file per family.
//!
//! They are rows of the table like any other command, but only they may access the engine's
//! internals.

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

pub(crate) use exec::replay_queue;
pub(crate) use settings::settings;

use crate::{App, ArgList, Command, CommandTable, Cx, Flow, Reply, Spec};

/// The version of Redis whose behaviour the engine follows. Clients read it.
const VERSION: &str = "7.0.15";

/// Adds all of these commands to a table.
pub(crate) fn add_to<A: App>(table: &mut CommandTable<A>) {
    let rows = Rows(table);
    let rows = acl::add_to(rows);
    let rows = auth::add_to(rows);
    let rows = client::add_to(rows);
    let rows = command::add_to(rows);
    let rows = config::add_to(rows);
    let rows = connection::add_to(rows);
    let rows = pubsub::add_to(rows);
    let rows = exec::add_to(rows);
    let rows = info::add_to(rows);
    let rows = latency::add_to(rows);
    let rows = server::add_to(rows);
    let rows = slowlog::add_to(rows);
    transactions::add_to(rows);
}

/// The table to which the families add their rows.
struct Rows<'t, A: App>(&'t mut CommandTable<A>);

impl<A: App> Rows<'_, A> {
    fn add(self, command: impl Command<A>) -> Self {
        self.0.add(Box::new(command));
        self
    }

    fn container(
        self,
        container: impl Command<A>,
        subcommands: impl IntoIterator<Item = Box<dyn Command<A>>>,
    ) -> Self {
        let subcommands = subcommands.into_iter().collect();
        self.0.add_container(Box::new(container), subcommands);
        self
    }
}

/// A command that returns a [`Flow`], and so writes its errors itself.
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

#[cfg(test)]
mod tests {
    use super::testing::Server;
    use crate::CommandEntry;

    /// The rows that come with every router.
    fn rows(server: &Server) -> impl Iterator<Item = &CommandEntry<super::testing::Cells>> {
        const OF_THE_TESTS: [&str; 5] = ["get", "set", "copy", "nap", "count"];
        let all = server.engine.commands().all();
        all.filter(|entry| !OF_THE_TESTS.contains(&entry.spec().name))
    }

    #[test]
    fn every_row_has_a_description() {
        for spec in rows(&Server::new()).map(CommandEntry::spec) {
            assert!(!spec.summary.is_empty(), "{} has no summary", spec.name);
            assert_eq!(spec.name, spec.name.to_ascii_lowercase());
        }
    }

    #[test]
    fn every_example_gets_its_documented_reply() {
        for spec in rows(&Server::new()).map(CommandEntry::spec) {
            let mut line = Server::new().connect();
            for (request, reply) in spec.examples {
                assert_eq!(line.ask(request), reply.replace("\r\n", "|"), "{request}");
            }
        }
    }
}
