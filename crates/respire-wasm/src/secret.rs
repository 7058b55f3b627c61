//! Which arguments of a request are nobody's business.

use resp_codec::Args;

/// Whether a request carries a password.
pub(crate) fn has_secret(args: Args<'_>) -> bool {
    // Most requests are told apart by their name alone.
    let word = |index: usize| args.get(index);
    is_named(&word) && (1..args.len()).any(|index| is_secret(&word, args.len(), index))
}

fn is_named<'a>(word: &impl Fn(usize) -> Option<&'a [u8]>) -> bool {
    let names: [&[u8]; 5] = [b"auth", b"hello", b"acl", b"config", b"migrate"];
    let name = word(0).unwrap_or_default();
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether the word at `index` of a request of `len` words is a password or holds one.
pub(crate) fn is_secret<'a>(
    word: &impl Fn(usize) -> Option<&'a [u8]>,
    len: usize,
    index: usize,
) -> bool {
    let is = |at: usize, known: &[u8]| word(at).is_some_and(|it| it.eq_ignore_ascii_case(known));
    if is(0, b"auth") {
        // Which of the two it is, is open until the request is whole.
        return index > 0 && (index + 1 >= len || index > 1);
    }
    if is(0, b"hello") {
        return index >= 3 && is(index - 2, b"auth");
    }
    if is(0, b"acl") {
        let rule = word(index).unwrap_or_default();
        return is(1, b"setuser") && index >= 3 && matches!(rule.first(), Some(b'>' | b'<' | b'#'));
    }
    if is(0, b"config") {
        let is_secret = |at: usize| is(at, b"requirepass") || is(at, b"masterauth");
        return is(1, b"set") && index >= 3 && index % 2 == 1 && is_secret(index - 1);
    }
    is(0, b"migrate")
        && ((index >= 6 && is(index - 1, b"auth")) || (index >= 7 && is(index - 2, b"auth2")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use resp_codec::{CommandDecoder, Limits};

    fn secrets(line: &str) -> Vec<usize> {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        let line = format!("{line}\r\n");
        let step = decoder.decode(line.as_bytes()).expect("a request");
        let args = step.ready().expect("a whole one").args();
        let found: Vec<_> = (0..args.len())
            .filter(|&index| is_secret(&|at| args.get(at), args.len(), index))
            .collect();
        assert_eq!(has_secret(args), !found.is_empty());
        found
    }

    #[test]
    fn passwords_are_found_and_nothing_else() {
        assert_eq!(secrets("auth pass"), [1]);
        assert_eq!(secrets("AUTH user pass"), [2]);
        assert_eq!(secrets("HELLO 3 AUTH user pass SETNAME n"), [4]);
        assert_eq!(secrets("ACL SETUSER bob on >pass ~* +@all"), [4]);
        assert_eq!(secrets("CONFIG SET maxclients 1 requirepass pass"), [5]);
        assert_eq!(secrets("MIGRATE h 1 k 0 1 AUTH pass"), [7]);
        assert_eq!(secrets("MIGRATE h 1 k 0 1 AUTH2 user pass"), [8]);
        assert_eq!(secrets("SET auth pass"), [0; 0]);
        assert_eq!(secrets("CONFIG GET requirepass"), [0; 0]);
        assert_eq!(secrets("AUTH"), [0; 0]);
    }
}
