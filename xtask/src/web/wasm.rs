//! Compiles the Rust modules for the page: cargo, wasm-bindgen, wasm-opt.

use crate::cargo::{cargo, target_dir};
use crate::machine::{command, root, run, succeeds};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use walrus::{ExportItem, Module, RefType, Table};
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// The modules, each a feature of the crate: one that the page needs at once, and those for
/// captures and the console.
const MODULES: [&str; 3] = ["document", "capture", "server"];

/// Builds the modules and their JavaScript into `web/src/wasm`.
pub(crate) fn build() -> Result<(), String> {
    ensure_target()?;
    let out = root().join("web/src/wasm");
    for module in MODULES {
        run(cargo().args([
            "build",
            "--quiet",
            "--package",
            "respire-wasm",
            "--lib",
            "--profile",
            "web",
            "--target",
            TARGET,
            "--no-default-features",
            "--features",
            module,
        ]))?;
        let built = target_dir()?.join(TARGET).join("web/respire_wasm.wasm");
        let name = format!("respire_{module}");
        bind(&built, &out, &name).map_err(|error| format!("wasm-bindgen: {error:#}"))?;
        let bound = out.join(format!("{name}_bg.wasm"));
        optimize(&bound)?;
        println!("{}: {}", bound.display(), sizes(&bound)?);
    }
    smoke(&out)
}

/// Runs the modules in Node, which the page's build needs anyway.
fn smoke(modules: &Path) -> Result<(), String> {
    let script = root().join("crates/respire-wasm/tests/smoke.mjs");
    run(command("node")
        .args(["--no-warnings"])
        .arg(script)
        .arg(modules))
}

/// Installs the wasm target with rustup, its only download.
fn ensure_target() -> Result<(), String> {
    let libraries = || {
        let mut rustc = command("rustc");
        let printed = rustc
            .args(["--print", "target-libdir", "--target", TARGET])
            .output();
        let path = printed
            .ok()
            .and_then(|out| String::from_utf8(out.stdout).ok());
        path.is_some_and(|path| Path::new(path.trim()).exists())
    };
    if libraries() {
        return Ok(());
    }
    let added = run(command("rustup").args(["target", "add", TARGET]));
    added.map_err(|error| format!("{error}\nThe page needs Rust's target {TARGET}."))
}

fn bind(module: &Path, out: &Path, name: &str) -> anyhow::Result<()> {
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(out)
}

/// The features that rustc's modules use. Not all features: if more are allowed, Binaryen writes
/// types that browsers refuse.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Options that make a module smaller for the download. Functions with one caller are not inlined:
/// that saves bytes, but compresses worse (5 % more bytes).
const SHRINK: [&str; 2] = ["-Oz", "--one-caller-inline-max-function-size=0"];

/// Makes the module smaller and faster, if Binaryen is installed.
fn optimize(module: &Path) -> Result<(), String> {
    let Some(mut wasm_opt) = wasm_opt() else {
        println!("wasm-opt is not there: the module stays as it is (Debian: binaryen)");
        return Ok(());
    };
    let smaller = module.with_extension("opt");
    run(wasm_opt
        .args(FEATURES)
        .args(SHRINK)
        .arg(module)
        .arg("-o")
        .arg(&smaller))?;
    let mended = repair_exports(&smaller, module);
    mended.map_err(|error| format!("{}: {error:#}", smaller.display()))?;
    fs::remove_file(&smaller).map_err(|error| format!("{}: {error}", smaller.display()))
}

/// Repairs exports: older versions of Binaryen write the export of any table as that of the first
/// one.
fn repair_exports(from: &Path, to: &Path) -> anyhow::Result<()> {
    let mut module = Module::from_file(from)?;
    let is_ours = |table: &&Table| table.element_ty == RefType::EXTERNREF;
    let references = module.tables.iter().find(is_ours).map(Table::id);
    if let Some(references) = references {
        let exports = module.exports.iter_mut();
        for export in exports.filter(|export| export.name == "__wbindgen_externrefs") {
            export.item = ExportItem::Table(references);
        }
    }
    module.emit_wasm_file(to)
}

/// Binaryen of the machine, or the one from npm.
fn wasm_opt() -> Option<std::process::Command> {
    if succeeds("wasm-opt", &["--version"]) {
        return Some(command("wasm-opt"));
    }
    let npm: PathBuf = root().join("web/node_modules/.bin/wasm-opt");
    npm.exists().then(|| command(npm))
}

/// The size of a file, plain and compressed.
pub(super) fn sizes(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut packed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(bytes.as_slice(), flate2::Compression::best());
    encoder
        .read_to_end(&mut packed)
        .map_err(|error| error.to_string())?;
    Ok(format!("{} bytes, {} gzip", bytes.len(), packed.len()))
}
