//! The floor: a server that moves the bytes of a load, and does nothing else.

use respire_bench::error::{Error, Result};

/// The command that starts it, `{port}` for the port. The flags of a load complete it.
///
/// # Errors
/// [`Error::Io`] if the system does not tell which program this is.
pub fn command() -> Result<Vec<String>> {
    let own = std::env::current_exe().map_err(Error::io("own program"))?;
    let own = own.to_string_lossy();
    let words = [&*own, "null-server", "--port", "{port}"];
    Ok(words.map(str::to_owned).to_vec())
}
