//! The `HELP` of containers.

use respire_engine::Reply;

/// Replies with one status line after another, as every `HELP` does.
pub(crate) fn reply_help(reply: &mut Reply<'_>, lines: &[&str]) {
    reply.array(lines.len());
    for line in lines {
        reply.simple(line);
    }
}
