//! Who may ask: pages of other places must not read what is shown here through a visitor's browser.

use std::net::Ipv4Addr;

/// Whether the request names this machine: a name of another that was made to lead here (DNS
/// rebinding) is refused.
pub(super) fn is_asked_locally(request: &httparse::Request<'_, '_>) -> bool {
    let mut hosts = values(request, "host");
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => std::str::from_utf8(host).is_ok_and(is_local),
        _ => false,
    }
}

/// Whether the request comes from the page itself, or from no page.
pub(super) fn is_same_origin(request: &httparse::Request<'_, '_>) -> bool {
    values(request, "sec-fetch-site").all(|site| matches!(site, b"same-origin" | b"none"))
}

/// The values of a header.
pub(super) fn values<'r>(
    request: &'r httparse::Request<'_, '_>,
    name: &'r str,
) -> impl Iterator<Item = &'r [u8]> {
    let headers = request.headers.iter();
    headers
        .filter(move |header| header.name.eq_ignore_ascii_case(name))
        .map(|header| header.value)
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

    fn asks(headers: &str, is: impl Fn(&httparse::Request<'_, '_>) -> bool) -> bool {
        let mut slots = [httparse::EMPTY_HEADER; 8];
        let mut request = httparse::Request::new(&mut slots);
        let head = format!("GET /tap HTTP/1.1\r\n{headers}\r\n");
        let parsed = request.parse(head.as_bytes()).expect("a request");
        assert!(parsed.is_complete());
        is(&request)
    }

    #[test]
    fn only_names_of_this_machine_are_asked_by() {
        for host in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:8123",
            "127.9.9.9",
            "[::1]",
            "[::1]:1",
        ] {
            assert!(
                asks(&format!("Host: {host}\r\n"), is_asked_locally),
                "{host}"
            );
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
            assert!(
                !asks(&format!("Host: {host}\r\n"), is_asked_locally),
                "{host}"
            );
        }
        assert!(!asks("", is_asked_locally));
        assert!(!asks(
            "Host: localhost\r\nHost: evil.example\r\n",
            is_asked_locally
        ));
    }

    #[test]
    fn pages_of_other_places_are_told_apart() {
        for (headers, is_let_in) in [
            ("", true),
            ("Sec-Fetch-Site: same-origin\r\n", true),
            ("sec-fetch-site: none\r\n", true),
            ("Sec-Fetch-Site: cross-site\r\n", false),
            ("Sec-Fetch-Site: same-site\r\n", false),
            (
                "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n",
                false,
            ),
        ] {
            assert_eq!(asks(headers, is_same_origin), is_let_in, "{headers}");
        }
    }
}
