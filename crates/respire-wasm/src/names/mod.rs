//! The names of the commands, for telling requests apart without the engine.

mod list;

use list::NAMES;
use std::sync::OnceLock;

/// Names by their first eight bytes, so that a look-up compares numbers.
static BY_WORD: OnceLock<Vec<(u64, u16)>> = OnceLock::new();

/// The number of the command of this name, in any case. O(log n).
pub(crate) fn command_number(name: &[u8]) -> Option<u16> {
    let by_word = BY_WORD.get_or_init(|| {
        let numbered = NAMES.iter().zip(0..);
        let mut words: Vec<_> = numbered
            .map(|(name, at)| (word(name.as_bytes()), at))
            .collect();
        words.sort_unstable();
        words
    });
    let wanted = word(name);
    let from = by_word.partition_point(|&(word, _)| word < wanted);
    let same = by_word[from..]
        .iter()
        .take_while(|&&(word, _)| word == wanted);
    same.map(|&(_, at)| at)
        .find(|&at| NAMES[at as usize].as_bytes().eq_ignore_ascii_case(name))
}

/// Whether there is a command of this name.
pub(crate) fn is_command(name: &[u8]) -> bool {
    command_number(name).is_some()
}

/// All names, upper case, in the order of their numbers.
#[must_use]
pub fn command_names() -> &'static [&'static str] {
    NAMES
}

fn word(name: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (slot, byte) in word.iter_mut().zip(name) {
        *slot = byte.to_ascii_uppercase();
    }
    u64::from_le_bytes(word)
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
    }
}
