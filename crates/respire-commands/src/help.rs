//! Replies to the `HELP` subcommand of a container.

use respire_engine::Reply;

/// Replies with a list of status lines, as every `HELP` does.
pub(crate) fn reply_help(reply: &mut Reply<'_>, lines: &[&str]) {
    reply.array(lines.len());
    for line in lines {
        reply.simple(line);
    }
}
