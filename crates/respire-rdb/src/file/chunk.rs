//! The AUX field before a chunk.

use super::opcode;

/// The name of the field.
pub(super) const NAME: &[u8] = b"respire-chunk";
/// The length of the text, which is always the same.
const TEXT_BYTES: usize = 70;
/// The bytes of the whole field: the opcode, the name behind its length, and the text behind its two bytes of length.
pub(super) const MARK_BYTES: usize = 1 + 1 + NAME.len() + 2 + TEXT_BYTES;

/// What the AUX field before a chunk says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Bytes of the chunk, which begin behind the field.
    pub len: u64,
    /// The checksum of these bytes; 0 if there is none.
    pub crc: u64,
    /// Number of keys in the chunk.
    pub keys: u64,
    /// The chunk's number in its file, from 0.
    pub seq: u64,
}

impl Chunk {
    /// The field before this chunk.
    pub(super) fn mark(self) -> Vec<u8> {
        let Self {
            len,
            crc,
            keys,
            seq,
        } = self;
        let text = format!("len={len:014};crc={crc:016x};keys={keys:010};seq={seq:010}");
        debug_assert_eq!(text.len(), TEXT_BYTES);
        let head = [opcode::AUX, NAME.len() as u8];
        let len = (text.len() as u16 | 1 << 14).to_be_bytes();
        [&head[..], NAME, &len, text.as_bytes()].concat()
    }

    /// Reads the text of the field; `None` if it is not as [`Chunk::mark`] writes it.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(text).ok()?.split(';');
        let mut number = |name: &str, width: usize, radix| {
            let digits = parts.next()?.strip_prefix(name)?.strip_prefix('=')?;
            let is_plain =
                digits.len() == width && digits.bytes().all(|it| it.is_ascii_alphanumeric());
            is_plain.then(|| u64::from_str_radix(digits, radix).ok())?
        };
        let chunk = Self {
            len: number("len", 14, 10)?,
            crc: number("crc", 16, 16)?,
            keys: number("keys", 10, 10)?,
            seq: number("seq", 10, 10)?,
        };
        parts.next().is_none().then_some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_read_as_it_is_written() {
        let chunk = Chunk {
            len: 4_194_304,
            crc: 0x0123_4567_89ab_cdef,
            keys: 12_345,
            seq: 7,
        };
        let mark = chunk.mark();
        assert_eq!(mark.len(), MARK_BYTES);
        let text = &mark[MARK_BYTES - TEXT_BYTES..];
        assert_eq!(
            text,
            b"len=00000004194304;crc=0123456789abcdef;keys=0000012345;seq=0000000007"
        );
        assert_eq!(Chunk::parse(text), Some(chunk));
        for at in 0..text.len() {
            let mut changed = text.to_vec();
            changed[at] ^= 1;
            assert_ne!(Chunk::parse(&changed), Some(chunk), "{at}");
            assert_eq!(Chunk::parse(&text[..at]), None);
        }
        assert_eq!(Chunk::parse(&[text, b";"].concat()), None);
    }
}
