//! Classes of characters, as C's `ctype.h` has them in the locale "C".

use super::matcher::ESCAPE;

/// Whether a character is of the class of a letter, or is that very character if the letter has no
/// class. An upper-case letter is the opposite of its class.
pub(super) fn matches(byte: u8, letter: u8) -> bool {
    let found = match letter.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | 9..=13),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return letter == byte,
    };
    found == letter.is_ascii_lowercase()
}

/// Whether a character is in a set, given as what stands between its brackets.
pub(super) fn set_matches(byte: u8, set: &[u8]) -> bool {
    let (inside, set) = match set.split_first() {
        Some((b'^', rest)) => (false, rest),
        _ => (true, set),
    };
    let mut rest = set;
    loop {
        let found = match rest {
            [] => return !inside,
            [ESCAPE, letter, more @ ..] => {
                rest = more;
                matches(byte, *letter)
            }
            [from, b'-', to, more @ ..] => {
                rest = more;
                (*from..=*to).contains(&byte)
            }
            [single, more @ ..] => {
                rest = more;
                *single == byte
            }
        };
        if found {
            return inside;
        }
    }
}
