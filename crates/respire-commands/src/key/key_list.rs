//! Collects keys for a reply whose length must be known before its first element.

use respire_engine::Reply;

/// Keys, one after another in one buffer.
#[derive(Default)]
pub(super) struct KeyList {
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
}

impl KeyList {
    pub(super) fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// Writes an array of the keys.
    pub(super) fn reply(&self, reply: &mut Reply<'_>) {
        reply.array(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            reply.bulk(&self.bytes[start..end]);
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_engine::{Output, Proto};

    #[test]
    fn keys_are_listed_in_the_order_they_were_added() {
        let mut keys = KeyList::default();
        for key in [&b"a"[..], b"", b"bcd"] {
            keys.push(key);
        }
        let mut out = Output::new();
        keys.reply(&mut Reply::new(&mut out, Proto::Resp2));
        assert_eq!(out.to_vec(), b"*3\r\n$1\r\na\r\n$0\r\n\r\n$3\r\nbcd\r\n");
    }
}
