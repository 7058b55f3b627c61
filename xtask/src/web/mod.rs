//! The protocol explorer's page: its WebAssembly, its files, and a server to look at it.

mod build;
mod serve;
mod wasm;

/// Builds the page; `--check` looks whether what is generated and committed is up to date and
/// builds nothing, `--wasm` stops before the page, `--serve [ADDR]` shows it afterwards, `--test`
/// tries it in a browser, `--test --built` the one that was built before, `--measure` tells how long
/// things take there.
pub(crate) fn web(options: &[&str]) -> Result<(), String> {
    match options {
        [] => build::page(),
        ["--check"] => build::check_generated(),
        ["--wasm"] => wasm::build(),
        ["--test"] => build::page().and_then(|()| build::npm_run("test")),
        ["--test", "--built"] => build::npm_run("test"),
        ["--measure"] => build::page().and_then(|()| build::npm_run("measure")),
        ["--serve"] => build::page().and_then(|()| serve::serve("127.0.0.1:8080")),
        ["--serve", address] => build::page().and_then(|()| serve::serve(address)),
        _ => Err(
            "Usage: cargo xtask web [--check | --wasm | --test [--built] | --measure | --serve [ADDR]]"
                .to_owned(),
        ),
    }
}
