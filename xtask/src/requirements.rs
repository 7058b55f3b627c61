//! The programs that the tests need besides Rust, and their installation.

use crate::machine::{command, run, succeeds};
use std::path::Path;

/// A program, how to detect it, and the Debian packages that contain it.
struct Need {
    what: &'static str,
    probe: (&'static str, &'static [&'static str]),
    packages: &'static [&'static str],
    why: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        what: "a C compiler",
        probe: ("cc", &["--version"]),
        packages: &["gcc", "libc6-dev"],
        why: "the linker, and the binary's allocator",
    },
    Need {
        what: "redis-server 7",
        probe: ("redis-server", &["--version"]),
        packages: &["redis-server"],
        why: "the reference every reply is compared with",
    },
    Need {
        what: "redis-cli and redis-benchmark",
        probe: ("redis-cli", &["--version"]),
        packages: &["redis-tools"],
        why: "real clients",
    },
    Need {
        what: "Python 3 with venv",
        probe: ("python3", &["-c", "import venv, ensurepip"]),
        packages: &["python3", "python3-venv"],
        why: "redis-py",
    },
    Need {
        what: "Node.js with npm",
        probe: ("npm", &["--version"]),
        packages: &["nodejs", "npm"],
        why: "node-redis and ioredis, and the explorer's page",
    },
    Need {
        what: "xz",
        probe: ("xz", &["--version"]),
        packages: &["xz-utils"],
        why: "packs the explorer's page as a single file",
    },
    Need {
        what: "Go",
        probe: ("go", &["version"]),
        packages: &["golang-go", "ca-certificates"],
        why: "go-redis",
    },
    Need {
        what: "Valgrind",
        probe: ("valgrind", &["--version"]),
        packages: &["valgrind"],
        why: "the instructions of a request are counted",
    },
    Need {
        what: "Chromium",
        probe: ("chromium", &["--version"]),
        packages: &["chromium"],
        why: "the explorer's page is tested in a real browser",
    },
];

/// Ensures that all programs are there: installs the missing ones if possible, otherwise lists
/// exactly what is missing.
pub(crate) fn ensure() -> Result<(), String> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    if can_install() {
        install(&missing)?;
    }
    let missing = self::missing();
    if missing.is_empty() {
        return Ok(());
    }
    let mut text = String::from("The tests need what this machine does not have:\n");
    for need in &missing {
        text.push_str(&format!("  {} ({})\n", need.what, need.why));
    }
    let packages: Vec<&str> = missing
        .iter()
        .flat_map(|need| need.packages)
        .copied()
        .collect();
    text.push_str(&format!(
        "On Debian: apt-get install {}",
        packages.join(" ")
    ));
    Err(text)
}

fn missing() -> Vec<&'static Need> {
    NEEDS
        .iter()
        .filter(|need| !succeeds(need.probe.0, need.probe.1))
        .collect()
}

fn can_install() -> bool {
    Path::new("/etc/debian_version").exists()
        && succeeds("apt-get", &["--version"])
        && succeeds("sh", &["-c", "test \"$(id -u)\" = 0"])
}

fn install(needs: &[&Need]) -> Result<(), String> {
    let packages = needs.iter().flat_map(|need| need.packages);
    run(command("apt-get").args(["update", "-q"]))?;
    let mut install = command("apt-get");
    install
        .args(["install", "-y", "-q", "--no-install-recommends"])
        .args(packages);
    // They are installed for the tests, not as services.
    run(install
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("RUNLEVEL", "1"))
}
