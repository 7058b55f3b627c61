//! `FUNCTION DELETE`, `FUNCTION FLUSH`: remove libraries.

use super::{CHANGE_TIPS, EXAMPLE, FUNCTION, wrong_syntax};
use crate::scripts::Scripts;
use respire_engine::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Reply, Spec};
use std::sync::Arc;

pub(super) static DELETE: Spec = Spec {
    name: "function|delete",
    summary: "Delete a function by name",
    complexity: "O(1)",
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::NOSCRIPT),
    args: &[Arg::new("library-name", ArgKind::String)],
    tips: CHANGE_TIPS,
    examples: &[
        EXAMPLE,
        ("FUNCTION DELETE examples", "+OK\r\n"),
        ("FUNCTION DELETE examples", "-ERR Library not found\r\n"),
    ],
    ..FUNCTION
};

pub(super) static FLUSH: Spec = Spec {
    name: "function|flush",
    summary: "Deleting all functions",
    complexity: "O(N) where N is the number of functions deleted",
    flags: Flags::WRITE.with(Flags::NOSCRIPT),
    args: &[Arg::one_of(
        "async",
        &[Arg::word("async", "ASYNC"), Arg::word("sync", "SYNC")],
    )
    .optional()],
    tips: CHANGE_TIPS,
    examples: &[("FUNCTION FLUSH", "+OK\r\n")],
    ..FUNCTION
};

pub(super) fn delete<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    const NOT_FOUND: Error = Error::fixed("ERR Library not found");
    let name = std::str::from_utf8(&args[0]).map_err(|_| NOT_FOUND)?;
    if !scripts.libraries.delete(name) {
        return Err(NOT_FOUND);
    }
    reply.ok();
    Ok(())
}

pub(super) fn flush<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if args.len() > 1 {
        return Err(wrong_syntax(&cx.request()[1]));
    }
    let is_mode =
        |word: &[u8]| word.eq_ignore_ascii_case(b"async") || word.eq_ignore_ascii_case(b"sync");
    if args.get(0).is_some_and(|word| !is_mode(word)) {
        return Err(Error::fixed(
            "ERR FUNCTION FLUSH only supports SYNC|ASYNC option",
        ));
    }
    scripts.libraries.flush();
    reply.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{client, load};

    #[test]
    fn flush_removes_everything() {
        let mut client = client();
        for request in [
            "FUNCTION FLUSH",
            "FUNCTION FLUSH async",
            "FUNCTION FLUSH SYNC",
        ] {
            load(
                &mut client,
                "redis.register_function('f', function() return 1 end)",
            );
            assert_eq!(client.call("FCALL f 0"), 1);
            assert_eq!(client.call(request).raw(), b"+OK\r\n");
            assert_eq!(client.call("FCALL f 0").error(), "ERR Function not found");
            assert_eq!(client.call("FUNCTION LIST").raw(), b"*0\r\n");
        }
        let wrong = client.call("FUNCTION FLUSH x");
        assert_eq!(
            wrong.error(),
            "ERR FUNCTION FLUSH only supports SYNC|ASYNC option"
        );
        let long = client.call("FUNCTION flush ASYNC x");
        assert_eq!(
            long.error(),
            "ERR unknown subcommand or wrong number of arguments for 'flush'. Try FUNCTION HELP."
        );
    }
}
