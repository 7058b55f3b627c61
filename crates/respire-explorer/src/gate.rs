//! Checks the headers `Host` and `Sec-Fetch-Site`, so that pages of other sites cannot read the
//! traffic through a visitor's browser.

use respire_net::http::Request;
use std::net::Ipv4Addr;

/// Whether the `Host` header names this machine. Any other name is refused: DNS rebinding makes a
/// foreign name lead here.
pub(crate) fn is_asked_locally(request: &Request<'_>) -> bool {
    let mut hosts = request.values("host");
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => std::str::from_utf8(host).is_ok_and(is_local),
        _ => false,
    }
}

/// Whether the request comes from the page itself, or from no page.
pub(crate) fn is_same_origin(request: &Request<'_>) -> bool {
    request
        .values("sec-fetch-site")
        .all(|site| matches!(site, b"same-origin" | b"none"))
}

fn is_local(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, "0"),
    };
    let is_loopback = || name.parse().is_ok_and(|ip: Ipv4Addr| ip.is_loopback());
    let has_port = port.bytes().all(|digit| digit.is_ascii_digit()) && port.len() <= 5;
    has_port && (name.eq_ignore_ascii_case("localhost") || name == "[::1]" || is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(headers: &[(&str, &str)], is: impl Fn(&Request<'_>) -> bool) -> bool {
        let headers: Vec<_> = headers
            .iter()
            .map(|&(name, value)| (name, value.as_bytes()))
            .collect();
        is(&Request {
            method: "GET",
            path: "/tap",
            headers: &headers,
        })
    }

    #[test]
    fn only_names_of_this_machine_are_allowed() {
        for host in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:8123",
            "127.9.9.9",
            "[::1]",
            "[::1]:1",
        ] {
            assert!(asks(&[("Host", host)], is_asked_locally), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8123",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:x",
            "::1",
            "[::2]:1",
            "10.0.0.1",
            "0.0.0.0:8123",
            "1270.0.0.1",
        ] {
            assert!(!asks(&[("Host", host)], is_asked_locally), "{host}");
        }
        assert!(!asks(&[], is_asked_locally));
        let two = [("Host", "localhost"), ("Host", "evil.example")];
        assert!(!asks(&two, is_asked_locally));
    }

    #[test]
    fn requests_of_other_origins_are_refused() {
        for (sites, is_let_in) in [
            (&[][..], true),
            (&["same-origin"], true),
            (&["none"], true),
            (&["cross-site"], false),
            (&["same-site"], false),
            (&["none", "cross-site"], false),
        ] {
            let headers: Vec<_> = sites.iter().map(|&site| ("sec-fetch-SITE", site)).collect();
            assert_eq!(asks(&headers, is_same_origin), is_let_in, "{headers:?}");
        }
    }
}
