//! `<CONTAINER> HELP`: the help text of every container, in one format.

use crate::{App, ArgList, Command, Cx, Error, Reply, Row, Run, Spec, text};

/// Writes the help of a container: its heading, its lines, and the line on `HELP`.
pub(super) fn help(container: &Spec, lines: &[&str], reply: &mut Reply<'_>) {
    let name = container.name.to_ascii_uppercase();
    reply.array(lines.len() + 3);
    reply.simple(format!(
        "{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    ));
    for line in lines {
        reply.simple(line);
    }
    reply.simple("HELP");
    reply.simple("    Prints this help.");
}

/// The function of a container itself. Its arity requires a subcommand, so it never runs.
pub(super) fn needs_subcommand<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    _: &mut Reply<'_>,
) -> Result<(), Error> {
    Err(text::SYNTAX)
}

/// The reply to a request with too many arguments for its subcommand.
pub(super) fn wrong_subcommand(request: ArgList<'_>) -> Error {
    let container = String::from_utf8_lossy(&request[0]).to_ascii_uppercase();
    let subcommand = request.get(1).unwrap_or_default();
    let after = format!("'. Try {container} HELP.");
    Error::quoting(
        "ERR unknown subcommand or wrong number of arguments for '",
        text::shortened(subcommand),
        &after,
    )
}

/// Converts rows into the form that a container takes its subcommands in.
pub(super) fn boxed<A: App, const N: usize>(
    rows: [(&'static Spec, Run<A>); N],
) -> Vec<Box<dyn Command<A>>> {
    rows.into_iter()
        .map(|(spec, run)| Box::new(Row { spec, run }) as Box<dyn Command<A>>)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};

    #[test]
    fn help_of_every_container_names_its_subcommands() {
        let server = Server::new();
        let mut line = server.connect();
        for container in server
            .engine
            .commands()
            .commands()
            .filter(|entry| entry.is_container())
        {
            let name = container.spec().name.to_ascii_uppercase();
            let help = line.ask(&format!("{name} HELP"));
            assert!(help.contains(&format!("+{name} <subcommand> ")), "{help}");
            for subcommand in server.engine.commands().subcommands(container) {
                let (_, word) = subcommand.spec().subcommand().expect("a subcommand");
                let word = word.to_ascii_uppercase();
                assert!(
                    help.contains(&format!("|+{word}")),
                    "{name} HELP leaves out {word}"
                );
            }
        }
    }

    #[test]
    fn container_requires_a_known_subcommand() {
        check(&[
            (
                "CONFIG",
                "-ERR wrong number of arguments for 'config' command|",
            ),
            (
                "CONFIG nope",
                "-ERR unknown subcommand 'nope'. Try CONFIG HELP.|",
            ),
        ]);
    }
}
