//! Zipmaps: the packed form of small hashes before Redis 2.6.

/// The byte after the last value.
const END: u8 = 0xff;
/// The first byte of a length of four bytes; as the number of pairs: they are not counted.
const LONG: u8 = 0xfe;

/// The fields and values of a zipmap.
///
/// ```
/// use respire_rdb::Zipmap;
///
/// let bytes = b"\x01\x03foo\x03\x00bar\xff";
/// assert!(Zipmap::verify(bytes).unwrap().eq([(&b"foo"[..], &b"bar"[..])]));
/// assert!(Zipmap::verify(&bytes[..9]).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Zipmap<'a> {
    /// The pairs that are left, and the end.
    rest: &'a [u8],
}

impl<'a> Zipmap<'a> {
    /// Reads the pairs of a zipmap; `None` if anything is wrong with it. O(bytes).
    #[must_use]
    pub fn verify(bytes: &'a [u8]) -> Option<Self> {
        let (&count, rest) = bytes.split_first()?;
        let (mut left, mut pairs) = (rest, 0);
        while left != [END] {
            (_, _, left) = pair(left)?;
            pairs += 1;
        }
        (count >= LONG || usize::from(count) == pairs).then_some(Self { rest })
    }
}

impl<'a> Iterator for Zipmap<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (field, value, rest) = pair(self.rest)?;
        self.rest = rest;
        Some((field, value))
    }
}

/// Reads a field and its value. Returns them and the bytes behind.
fn pair(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (len, rest) = length(bytes)?;
    let (field, rest) = rest.split_at_checked(len)?;
    let (len, rest) = length(rest)?;
    let (&unused, rest) = rest.split_first()?;
    let (value, rest) = rest.split_at_checked(len)?;
    Some((field, value, rest.get(usize::from(unused)..)?))
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match *bytes.first()? {
        END => None,
        LONG => {
            let (len, rest) = bytes[1..].split_first_chunk()?;
            Some((usize::try_from(u32::from_le_bytes(*len)).ok()?, rest))
        }
        short => Some((usize::from(short), &bytes[1..])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

    fn pairs(bytes: &[u8]) -> Option<Pairs> {
        let pairs = Zipmap::verify(bytes)?;
        Some(
            pairs
                .map(|(field, value)| (field.to_vec(), value.to_vec()))
                .collect(),
        )
    }

    #[test]
    fn pairs_with_unused_bytes_and_long_lengths_are_read() {
        let mut bytes = b"\x02\x01a\x02\x03xy___\xfe\x2c\x01\0\0".to_vec();
        bytes.extend_from_slice(&[b'f'; 300]);
        bytes.extend_from_slice(b"\x00\x00\xff");
        let expected = vec![
            (b"a".to_vec(), b"xy".to_vec()),
            (vec![b'f'; 300], Vec::new()),
        ];
        assert_eq!(pairs(&bytes), Some(expected));
        for len in 0..bytes.len() {
            assert_eq!(pairs(&bytes[..len]), None);
        }
        bytes[0] = 3;
        assert_eq!(pairs(&bytes), None);
        bytes[0] = LONG;
        assert!(pairs(&bytes).is_some());
        assert_eq!(pairs(b"\x00\xff"), Some(Vec::new()));
    }
}
