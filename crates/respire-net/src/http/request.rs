//! What was asked for.

/// The head of a request. A `HEAD` looks like a `GET` here: only its answer differs.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The method, as it was sent.
    pub method: &'r str,
    /// The path, up to the question mark if there is one.
    pub path: &'r str,
    /// The names and values of the headers, in their order.
    pub headers: &'r [(&'r str, &'r [u8])],
}

impl<'r> Request<'r> {
    /// The values of a header, whose name may be in any case.
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
