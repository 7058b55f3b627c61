//! Values that follow from their key, so that a reply can be checked without storing the written
//! values.

/// How many bytes of a value depend on its key.
const HEAD: usize = 8;

/// The value of each key: first letters hashed from the key, then letters that are the same for all
/// keys.
///
/// ```
/// use respire_bench::workload::Values;
/// let values = Values::new(3);
/// let mut value = [0; 3];
/// values.write(&mut value, 42);
/// assert!(values.matches(&value, 42));
/// ```
#[derive(Clone, Debug)]
pub struct Values {
    filler: Vec<u8>,
}

impl Values {
    /// Values of `size` bytes.
    pub fn new(size: usize) -> Self {
        let filler = (b'a'..=b'z').cycle().take(size).collect();
        Self { filler }
    }

    /// A value whose head no key has set yet.
    pub fn filler(&self) -> &[u8] {
        &self.filler
    }

    /// Writes the head of `key`'s value into `value`; the rest must already be [`Values::filler`].
    #[inline]
    pub fn write_head(&self, value: &mut [u8], key: u64) {
        let head = head(key);
        match value.first_chunk_mut::<HEAD>() {
            Some(front) => *front = head,
            None => value.copy_from_slice(&head[..value.len()]),
        }
    }

    /// Writes the whole value of `key`.
    pub fn write(&self, value: &mut [u8], key: u64) {
        value.copy_from_slice(&self.filler);
        self.write_head(value, key);
    }

    /// Whether `value` is the value of `key`.
    #[inline]
    pub fn matches(&self, value: &[u8], key: u64) -> bool {
        let head = head(key);
        value.len() == self.filler.len()
            && match value.split_first_chunk::<HEAD>() {
                Some((front, rest)) => *front == head && *rest == self.filler[HEAD..],
                None => *value == head[..value.len()],
            }
    }
}

/// Eight letters from `a` to `p`, never digits, so that no server stores the value as an integer.
#[inline]
fn head(key: u64) -> [u8; HEAD] {
    let mut x = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 31;
    ((x & 0x0f0f_0f0f_0f0f_0f0f) + 0x6161_6161_6161_6161).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_any_size_matches_only_its_key() {
        for size in [0, 1, 3, 7, 8, 9, 256] {
            let values = Values::new(size);
            let mut value = vec![0; size];
            values.write(&mut value, 7);
            assert!(values.matches(&value, 7), "{size}");
            assert_eq!(values.matches(&value, 8), size == 0, "{size}");
            value.push(b'x');
            assert!(!values.matches(&value, 7), "{size}");
        }
    }

    #[test]
    fn changed_value_does_not_match() {
        let values = Values::new(20);
        let mut value = vec![0; 20];
        values.write(&mut value, 1);
        value[19] ^= 1;
        assert!(!values.matches(&value, 1));
    }

    #[test]
    fn value_has_only_letters() {
        let values = Values::new(16);
        let mut value = [0; 16];
        for key in 0..1000 {
            values.write(&mut value, key);
            assert!(value.iter().all(u8::is_ascii_lowercase));
        }
    }
}
