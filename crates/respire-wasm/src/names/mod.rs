//! The names of the commands, to recognise requests without the engine.

mod list;

use list::NAMES;

/// The first eight bytes of each name, so that a look-up compares numbers. They are in the order of
/// the names.
static WORDS: [u64; NAMES.len()] = {
    let mut words = [0; NAMES.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = word(NAMES[at].as_bytes());
        at += 1;
    }
    words
};

/// The number of the command with this name, in any case. O(log n).
pub(crate) fn command_number(name: &[u8]) -> Option<u16> {
    let wanted = word(name);
    let from = WORDS.partition_point(|&word| word < wanted);
    let same = WORDS[from..].iter().take_while(|&&word| word == wanted);
    let mut named = NAMES[from..].iter().zip(same);
    let at = named.position(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name))?;
    Some((from + at) as u16)
}

/// Whether a command has this name.
pub(crate) fn is_command(name: &[u8]) -> bool {
    command_number(name).is_some()
}

/// All names in upper case, in the order of their numbers.
#[must_use]
pub fn command_names() -> &'static [&'static str] {
    NAMES
}

const fn word(name: &[u8]) -> u64 {
    let mut word = [0; 8];
    let mut at = 0;
    while at < name.len() && at < word.len() {
        word[at] = name[at].to_ascii_uppercase();
        at += 1;
    }
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_in_any_case() {
        for (at, name) in NAMES.iter().enumerate() {
            let lower = name.to_ascii_lowercase();
            assert_eq!(command_number(lower.as_bytes()), Some(at as u16));
        }
        assert!(!is_command(b"GETTY") && !is_command(b""));
        assert!(NAMES.is_sorted() && WORDS.is_sorted());
    }
}
