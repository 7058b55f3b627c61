//! Checks scripts: `--check-script`. Each mistake is a line `FILE:LINE: error: text` of standard output,
//! which editors and build servers understand.

use crate::failed::fail;
use std::path::PathBuf;

/// Checks the files. Returns the exit code: 0 if nothing was found, 1 if something was, 2 if a file
/// could not be read.
#[cfg(feature = "scripts")]
pub(crate) fn run(files: &[PathBuf]) -> u8 {
    use std::io::Write;

    let server = crate::console::TrialServer::new();
    let (mut has_findings, mut is_unreadable) = (false, false);
    for file in files {
        let shown = file.display();
        let text = match read(file) {
            Ok(text) => text,
            Err(error) => {
                fail(&format!("cannot read {shown}: {error}"), 2);
                is_unreadable = true;
                continue;
            }
        };
        let mut out = std::io::stdout().lock();
        for finding in respire::script::check(server.engine(), &text) {
            // If standard output is closed, only the code tells.
            let _ = writeln!(out, "{shown}:{finding}");
            has_findings = true;
        }
    }
    match (is_unreadable, has_findings) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}

#[cfg(feature = "scripts")]
fn read(file: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;

    if file != std::path::Path::new("-") {
        return std::fs::read(file);
    }
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    Ok(text)
}

/// Says that this build has no scripts.
#[cfg(not(feature = "scripts"))]
pub(crate) fn run(_: &[PathBuf]) -> u8 {
    let why = "--check-script: this build has no scripts (the feature 'scripts' is off)";
    fail(why, 2);
    2
}
