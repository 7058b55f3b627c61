//! The measured call in each protocol, and its expected reply.

use bytes::Bytes;
use respire_bench::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::bench_command::REPLY_BYTES_MAX;

/// The path that the HTTP server answers.
pub(super) const PATH: &str = "/bench";

/// One call: its reply repeats the payload `times` times.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Call {
    /// The payload to repeat.
    pub payload: String,
    /// How often to repeat it.
    pub times: u32,
}

/// The body of a JSON reply.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct JsonReply<T> {
    pub(super) reply: T,
}

impl Call {
    /// # Errors
    /// [`Error::Flag`] if the reply would exceed the servers' limit.
    pub fn check(&self) -> Result<()> {
        let length = self.payload.len().checked_mul(self.times as usize);
        match length {
            Some(length) if length <= REPLY_BYTES_MAX => Ok(()),
            _ => {
                let reason = format!("a reply has at most {REPLY_BYTES_MAX} bytes");
                Err(Error::flag("--times", reason))
            }
        }
    }

    /// The expected reply.
    pub fn reply(&self) -> String {
        self.payload.repeat(self.times as usize)
    }

    /// Appends the RESP request.
    pub(super) fn write_resp(&self, out: &mut Vec<u8>) {
        let mut digits = [0; 10];
        let times = decimal(self.times, &mut digits);
        resp_codec::command(out, &[b"BENCH".as_slice(), self.payload.as_bytes(), times]);
    }

    /// Path and query of the GET request.
    pub(super) fn query(&self) -> String {
        let start = format!("{PATH}?");
        let length = start.len();
        form_urlencoded::Serializer::for_suffix(start, length)
            .append_pair("payload", &self.payload)
            .append_pair("times", &self.times.to_string())
            .finish()
    }

    /// Body of the POST request.
    pub(super) fn json(&self) -> Bytes {
        let json = serde_json::to_vec(self).expect("text and a number are JSON");
        json.into()
    }

    /// Body of the reply to the POST request, in the form that a server of this crate writes.
    pub(super) fn json_reply(&self) -> Vec<u8> {
        let reply = self.reply();
        serde_json::to_vec(&JsonReply { reply }).expect("text is JSON")
    }
}

/// A number in decimal, without an allocation.
fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A short call with every kind of character that a protocol must escape.
    pub(crate) fn call() -> Call {
        Call {
            payload: crate::cli::PAYLOAD.to_owned(),
            times: 3,
        }
    }

    #[test]
    fn every_protocol_preserves_the_payload() {
        let call = call();
        assert_eq!(call.payload.len(), 15);
        let mut resp = Vec::new();
        call.write_resp(&mut resp);
        assert_eq!(
            resp,
            b"*3\r\n$5\r\nBENCH\r\n$15\r\n12345&?\"678,\n90\r\n$1\r\n3\r\n"
        );
        assert_eq!(
            call.query(),
            "/bench?payload=12345%26%3F%22678%2C%0A90&times=3"
        );
        assert_eq!(
            &call.json()[..],
            br#"{"payload":"12345&?\"678,\n90","times":3}"#
        );
    }

    #[test]
    fn numbers_are_written_without_leading_zeros() {
        for number in [0, 7, 100, u32::MAX] {
            assert_eq!(decimal(number, &mut [0; 10]), number.to_string().as_bytes());
        }
    }

    #[test]
    fn error_for_a_reply_above_the_limit_names_the_flag() {
        let long = Call {
            times: u32::MAX,
            ..call()
        };
        let text = long.check().unwrap_err().to_string();
        assert!(text.starts_with("--times: "), "{text}");
        call().check().unwrap();
    }
}
