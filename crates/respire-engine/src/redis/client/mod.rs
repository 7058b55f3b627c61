//! `CLIENT`: shows and controls connections.

mod kill;
mod list;
mod modes;
mod names;
mod pause;

pub(super) use names::set_name;

use super::Rows;
use super::help::{help, needs_subcommand};
use crate::{App, ArgList, Arity, Command, Cx, Error, Flags, Group, Reply, Row, Spec};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    let mut subcommands: Vec<Box<dyn Command<A>>> = Vec::new();
    subcommands.extend(kill::commands());
    subcommands.extend(list::commands());
    subcommands.extend(modes::commands());
    subcommands.extend(names::commands());
    subcommands.extend(pause::commands());
    subcommands.push(Box::new(Row {
        spec: &CLIENT_HELP,
        run: client_help,
    }));
    rows.container(
        Row {
            spec: &CLIENT,
            run: needs_subcommand,
        },
        subcommands,
    )
}

static CLIENT: Spec = Spec {
    name: "client",
    summary: "A container for client connection commands",
    since: "2.4.0",
    complexity: "Depends on subcommand.",
    group: Group::Connection,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

static CLIENT_HELP: Spec = Spec {
    name: "client|help",
    summary: "Show helpful text about the different subcommands",
    since: "5.0.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..Spec::EMPTY
};

const HELP: &[&str] = &[
    "GETREDIR",
    "    Return the client ID we are redirecting to when tracking is enabled.",
    "GETNAME",
    "    Return the name of the current connection.",
    "ID",
    "    Return the ID of the current connection.",
    "INFO",
    "    Return information about the current client connection.",
    "KILL <ip:port>",
    "    Kill connection made from <ip:port>.",
    "KILL <option> <value> [<option> <value> [...]]",
    "    Kill connections. Options are:",
    "    * ADDR (<ip:port>|<unixsocket>:0)",
    "      Kill connections made from the specified address",
    "    * LADDR (<ip:port>|<unixsocket>:0)",
    "      Kill connections made to specified local address",
    "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
    "      Kill connections by type.",
    "    * USER <username>",
    "      Kill connections authenticated by <username>.",
    "    * SKIPME (YES|NO)",
    "      Skip killing current connection (default: yes).",
    "LIST [options ...]",
    "    Return information about client connections. Options:",
    "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
    "      Return clients of specified type.",
    "    * ID <client-id> [<client-id> ...]",
    "      Return clients of the specified IDs.",
    "UNPAUSE",
    "    Stop the current client pause, resuming traffic.",
    "PAUSE <timeout> [WRITE|ALL]",
    "    Suspend all, or just write, clients for <timeout> milliseconds.",
    "REPLY (ON|OFF|SKIP)",
    "    Control the replies sent to the current connection.",
    "SETNAME <name>",
    "    Assign the name <name> to the current connection.",
    "SETINFO <option> <value>",
    "    Set client meta attr. Options are:",
    "    * LIB-NAME: the client lib name.",
    "    * LIB-VER: the client lib version.",
    "UNBLOCK <clientid> [TIMEOUT|ERROR]",
    "    Unblock the specified blocked client.",
    "TRACKINGINFO",
    "    Report tracking status for the current connection.",
    "NO-EVICT (ON|OFF)",
    "    Protect current client connection from eviction.",
    "NO-TOUCH (ON|OFF)",
    "    Will not touch LRU/LFU stats when this mode is on.",
];

fn client_help<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    help(&CLIENT, HELP, reply);
    Ok(())
}
