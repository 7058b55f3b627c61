//! The formats of `struct`: letters, each with an optional number.

/// The most bytes of an integer, `i32`.
const INTEGER_BYTES_MAX: i32 = 32;

/// The alignment of `!` without a number.
const ALIGN_DEFAULT: i32 = 8;

/// Why a format is wrong.
#[derive(Debug, PartialEq)]
pub(crate) enum FormatProblem {
    /// A plain error.
    Text(String),
    /// An error about the first argument: the letter that is none.
    Option(u8),
}

/// What one letter stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    /// Zero bytes before it.
    pub(crate) padding: usize,
    pub(crate) kind: Kind,
    /// Bytes that it takes; 0 if the value decides.
    pub(crate) size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Integer {
        signed: bool,
    },
    Float,
    Double,
    /// `x`: a zero byte for no value.
    Padding,
    /// `c`: so many characters.
    Characters,
    /// `s`: characters up to a zero byte.
    Text,
    /// A letter that changes how the others are read.
    Control,
}

/// Reads a format, and keeps what its letters have set.
pub(crate) struct Format<'a> {
    rest: &'a [u8],
    pub(crate) little: bool,
    align: usize,
}

impl<'a> Format<'a> {
    /// A format ends at a zero byte, as for C.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let rest = text.split(|byte| *byte == 0).next().unwrap_or_default();
        Self {
            rest,
            little: true,
            align: 1,
        }
    }

    fn number(&mut self, default: i32) -> Result<i32, FormatProblem> {
        let len = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if len == 0 {
            return Ok(default);
        }
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        let add =
            |number: i32, digit: &u8| number.checked_mul(10)?.checked_add(i32::from(digit - b'0'));
        let number = digits.iter().try_fold(0, add);
        number.ok_or_else(|| FormatProblem::Text("integral size overflow".to_owned()))
    }

    /// The next letter, and what it means at a place in the data; `None` at the end.
    pub(crate) fn next(&mut self, at: usize) -> Result<Option<Item>, FormatProblem> {
        let Some((letter, rest)) = self.rest.split_first() else {
            return Ok(None);
        };
        self.rest = rest;
        let signed = letter.is_ascii_lowercase();
        let (kind, size) = match letter {
            b'b' | b'B' => (Kind::Integer { signed }, 1),
            b'h' | b'H' => (Kind::Integer { signed }, 2),
            b'l' | b'L' | b'T' => (Kind::Integer { signed }, 8),
            b'i' | b'I' => (Kind::Integer { signed }, self.integer_size()?),
            b'f' => (Kind::Float, 4),
            b'd' => (Kind::Double, 8),
            b'x' => (Kind::Padding, 1),
            b'c' => (Kind::Characters, self.number(1)? as usize),
            b's' => (Kind::Text, 0),
            _ => (Kind::Control, 0),
        };
        if kind == Kind::Control {
            self.control(*letter)?;
        }
        let aligned = kind != Kind::Characters && size > 0;
        let padding = if aligned { self.padding(at, size) } else { 0 };
        Ok(Some(Item {
            padding,
            kind,
            size,
        }))
    }

    fn integer_size(&mut self) -> Result<usize, FormatProblem> {
        let size = self.number(4)?;
        if size > INTEGER_BYTES_MAX {
            return Err(FormatProblem::Text(format!(
                "integral size {size} is larger than limit of {INTEGER_BYTES_MAX}"
            )));
        }
        Ok(size as usize)
    }

    fn padding(&self, at: usize, size: usize) -> usize {
        let size = size.min(self.align);
        // As in C; a size that is no power of two gives what it gives there.
        size.wrapping_sub(at & (size - 1)) & (size - 1)
    }

    fn control(&mut self, letter: u8) -> Result<(), FormatProblem> {
        match letter {
            b' ' => {}
            b'>' => self.little = false,
            b'<' => self.little = true,
            b'!' => {
                let align = self.number(ALIGN_DEFAULT)?;
                if align.count_ones() != 1 || align < 0 {
                    let problem = format!("alignment {align} is not a power of 2");
                    return Err(FormatProblem::Text(problem));
                }
                self.align = align as usize;
            }
            letter => return Err(FormatProblem::Option(letter)),
        }
        Ok(())
    }
}

/// Appends the lowest `size` bytes of an integer; what an integer of 64 bits does not have is 0.
pub(crate) fn write_integer(out: &mut Vec<u8>, value: u64, size: usize, little: bool) {
    let start = out.len();
    let bytes = value.to_le_bytes();
    out.extend((0..size).map(|at| bytes.get(at).copied().unwrap_or_default()));
    if !little {
        out[start..].reverse();
    }
}

/// The integer in some bytes; of more than eight, what the last eight of them say.
pub(crate) fn read_integer(bytes: &[u8], signed: bool, little: bool) -> f64 {
    let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let value = if little {
        bytes.iter().rev().fold(0, add)
    } else {
        bytes.iter().fold(0, add)
    };
    if !signed {
        return value as f64;
    }
    // As in C on x86-64, which shifts by the lowest six bits of the count.
    let mask = u64::MAX.wrapping_shl((bytes.len() * 8).wrapping_sub(1) as u32);
    let value = if value & mask == 0 {
        value
    } else {
        value | mask
    };
    value.cast_signed() as f64
}
