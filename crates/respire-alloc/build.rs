//! Compiles mimalloc from the sources of `libmimalloc-sys`, with the settings in `src/mimalloc.c`.

use std::env;
use std::path::PathBuf;

const SETTINGS: &str = "src/mimalloc.c";

fn main() {
    println!("cargo:rerun-if-changed={SETTINGS}");
    let root = sources();
    let mut build = cc::Build::new();
    build
        .file(SETTINGS)
        .include(root.join("include"))
        .include(root.join("src"))
        // As libmimalloc-sys compiles it: no assertions in any profile.
        .define("MI_DEBUG", "0")
        .define("MI_BUILD_RELEASE", None)
        .define("NDEBUG", None)
        .flag_if_supported("-ftls-model=initial-exec")
        // Calls within the one object are direct, and may be inlined.
        .flag_if_supported("-fvisibility=hidden")
        .warnings(false);
    build.compile("respire_mimalloc");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "arm") {
        println!("cargo:rustc-link-lib=atomic");
    }
}

/// The folder of mimalloc 3. `libmimalloc-sys` reports its header folder, which is version 2's if
/// another crate asks for that version.
fn sources() -> PathBuf {
    let include = env::var_os("DEP_MIMALLOC_INCLUDE_DIR");
    let include = PathBuf::from(include.expect("libmimalloc-sys tells where its headers are"));
    println!("cargo:rerun-if-env-changed=DEP_MIMALLOC_INCLUDE_DIR");
    let root = include.parent().expect("the headers lie in a folder");
    let root = root.with_file_name("v3");
    assert!(
        root.join("src/static.c").is_file(),
        "libmimalloc-sys has no sources of mimalloc 3 in {}",
        root.display()
    );
    root
}
