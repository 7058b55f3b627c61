//! A development server for `web/dist`, for one user.

use crate::machine::root;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The longest request that is read, in bytes.
const HEAD_BYTES_MAX: usize = 8 << 10;

/// The timeout for reads and writes.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The headers that the page itself cannot set: parts of its security policy, and no guessing of
/// types.
const HEADERS: &str = "Content-Security-Policy: frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\
    X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n";

/// Serves the page at this address until it is interrupted.
pub(crate) fn serve(address: &str) -> Result<(), String> {
    let listener = TcpListener::bind(address);
    let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    println!("http://{bound}/ shows the page; interrupt to end");
    for peer in listener.incoming().map_while(Result::ok) {
        thread::spawn(move || {
            // A browser that closes early needs no response.
            let _ = answer(peer);
        });
    }
    Ok(())
}

fn answer(mut peer: TcpStream) -> std::io::Result<()> {
    peer.set_read_timeout(Some(TIMEOUT))?;
    peer.set_write_timeout(Some(TIMEOUT))?;
    let (mut head, mut length) = (vec![0; HEAD_BYTES_MAX], 0);
    let path = loop {
        let read = peer.read(&mut head[length..])?;
        length += read;
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&head[..length]) {
            Ok(httparse::Status::Complete(_)) => break request.path.unwrap_or("/").to_owned(),
            Ok(httparse::Status::Partial) if read > 0 && length < HEAD_BYTES_MAX => {}
            _ => return respond(&mut peer, "400 Bad Request", "text/plain", b"bad request\n"),
        }
    };
    match find(&path) {
        Some((kind, body)) => respond(&mut peer, "200 OK", kind, &body),
        None => respond(&mut peer, "404 Not Found", "text/plain", b"no such file\n"),
    }
}

fn respond(peer: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(
        peer,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{HEADERS}Connection: close\r\n\r\n"
    )?;
    peer.write_all(body)
}

/// The file for a path, which must not lead out of `web/dist`.
fn find(path: &str) -> Option<(&'static str, Vec<u8>)> {
    let path = path.split(['?', '#']).next()?.trim_start_matches('/');
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let is_within = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let file: PathBuf = root().join("web/dist").join(path);
    let body = if is_within {
        fs::read(&file).ok()?
    } else {
        return None;
    };
    Some((kind(&file), body))
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json" | "map" | "webmanifest") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        for path in [
            "/../package.json",
            "/a/../../package.json",
            "//etc/passwd",
            "/%2e%2e/x",
        ] {
            assert!(find(path).is_none(), "{path}");
        }
        assert_eq!(kind(Path::new("a/b_bg.wasm")), "application/wasm");
    }
}
