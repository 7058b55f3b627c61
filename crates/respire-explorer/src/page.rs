//! Prepares the explorer's page for serving: packed, and with its policy.

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use respire_engine::Bytes;
use respire_net::http::{Answer, Request};
use std::io::{self, ErrorKind, Read};

/// The text before the page's policy.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
const HEAD: &str = "<head>";

/// The part of the policy that forbids the page to connect, and the one that lets it read the tap.
const CONNECTS_NOWHERE: &str = "connect-src 'none'";
const CONNECTS_TO_SELF: &str = "connect-src 'self'";

/// This element tells the page that there is a tap.
const TAP: &str = "<meta name=\"respire-tap\" content=\"/tap\" />";

/// The built page is far smaller.
const BYTES_MAX: u64 = 32 << 20;

/// The explorer's page: `web/dist/respire-explorer.html`. Clones share it.
#[derive(Clone, Debug)]
pub struct Page {
    html: Bytes,
    packed: Bytes,
    policy: String,
}

impl Page {
    /// The page with this HTML. O(n).
    ///
    /// # Errors
    /// When it has no policy (`Content-Security-Policy`) of its own that could be sent as a header.
    pub fn new(html: String) -> io::Result<Self> {
        let policy = policy(&html)?.to_owned();
        let mut packed = Vec::new();
        GzEncoder::new(html.as_bytes(), Compression::default()).read_to_end(&mut packed)?;
        Ok(Self {
            html: html.into(),
            packed: packed.into(),
            policy,
        })
    }

    /// The page from its `gzip` form. O(n).
    ///
    /// # Errors
    /// When the bytes are not valid gzip, and as for [`Page::new`].
    pub fn from_gzip(packed: &'static [u8]) -> io::Result<Self> {
        let mut html = String::new();
        GzDecoder::new(packed)
            .take(BYTES_MAX)
            .read_to_string(&mut html)?;
        let policy = policy(&html)?.to_owned();
        Ok(Self {
            html: html.into(),
            packed: Bytes::from_static(packed),
            policy,
        })
    }

    /// The page that reads the tap of its own origin.
    pub(crate) fn with_tap(&self) -> io::Result<Self> {
        let connects = self.policy.matches(CONNECTS_NOWHERE).count();
        let text = std::str::from_utf8(&self.html).map_err(io::Error::other)?;
        if connects != 1 || !text.contains(HEAD) {
            return Err(wrong("the page's policy or its head is not as expected"));
        }
        let policy = self.policy.replace(CONNECTS_NOWHERE, CONNECTS_TO_SELF);
        let text = text.replacen(&self.policy, &policy, 1);
        Self::new(text.replacen(HEAD, &format!("{HEAD}{TAP}"), 1))
    }

    /// The page as a response, in `gzip` form if the client accepts it.
    pub(crate) fn answer(&self, request: &Request<'_>, headers: &str) -> Answer {
        let policy = &self.policy;
        let (encoding, body) = if accepts_gzip(request) {
            ("Content-Encoding: gzip\r\n", &self.packed)
        } else {
            ("", &self.html)
        };
        Answer::Document {
            headers: format!(
                "Content-Type: text/html; charset=utf-8\r\n{encoding}Vary: Accept-Encoding\r\n\
                 Content-Security-Policy: {policy}; frame-ancestors 'none'\r\n{headers}"
            ),
            body: body.clone(),
        }
    }
}

fn policy(html: &str) -> io::Result<&str> {
    let (_, rest) = html
        .split_once(POLICY)
        .ok_or_else(|| wrong("the page has no policy of its own"))?;
    let policy = rest.split('"').next().unwrap_or_default();
    if policy.is_empty() || policy.contains(|byte: char| byte.is_control()) {
        return Err(wrong("the page's policy cannot be sent as a header"));
    }
    Ok(policy)
}

fn wrong(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Whether the client accepts gzip.
fn accepts_gzip(request: &Request<'_>) -> bool {
    request
        .values("accept-encoding")
        .filter_map(|value| std::str::from_utf8(value).ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let is_gzip = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            let weight = parts.find_map(|part| part.strip_prefix("q="));
            is_gzip
                && weight.is_none_or(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<!doctype html><html><head><meta charset=\"utf-8\" />\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'none'; \
        worker-src blob:\" /></head><body>connect-src 'none'</body></html>";

    fn asked(accepts: &[&str], page: &Page) -> (String, Bytes) {
        let headers: Vec<_> = accepts
            .iter()
            .map(|accepts| ("Accept-Encoding", accepts.as_bytes()))
            .collect();
        let request = Request {
            method: "GET",
            path: "/",
            headers: &headers,
        };
        match page.answer(&request, "X: y\r\n") {
            Answer::Document { headers, body } => (headers, body),
            _ => panic!("a document"),
        }
    }

    #[test]
    fn page_is_sent_as_gzip_to_clients_that_accept_it() {
        let page = Page::new(HTML.to_owned()).unwrap();
        for (accepts, is_packed) in [
            (&[][..], false),
            (&["gzip"], true),
            (&["deflate, GZIP;q=0.5, br"], true),
            (&["br", "gzip"], true),
            (&["gzip;q=0"], false),
            (&["identity, br"], false),
        ] {
            let (headers, body) = asked(accepts, &page);
            assert_eq!(
                headers.contains("Content-Encoding: gzip\r\n"),
                is_packed,
                "{accepts:?}"
            );
            assert!(headers.ends_with("X: y\r\n"));
            assert!(headers.contains(
                "\r\nContent-Security-Policy: default-src 'none'; connect-src 'none'; worker-src blob:; \
                 frame-ancestors 'none'\r\n"
            ));
            let mut text = String::new();
            if is_packed {
                GzDecoder::new(&body[..]).read_to_string(&mut text).unwrap();
            } else {
                text.push_str(std::str::from_utf8(&body).unwrap());
            }
            assert_eq!(text, HTML);
        }
    }

    #[test]
    fn page_with_a_tap_may_connect_to_its_origin() {
        let page = Page::new(HTML.to_owned()).unwrap().with_tap().unwrap();
        let (headers, body) = asked(&[], &page);
        let text = std::str::from_utf8(&body).unwrap();
        assert!(text.contains("<head><meta name=\"respire-tap\" content=\"/tap\" />"));
        assert!(text.contains("default-src 'none'; connect-src 'self'; worker-src blob:\""));
        assert!(
            text.ends_with("<body>connect-src 'none'</body></html>"),
            "only the policy"
        );
        assert!(headers.contains("connect-src 'self'"));
    }

    #[test]
    fn page_without_a_policy_is_refused() {
        assert!(Page::new("<html><head></head></html>".to_owned()).is_err());
        assert!(Page::new(HTML.replace("default-src", "a\u{7}")).is_err());
        assert!(Page::from_gzip(b"no gzip").is_err());
        for other in [
            HTML.replacen("connect-src 'none'", "connect-src blob:", 1),
            HTML.replacen(
                "connect-src 'none'",
                "connect-src 'none'; connect-src 'none'",
                1,
            ),
            HTML.replace("<head>", ""),
        ] {
            assert!(Page::new(other).unwrap().with_tap().is_err());
        }
    }

    /// The page's sources, so that this test runs where the page is not built.
    #[test]
    fn page_source_has_the_one_policy_that_a_tap_changes() {
        let config = include_str!("../../../web/vite.config.ts");
        let (_, single) = config
            .split_once("single: [")
            .expect("a policy of the single page");
        let (single, _) = single.split_once(']').expect("its end");
        assert_eq!(single.matches(CONNECTS_NOWHERE).count(), 1);
        let index = include_str!("../../../web/index.html");
        assert_eq!(index.matches(HEAD).count(), 1);
        assert!(index.contains(&format!("{POLICY}%CSP%\"")));
    }
}
