//! `FUNCTION LIST`: describes the libraries.

use super::{EXAMPLE, EXAMPLE_END, FUNCTION};
use crate::library::{FunctionInfo, Library};
use crate::scripts::Scripts;
use respire_engine::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Reply, Spec, glob_match,
};
use std::sync::Arc;

pub(super) static SPEC: Spec = Spec {
    name: "function|list",
    summary: "List information about all the functions",
    complexity: "O(N) where N is the number of functions",
    arity: Arity::at_least(2),
    flags: Flags::NOSCRIPT,
    args: &[
        Arg::new("library-name-pattern", ArgKind::String)
            .token("LIBRARYNAME")
            .optional(),
        Arg::word("withcode", "WITHCODE").optional(),
    ],
    tips: &["nondeterministic_output_order"],
    examples: &[
        EXAMPLE,
        (
            "FUNCTION LIST LIBRARYNAME examples",
            "*1\r\n*6\r\n$12\r\nlibrary_name\r\n$8\r\nexamples\r\n$6\r\nengine\r\n$3\r\nLUA\r\n\
             $9\r\nfunctions\r\n*1\r\n*6\r\n$4\r\nname\r\n$3\r\none\r\n$11\r\ndescription\r\n\
             $-1\r\n$5\r\nflags\r\n*0\r\n",
        ),
        EXAMPLE_END,
    ],
    ..FUNCTION
};

pub(super) fn run<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (mut pattern, mut with_code) = (None, false);
    let mut options = args.iter();
    while let Some(option) = options.next() {
        if !with_code && option.eq_ignore_ascii_case(b"withcode") {
            with_code = true;
        } else if pattern.is_none() && option.eq_ignore_ascii_case(b"libraryname") {
            pattern = Some(
                options
                    .next()
                    .ok_or(Error::fixed("ERR library name argument was not given"))?,
            );
        } else {
            let option = String::from_utf8_lossy(option);
            return Err(Error::new("ERR", format!("Unknown argument {option}")));
        }
    }
    let table = scripts.libraries.table();
    let matches = |library: &&Arc<Library>| {
        pattern.is_none_or(|pattern| glob_match(pattern, library.name.as_bytes(), true))
    };
    let libraries: Vec<&Arc<Library>> = table.libraries().filter(matches).collect();
    reply.array(libraries.len());
    libraries
        .iter()
        .for_each(|library| describe(library, with_code, reply));
    Ok(())
}

fn describe(library: &Library, with_code: bool, reply: &mut Reply<'_>) {
    reply.map(3 + usize::from(with_code));
    reply.bulk("library_name");
    reply.bulk(&library.name);
    reply.bulk("engine");
    reply.bulk("LUA");
    reply.bulk("functions");
    reply.array(library.functions.len());
    library
        .functions
        .iter()
        .for_each(|function| describe_function(function, reply));
    if with_code {
        reply.bulk("library_code");
        reply.bulk(&library.code);
    }
}

fn describe_function(function: &FunctionInfo, reply: &mut Reply<'_>) {
    reply.map(3);
    reply.bulk("name");
    reply.bulk(&function.name);
    reply.bulk("description");
    match &function.description {
        Some(text) => reply.bulk(text),
        None => reply.null(),
    }
    reply.bulk("flags");
    let flags = function.flags.names();
    reply.set(flags.len());
    flags.iter().for_each(|name| reply.simple(name));
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{client, load};
    use respire_engine::Status;

    #[test]
    fn libraries_are_described_with_flags_and_code() {
        let mut client = client();
        let code = "redis.register_function{function_name='f', description='what it does',
            flags={'NO-writes', 'allow-stale'}, callback=function() end}";
        load(&mut client, code);
        let other = "#!lua name=other\nredis.register_function('o', function() return 1 end)";
        client.call(["FUNCTION", "LOAD", other]);
        let all = client.call("FUNCTION LIST");
        assert_eq!(all.at(0).get("library_name"), "l");
        assert_eq!(all.at(1).get("library_name"), "other");
        let function = all.at(0).get("functions").at(0).clone();
        assert_eq!(function.get("description"), "what it does");
        assert_eq!(function.get("flags").at(0), Status("no-writes"));
        assert_eq!(function.get("flags").at(1), Status("allow-stale"));
        let coded = client.call("FUNCTION LIST WITHCODE LIBRARYNAME O*");
        assert_eq!(coded.at(0).get("library_code"), other);
    }

    #[test]
    fn wrong_options_are_refused() {
        let mut client = client();
        for (request, error) in [
            ("FUNCTION LIST X", "ERR Unknown argument X"),
            (
                "FUNCTION LIST LIBRARYNAME",
                "ERR library name argument was not given",
            ),
            (
                "FUNCTION LIST WITHCODE WITHCODE",
                "ERR Unknown argument WITHCODE",
            ),
        ] {
            assert_eq!(client.call(request).error(), error);
        }
    }
}
