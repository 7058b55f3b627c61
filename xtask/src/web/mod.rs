//! The chores for the protocol explorer's page: build its WebAssembly and files, and serve it.

mod build;
mod serve;
mod wasm;

/// Builds the page. `--check` only checks that the committed generated files are current, `--wasm`
/// stops before the page, `--serve [ADDR]` serves it afterwards, `--test` tests it in a browser,
/// `--test --built` tests the page of the last build, `--measure` measures times in a browser.
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
