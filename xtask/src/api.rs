//! Compares the public API of `resp-codec` with its listing, so that every change is noticed and
//! intended.

use crate::cargo::{cargo_of, target_dir};
use crate::machine::{root, run_quietly};
use crate::toolchain;
use std::collections::BTreeSet;
use std::fs;

const LISTING: &str = "crates/resp-codec/public-api.txt";

/// Marker traits that the compiler derives and that users do not rely on here; `Send` and `Sync`
/// stay.
const NOISE: [&str; 5] = [
    "marker::Freeze for ",
    "marker::StructuralPartialEq for ",
    "marker::Unpin for ",
    "marker::UnsafeUnpin for ",
    "UnwindSafe for ",
];

/// Compares the public API with its listing, or writes the listing (`--accept`).
pub(crate) fn api(options: &[&str]) -> Result<(), String> {
    let path = root().join(LISTING);
    let now = listing()?;
    match options {
        [] => {
            let then = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            compare(&then, &now)
        }
        ["--accept"] => {
            fs::write(&path, now).map_err(|error| format!("{}: {error}", path.display()))
        }
        _ => Err(format!("api takes --accept or nothing, not {options:?}")),
    }
}

/// Every public item with all features, one line each.
fn listing() -> Result<String, String> {
    let target = target_dir()?.join("public-api");
    let mut rustdoc = cargo_of(toolchain::RUSTDOC);
    rustdoc
        .args([
            "rustdoc",
            "-q",
            "-p",
            "resp-codec",
            "--lib",
            "--all-features",
        ])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        // The format is unstable in general, but fixed for one Rust version.
        .env("RUSTC_BOOTSTRAP", "1");
    run_quietly(&mut rustdoc)?;
    let api = public_api::Builder::from_rustdoc_json(target.join("doc/resp_codec.json"))
        .omit_blanket_impls(true)
        .build()
        .map_err(|error| format!("the public API of resp-codec: {error}"))?;
    let is_noise = |line: &&str| NOISE.iter().any(|noise| line.contains(noise));
    let api = api.to_string();
    let lines: Vec<&str> = api.lines().filter(|line| !is_noise(line)).collect();
    Ok(lines.join("\n") + "\n")
}

fn compare(then: &str, now: &str) -> Result<(), String> {
    let (then, now): (BTreeSet<&str>, BTreeSet<&str>) =
        (then.lines().collect(), now.lines().collect());
    let gone = then.difference(&now).map(|line| format!("- {line}"));
    let new = now.difference(&then).map(|line| format!("+ {line}"));
    let changes: Vec<String> = gone.chain(new).collect();
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public API of resp-codec has changed:\n{}\n\
         What is gone or changed (-) breaks users, and asks for a new minor version. If this is \
         meant: cargo xtask api --accept, and a line in CHANGELOG.md.",
        changes.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_reported_with_what_to_do() {
        assert_eq!(compare("a\nb\n", "b\na\n"), Ok(()));
        let told = compare("a\nb\n", "b\nc\n").unwrap_err();
        assert!(told.contains("\n- a\n+ c\n"), "{told}");
        assert!(told.contains("cargo xtask api --accept"), "{told}");
    }
}
