//! Packs the page of the protocol explorer for the binary, if the page has been built.

use std::io;
use std::path::Path;

/// The page and its sources, from this crate's folder.
const PAGE: &str = "../../web/dist/respire-explorer.html";
const SOURCES: &str = "../../web";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    // A missing file would count as changed in every build.
    let watched = [PAGE, SOURCES]
        .into_iter()
        .find(|path| Path::new(path).exists());
    if let Some(watched) = watched {
        println!("cargo::rerun-if-changed={watched}");
    }
    #[cfg(feature = "explorer")]
    embed()?;
    Ok(())
}

/// Writes an expression: the packed page, or `None`.
#[cfg(feature = "explorer")]
fn embed() -> io::Result<()> {
    use std::fs;
    use std::io::Write;

    let out = std::env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let out = Path::new(&out);
    let code = match fs::read(PAGE) {
        Ok(page) => {
            let packed = out.join("explorer.html.gz");
            let file = fs::File::create(&packed)?;
            let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::best());
            packer.write_all(&page)?;
            packer.finish()?;
            format!("Some(include_bytes!({packed:?}))")
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => "None".to_owned(),
        Err(error) => return Err(error),
    };
    fs::write(out.join("explorer.rs"), code)
}
