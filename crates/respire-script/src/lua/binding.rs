//! Binds `redis.call`, `redis.pcall`, `KEYS` and `ARGV` once for each run of a script.
//!
//! Scripts find their globals behind two tables that keep them from being changed, and the members of `redis` behind
//! two more. So the text of a script is compiled with local names for these four, which its run gets as arguments.
//! Nothing that a script can do changes what they stand for, so it means the same.

use crate::words::{Word, Words};

/// The local names. A script with a word that contains one is not bound.
const CALL: &[u8] = b"__call";
const PCALL: &[u8] = b"__pcall";

/// What the first line begins with.
const HEAD: &[u8] = b"local KEYS,ARGV,__call,__pcall=... ";

/// The text with the two functions bound; `None` if it does not call them, or may mean something else then.
pub(super) fn bound(text: &[u8]) -> Option<Vec<u8>> {
    let (mut words, mut before, mut dots) = (Words::of_script(text), None, 0);
    let (mut bound, mut copied) = (HEAD.to_vec(), 0);
    while let Some(word) = words.next() {
        dots = if word == Word::Sign(b'.') {
            dots + 1
        } else {
            0
        };
        match word {
            // The arguments of the run are not the script's.
            _ if dots == 3 => return None,
            Word::Name(b"getfenv" | b"setfenv") => return None,
            Word::Name(name) if name.starts_with(b"__") => return None,
            Word::Name(b"KEYS" | b"ARGV") if may_be_set(before, &words) => return None,
            // A member of another table, or a method.
            Word::Name(b"redis") if matches!(before, Some(Word::Sign(b'.' | b':'))) => return None,
            Word::Name(b"redis") => {
                let at = words.at() - b"redis".len();
                let is_defined = before == Some(Word::Name(b"function"));
                let local = called(&mut words).filter(|_| !is_defined)?;
                if let Some((local, len)) = local {
                    bound.extend_from_slice(&text[copied..at]);
                    bound.extend_from_slice(local);
                    copied = at + len;
                }
            }
            _ => {}
        }
        before = Some(word);
    }
    (copied > 0).then(|| {
        bound.extend_from_slice(&text[copied..]);
        bound
    })
}

/// Whether the global that was just read may be the target of an assignment, which is an error of the script.
fn may_be_set(before: Option<Word<'_>>, words: &Words<'_>) -> bool {
    let mut ahead = words.clone();
    match ahead.next() {
        Some(Word::Sign(b'=')) => ahead.next() != Some(Word::Sign(b'=')),
        // One of several targets, unless it is the first argument of a call or the first item of a table.
        Some(Word::Sign(b',')) => !matches!(before, Some(Word::Sign(b'(' | b'{'))),
        _ => false,
    }
}

/// A local name, and how many bytes of the text it stands for.
type Local = (&'static [u8], usize);

/// Skips the name of the member behind `redis`. Returns the local name that it is bound to, if it is one of the two
/// functions and written without a blank; `None` if `redis` is used otherwise than to call a member.
fn called(words: &mut Words<'_>) -> Option<Option<Local>> {
    let start = words.at();
    let (Some(Word::Sign(b'.')), Some(Word::Name(member))) = (words.next(), words.next()) else {
        return None;
    };
    let is_close = words.at() == start + 1 + member.len();
    let is_called = words.clone().next() == Some(Word::Sign(b'('));
    match member {
        b"call" | b"pcall" if !is_called => None,
        b"call" if is_close => Some(Some((CALL, b"redis.call".len()))),
        b"pcall" if is_close => Some(Some((PCALL, b"redis.pcall".len()))),
        _ => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(text: &str) -> Option<String> {
        bound(text.as_bytes()).map(|bound| String::from_utf8(bound).expect("it was text"))
    }

    #[test]
    fn calls_are_bound_and_all_else_stays_where_it_was() {
        let text = "-- redis.call\nlocal a = 'redis.call(1)'\nreturn redis.call('GET', redis.pcall ( 'X' ))";
        let expected = "local KEYS,ARGV,__call,__pcall=... -- redis.call\nlocal a = 'redis.call(1)'\nreturn \
                        __call('GET', __pcall ( 'X' ))";
        assert_eq!(bind(text).as_deref(), Some(expected));
        let text = "redis.log(redis.LOG_NOTICE, redis.call('A')) redis .call('B')";
        let expected = "local KEYS,ARGV,__call,__pcall=... redis.log(redis.LOG_NOTICE, __call('A')) redis .call('B')";
        assert_eq!(bind(text).as_deref(), Some(expected));
        for text in [
            "f(KEYS, 1)",
            "f(1, KEYS)",
            "if KEYS == ARGV then KEYS[1] = #KEYS end",
            "t = {KEYS, 1}",
        ] {
            assert!(bind(&format!("{text} redis.call('A')")).is_some(), "{text}");
        }
    }

    #[test]
    fn script_that_may_mean_something_else_is_not_bound() {
        for text in [
            "return 1",
            "local redis = {} redis.call('A')",
            "local r = redis r.call('A') redis.call('B')",
            "redis.call = 1 redis.call('A')",
            "function redis.call(a) end redis.call('A')",
            "local f = redis.call f('A') redis.call('B')",
            "_G.redis.call('A') redis.call('B')",
            "for redis in pairs({}) do end redis.call('A')",
            "local t = {redis = 1} redis.call('A')",
            "setfenv(1, {}) redis.call('A')",
            "redis.call(...)",
            "local __call = 1 redis.call('A')",
            "redis.call 'A'",
            "redis['call']('A')",
            "redis",
            "KEYS = {} redis.call('A')",
            "KEYS, ARGV = ARGV, KEYS redis.call('A')",
            "a, KEYS, b = redis.call('A')",
        ] {
            assert_eq!(bind(text), None, "{text}");
        }
    }
}
