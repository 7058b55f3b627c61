//! The floor: a null server, which only receives and sends the bytes of a load.

use respire_bench::error::{Error, Result};

/// The command that starts the null server, with `{port}` for the port. The flags of a load follow
/// it.
///
/// # Errors
/// [`Error::Io`] if the system does not report this program's path.
pub fn command() -> Result<Vec<String>> {
    let own = std::env::current_exe().map_err(Error::io("own program"))?;
    let own = own.to_string_lossy();
    let words = [&*own, "null-server", "--port", "{port}"];
    Ok(words.map(str::to_owned).to_vec())
}
