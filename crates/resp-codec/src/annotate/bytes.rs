//! A set of byte values.

use core::fmt;

/// A set of bytes, stored in 32 bytes.
///
/// ```
/// use resp_codec::annotate::ByteSet;
/// let set: ByteSet = (b'0'..=b'9').chain([b'\r']).collect();
/// assert!(set.contains(b'7'));
/// assert_eq!(set.to_string(), "a digit or CR");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// Adds `byte`.
    ///
    /// ```
    /// # use resp_codec::annotate::ByteSet;
    /// let mut set = ByteSet::default();
    /// set.insert(b'$');
    /// assert!(set.contains(b'$'));
    /// ```
    pub const fn insert(&mut self, byte: u8) {
        self.0[byte as usize / 64] |= 1 << (byte % 64);
    }

    /// Whether the set contains `byte`.
    ///
    /// ```
    /// # use resp_codec::annotate::ByteSet;
    /// let set: ByteSet = (b'0'..=b'9').collect();
    /// assert!(set.contains(b'7') && !set.contains(b'x'));
    /// ```
    pub const fn contains(&self, byte: u8) -> bool {
        self.0[byte as usize / 64] >> (byte % 64) & 1 == 1
    }

    /// The number of bytes in the set.
    ///
    /// ```
    /// # use resp_codec::annotate::ByteSet;
    /// let set: ByteSet = b"aab".iter().copied().collect();
    /// assert_eq!(set.len(), 2);
    /// ```
    pub const fn len(&self) -> usize {
        let [a, b, c, d] = self.0;
        (a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()) as usize
    }

    /// Whether the set is empty.
    ///
    /// ```
    /// # use resp_codec::annotate::ByteSet;
    /// assert!(ByteSet::default().is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the set in ascending order.
    ///
    /// ```
    /// # use resp_codec::annotate::ByteSet;
    /// let set: ByteSet = b"ba".iter().copied().collect();
    /// assert_eq!(set.iter().collect::<Vec<_>>(), [b'a', b'b']);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(|&byte| self.contains(byte))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::default();
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}

impl fmt::Display for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.len() > 128 {
            f.write_str("any byte")?;
            let rest = Self(self.0.map(|word| !word));
            return if rest.is_empty() {
                Ok(())
            } else {
                write!(f, " but {rest}")
            };
        }
        let digits = (b'0'..=b'9').all(|digit| self.contains(digit));
        let count = self.len() - if digits { 9 } else { 0 };
        let separate = |f: &mut fmt::Formatter<'_>, index: usize| match index {
            0 => Ok(()),
            _ if index + 1 == count => f.write_str(" or "),
            _ => f.write_str(", "),
        };
        let mut index = 0;
        if digits {
            f.write_str("a digit")?;
            index = 1;
        }
        for byte in self
            .iter()
            .filter(|byte| !(digits && byte.is_ascii_digit()))
        {
            separate(f, index)?;
            match byte {
                b'\r' => f.write_str("CR")?,
                b'\n' => f.write_str("LF")?,
                b' ' => f.write_str("a blank")?,
                b'\t' => f.write_str("a tab")?,
                b'\'' => f.write_str("\"'\"")?,
                0x21..=0x7e => write!(f, "'{}'", byte as char)?,
                _ => write!(f, "0x{byte:02x}")?,
            }
            index += 1;
        }
        if index == 0 {
            f.write_str("nothing")
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteSet({self})")
    }
}
