//! Templates of requests: to send one, copy the template and fill in the key's digits.

use resp_codec::{Encoder, Proto, binary, command};

use super::{Kind, Protocol, Values, Workload};

/// A request that was sent and not answered.
#[derive(Clone, Copy, Debug)]
pub struct Expect {
    /// Its command.
    pub kind: Kind,
    /// Its key.
    pub key: u64,
    /// When it was sent, or should have been: nanoseconds since the start of the run.
    pub sent_ns: u64,
}

/// The bytes of each command; all requests of one kind have the same size.
#[derive(Clone, Debug)]
pub struct Wire {
    templates: [Template; 3],
    values: Values,
    protocol: Protocol,
}

#[derive(Clone, Debug)]
struct Template {
    bytes: Vec<u8>,
    /// The end of the key's last digit.
    digits_end: usize,
    /// The position of the value, if the command has one.
    value: Option<usize>,
}

impl Wire {
    /// The templates of a workload.
    pub fn new(load: &Workload) -> Self {
        let values = Values::new(load.data_size);
        let mut key = load.key_prefix.clone().into_bytes();
        key.resize(load.key_length, b'0');
        Self {
            templates: Kind::ALL.map(|kind| Template::new(load.protocol, kind, &key, &values)),
            values,
            protocol: load.protocol,
        }
    }

    /// The values of the workload.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The protocol of the requests.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The length of a request of `kind` in bytes.
    pub fn request_len(&self, kind: Kind) -> usize {
        self.templates[kind.index()].bytes.len()
    }

    /// Appends one request.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, kind: Kind, key: u64) {
        let template = &self.templates[kind.index()];
        let start = out.len();
        out.extend_from_slice(&template.bytes);
        let request = &mut out[start..];
        write_digits(&mut request[..template.digits_end], key);
        if let Some(value) = template.value {
            let size = self.values.filler().len();
            self.values
                .write_head(&mut request[value..value + size], key);
        }
    }

    /// Appends the reply that a null server sends: a server that has every key.
    pub fn write_reply(&self, out: &mut Vec<u8>, kind: Kind, stored: bool) {
        let value = self.values.filler();
        if self.protocol == Protocol::Binary {
            let held: &[u8] = if stored { value } else { b"" };
            Encoder::new(out, Proto::BinaryPlain).bulk(held);
            return;
        }
        let mut encoder = Encoder::new(out, Proto::Resp2);
        match kind {
            Kind::Set => encoder.ok(),
            Kind::Get => encoder.bulk(value),
            Kind::Delete => encoder.int(1),
        }
    }
}

impl Template {
    fn new(protocol: Protocol, kind: Kind, key: &[u8], values: &Values) -> Self {
        let mut bytes = Vec::new();
        let value = values.filler();
        match (protocol, kind) {
            (Protocol::Binary, Kind::Set) => binary::write_set(&mut bytes, key, value),
            (Protocol::Binary, Kind::Get) => binary::write_get(&mut bytes, key),
            (Protocol::Binary, Kind::Delete) => binary::write_delete(&mut bytes, key),
            (_, Kind::Set) => command(&mut bytes, &[&b"SET"[..], key, value]),
            (_, Kind::Get) => command(&mut bytes, &[&b"GET"[..], key]),
            (_, Kind::Delete) => command(&mut bytes, &[&b"DEL"[..], key]),
        }
        let crlf = if protocol == Protocol::Binary { 0 } else { 2 };
        let (key_tail, value) = match kind {
            Kind::Set => {
                let mut framing = Vec::new();
                match protocol {
                    Protocol::Binary => Encoder::new(&mut framing, Proto::BinaryPlain).bulk(value),
                    _ => Encoder::new(&mut framing, Proto::Resp2).bulk(value),
                }
                let value_start = bytes.len() - crlf - value.len();
                (bytes.len() - framing.len(), Some(value_start))
            }
            Kind::Get | Kind::Delete => (bytes.len(), None),
        };
        Self {
            digits_end: key_tail - crlf,
            value,
            bytes,
        }
    }
}

/// Writes `key` in decimal to the end of `field`; the zeros before it are there already.
#[inline]
fn write_digits(field: &mut [u8], mut key: u64) {
    for digit in field.iter_mut().rev() {
        if key == 0 {
            return;
        }
        *digit = b'0' + (key % 10) as u8;
        key /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(protocol: Protocol, kind: Kind, key: u64) -> Vec<u8> {
        let load = Workload {
            protocol,
            key_length: 8,
            key_space: 10_000,
            ..Workload::mixed(1, 1)
        };
        let mut out = Vec::new();
        let wire = Wire::new(&load);
        wire.write(&mut out, kind, key);
        assert_eq!(out.len(), wire.request_len(kind));
        out
    }

    #[test]
    fn request_equals_the_codecs_encoding() {
        let mut value = [0; 3];
        Values::new(3).write(&mut value, 120);
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let mut set = Vec::new();
            command(&mut set, &[&b"SET"[..], b"key:0120", &value]);
            assert_eq!(written(protocol, Kind::Set, 120), set);
        }
        let mut set = Vec::new();
        binary::write_set(&mut set, b"key:0120", &value);
        assert_eq!(written(Protocol::Binary, Kind::Set, 120), set);
        assert_eq!(
            written(Protocol::Resp2, Kind::Get, 9_999),
            b"*2\r\n$3\r\nGET\r\n$8\r\nkey:9999\r\n"
        );
        assert_eq!(
            written(Protocol::Resp2, Kind::Delete, 0),
            b"*2\r\n$3\r\nDEL\r\n$8\r\nkey:0000\r\n"
        );
        assert_eq!(
            written(Protocol::Binary, Kind::Get, 7),
            b"\x01\x08\0\0\0key:0007"
        );
    }
}
