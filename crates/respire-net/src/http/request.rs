//! The head of an HTTP request, as routes see it.

/// The head of a request. A route sees `HEAD` as `GET`: only the response differs.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The method.
    pub method: &'r str,
    /// The path, up to the question mark if there is one.
    pub path: &'r str,
    /// The names and values of the headers, in order.
    pub headers: &'r [(&'r str, &'r [u8])],
}

impl<'r> Request<'r> {
    /// The values of a header; `name` may be in any case.
    ///
    /// ```
    /// let request = respire_net::http::Request {
    ///     method: "GET",
    ///     path: "/",
    ///     headers: &[("Accept", b"text/plain"), ("Host", b"localhost"), ("ACCEPT", b"*/*")],
    /// };
    /// let values: Vec<&[u8]> = request.values("accept").collect();
    /// assert_eq!(values, [&b"text/plain"[..], b"*/*"]);
    /// ```
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let headers = self.headers.iter();
        headers
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|&(_, value)| value)
    }
}
