//! `FUNCTION LOAD`: adds a library, or replaces it.

use super::{CHANGE_TIPS, EXAMPLE_END, FUNCTION};
use crate::library::{self, Loading};
use crate::limits::LOAD_LIMIT_MS;
use crate::scripts::Scripts;
use crate::thread;
use respire_engine::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Reply, Spec};
use std::sync::Arc;

pub(super) static SPEC: Spec = Spec {
    name: "function|load",
    summary: "Create a function with the given arguments (name, code, description)",
    complexity: "O(1) (considering compilation time is redundant)",
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::NOSCRIPT),
    args: &[
        Arg::word("replace", "REPLACE").optional(),
        Arg::new("function-code", ArgKind::String),
    ],
    tips: CHANGE_TIPS,
    examples: &[
        (
            "FUNCTION LOAD \"#!lua name=examples\\nredis.register_function('one', function() \
             return 1 end)\"",
            "$8\r\nexamples\r\n",
        ),
        EXAMPLE_END,
    ],
    ..FUNCTION
};

pub(super) fn run<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let last = args.len() - 1;
    let mut replaces = false;
    for option in args.iter().take(last) {
        if !option.eq_ignore_ascii_case(b"replace") {
            let text = [b"ERR Unknown option given: ", option].concat();
            return Err(Error::owned(text));
        }
        replaces = true;
    }
    let thread = thread::of(scripts)?;
    thread.state.limit_memory(scripts.bytes_max());
    let mut loading = Loading::new(cx.engine().host(), LOAD_LIMIT_MS, true);
    let is_known = |name: &str| !replaces && scripts.libraries.table().get(name).is_some();
    let loaded = library::load(&thread.state, &args[last], &mut loading, is_known);
    // While it was loaded it saw no library.
    thread.tidy_up(scripts, true);
    let (library, registered) = loaded?;
    let added = scripts.libraries.add(Arc::clone(&library), replaces);
    added.map_err(|text| Error::new("ERR", text))?;
    // Without memory, it is loaded again when it is called.
    let _ = thread.libraries.keep(&thread.state, &library, registered);
    thread.note_bytes(scripts);
    reply.bulk(&library.name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::client;

    fn error(code: &str) -> String {
        let library = format!("#!lua name=l\n{code}");
        let reply = client().call(["FUNCTION", "LOAD", &*library]);
        reply.error().to_owned()
    }

    const FN: &str = "function() end";

    /// Asserts that `redis.register_function` with these arguments fails with this text.
    fn assert_refused(arguments: &str, text: &str) {
        let expected = format!("ERR Error registering functions: ERR {text}");
        let code = format!("redis.register_function{arguments}");
        assert_eq!(error(&code), expected, "{arguments}");
    }

    #[test]
    fn wrong_positional_arguments_are_refused() {
        for (arguments, text) in [
            (
                "()".to_owned(),
                "wrong number of arguments to redis.register_function",
            ),
            (
                "(1, 2, 3)".to_owned(),
                "wrong number of arguments to redis.register_function",
            ),
            (
                "('f')".to_owned(),
                "calling redis.register_function with a single argument is only applicable to Lua \
                 table (representing named arguments).",
            ),
            (
                "('f', 'g')".to_owned(),
                "second argument to redis.register_function must be a function",
            ),
            (
                format!("({FN}, 'f')"),
                "first argument to redis.register_function must be a string",
            ),
            (
                format!("('f-g', {FN})"),
                "Library names can only contain letters, numbers, or underscores(_) and must be at \
                 least one character long",
            ),
            (
                format!("('f', {FN}) redis.register_function('F', {FN})"),
                "Function already exists in the library",
            ),
        ] {
            assert_refused(&arguments, text);
        }
    }

    #[test]
    fn wrong_named_arguments_are_refused() {
        for (arguments, text) in [
            (
                "{}".to_owned(),
                "redis.register_function must get a function name argument",
            ),
            (
                "{function_name='f'}".to_owned(),
                "redis.register_function must get a callback argument",
            ),
            (
                "{function_name='f', callback=1}".to_owned(),
                "callback argument given to redis.register_function must be a function",
            ),
            (
                format!("{{function_name={{}}, callback={FN}}}"),
                "function_name argument given to redis.register_function must be a string",
            ),
            (
                format!("{{function_name='f', callback={FN}, x=1}}"),
                "unknown argument given to redis.register_function",
            ),
            (
                format!("{{function_name='f', callback={FN}, [{{}}]=1}}"),
                "named argument key given to redis.register_function is not a string",
            ),
            (
                format!("{{function_name='f', callback={FN}, flags=1}}"),
                "flags argument to redis.register_function must be a table representing function \
                 flags",
            ),
            (
                format!("{{function_name='f', callback={FN}, flags={{'x'}}}}"),
                "unknown flag given",
            ),
            (
                format!("{{function_name='f', callback={FN}, description={{}}}}"),
                "description argument given to redis.register_function must be a string",
            ),
        ] {
            assert_refused(&arguments, text);
        }
    }

    #[test]
    fn library_sees_nothing_but_its_own_part_of_redis_while_it_is_loaded() {
        for name in ["print", "KEYS", "math", "error", "_G", "pcall", "tostring"] {
            assert_eq!(
                error(&format!("return {name}")),
                format!(
                    "ERR Error registering functions: ERR user_function:2: Script attempted to \
                     access nonexistent global variable '{name}'"
                )
            );
        }
        for name in [
            "call",
            "pcall",
            "setresp",
            "sha1hex",
            "REPL_ALL",
            "breakpoint",
        ] {
            assert_eq!(
                error(&format!("return redis.{name}")),
                format!(
                    "ERR Error registering functions: ERR user_function:2: Script attempted to \
                     access nonexistent global variable '{name}'"
                )
            );
        }
        for code in ["x = 1", "redis.x = 1"] {
            let text = "ERR Error registering functions: ERR user_function:2: Attempt to modify a \
                        readonly table";
            assert_eq!(error(code), text);
        }
        let seen = "redis.log(redis.LOG_NOTICE, redis.REDIS_VERSION .. redis.REDIS_VERSION_NUM)";
        assert_eq!(error(seen), "ERR No functions registered");
        let compiled = "ERR Error compiling function: user_function:2: '=' expected near 'error'";
        assert_eq!(error("syntax error"), compiled);
    }

    #[test]
    fn failed_load_leaves_the_library_that_was_there() {
        let mut client = client();
        let library = |code: &str| format!("#!lua name=l\n{code}");
        let one = "redis.register_function('f', function() return 1 end)";
        assert_eq!(client.call(["FUNCTION", "LOAD", &*library(one)]), "l");
        let other = "#!lua name=m\nredis.register_function('g', function() return 1 end)";
        assert_eq!(client.call(["FUNCTION", "LOAD", other]), "m");
        for (code, text) in [
            (
                "x",
                "ERR Error compiling function: user_function:2: '=' expected near '<eof>'",
            ),
            ("", "ERR No functions registered"),
            (
                "redis.register_function('G', function() return 1 end)",
                "ERR Function G already exists",
            ),
        ] {
            let reply = client.call(["FUNCTION", "LOAD", "REPLACE", &*library(code)]);
            assert_eq!(reply.error(), text);
            assert_eq!(client.call("FCALL f 0"), 1);
            assert_eq!(client.call("FCALL g 0"), 1);
        }
        let known = client.call(["FUNCTION", "LOAD", &*library("x")]);
        assert_eq!(known.error(), "ERR Library 'l' already exists");
        let option = client.call("FUNCTION LOAD x y");
        assert_eq!(option.error(), "ERR Unknown option given: x");
        let two = "redis.register_function('f', function() return 2 end)";
        let replaced = client.call(["FUNCTION", "LOAD", "replace", &*library(two)]);
        assert_eq!(replaced, "l");
        assert_eq!(client.call("FCALL f 0"), 2);
    }
}
