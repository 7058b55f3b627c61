//! The benchmark table: release builds, measured beside Redis, written into the documents.

use crate::cargo::{cargo, target_dir};
use crate::machine::{command, run, succeeds};

/// Builds what is measured and runs the table; `options` go to `respire-bench table`.
pub(crate) fn table(options: &[&str]) -> Result<(), String> {
    if !succeeds("redis-server", &["--version"]) {
        return Err(
            "the table compares with redis-server, which is not installed (Debian: apt-get install redis-server)"
                .to_owned(),
        );
    }
    run(cargo().args(["build", "--release", "-p", "respire", "-p", "respire-bench"]))?;
    let release = target_dir()?.join("release");
    let mut bench = command(release.join("respire-bench"));
    bench
        .arg("table")
        .arg("--respire")
        .arg(release.join("respire-server"))
        .args(["--summary", "README.md"])
        .args(options);
    run(&mut bench)
}
