//! Matches glob patterns, as in `KEYS`, `SCAN MATCH` and `CONFIG GET`.

/// Patterns with more stars than this never match, as in Redis.
const STARS_MAX: usize = 1000;

/// Whether the whole of `text` matches `pattern`, byte by byte, exactly as in Redis.
///
/// `*` matches any run of bytes, `?` one byte, `[abc]` one of these, `[a-z]` one in this range,
/// `[^a]` one that is not listed, and `\` takes the next byte literally. A class without an end
/// extends to the end of the pattern. `ignore_case` applies to ASCII letters. As in Redis, only the
/// empty pattern matches the empty text, so commands that list everything test for `*` themselves.
///
/// Costs at most O(pattern × text). It does not allocate and does not recurse.
///
/// ```
/// use respire_engine::glob_match;
///
/// assert!(glob_match(b"user:[0-9]*", b"user:7:name", false));
/// assert!(!glob_match(b"user:?", b"user:77", false));
/// assert!(glob_match(b"MAX*", b"maxmemory", true));
/// ```
#[must_use]
pub fn glob_match(pattern: &[u8], text: &[u8], ignore_case: bool) -> bool {
    let (mut p, mut t) = (0, 0);
    // Only the last star is retried. The pattern after it must match somewhere in the rest of the text;
    // a longer match of an earlier star would leave even less text.
    let mut last_star: Option<(usize, usize)> = None;
    let mut stars = 0;
    loop {
        if p == pattern.len() && t == text.len() {
            return true;
        }
        if p < pattern.len() && t < text.len() {
            if pattern[p] == b'*' {
                p = skip_stars(pattern, p);
                if p == pattern.len() {
                    return true;
                }
                stars += 1;
                if stars > STARS_MAX {
                    return false;
                }
                last_star = Some((p, t));
                continue;
            }
            let (accepts, next) = match_one(&pattern[p..], text[t], ignore_case);
            if accepts {
                p += next;
                t += 1;
                if t == text.len() {
                    p = skip_stars(pattern, p);
                }
                continue;
            }
        }
        match last_star {
            Some((after_star, tried)) if tried + 1 < text.len() => {
                (p, t) = (after_star, tried + 1);
                last_star = Some((p, t));
            }
            _ => return false,
        }
    }
}

fn skip_stars(pattern: &[u8], from: usize) -> usize {
    from + pattern[from..]
        .iter()
        .take_while(|&&byte| byte == b'*')
        .count()
}

/// Whether the first element of `pattern`, which is not a star, accepts `byte`; and the element's
/// length.
fn match_one(pattern: &[u8], byte: u8, ignore_case: bool) -> (bool, usize) {
    match pattern {
        [b'?', ..] => (true, 1),
        [b'[', class @ ..] => {
            let (accepts, len) = match_class(class, byte, ignore_case);
            (accepts, 1 + len)
        }
        [b'\\', literal, ..] => (is_same(*literal, byte, ignore_case), 2),
        [literal, ..] => (is_same(*literal, byte, ignore_case), 1),
        [] => (false, 0),
    }
}

/// As [`match_one`] for a class, without its `[`.
fn match_class(class: &[u8], byte: u8, ignore_case: bool) -> (bool, usize) {
    let is_negated = class.first() == Some(&b'^');
    let mut at = usize::from(is_negated);
    let mut accepts = false;
    loop {
        match &class[at..] {
            // An escaped byte is compared exactly even if case is ignored, as in Redis.
            [b'\\', literal, ..] => {
                accepts |= *literal == byte;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [] => break,
            [start, b'-', end, ..] => {
                accepts |= is_in_range(*start, *end, byte, ignore_case);
                at += 3;
            }
            [literal, ..] => {
                accepts |= is_same(*literal, byte, ignore_case);
                at += 1;
            }
        }
    }
    (accepts != is_negated, at)
}

fn is_same(a: u8, b: u8, ignore_case: bool) -> bool {
    a == b || (ignore_case && a.eq_ignore_ascii_case(&b))
}

fn is_in_range(start: u8, end: u8, byte: u8, ignore_case: bool) -> bool {
    // Redis compares as signed characters, and sorts the ends before it converts them to lower
    // case.
    let (low, high) = if start.cast_signed() <= end.cast_signed() {
        (start, end)
    } else {
        (end, start)
    };
    let fold = |byte: u8| {
        if ignore_case {
            byte.to_ascii_lowercase()
        } else {
            byte
        }
        .cast_signed()
    };
    (fold(low)..=fold(high)).contains(&fold(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        for text in matching {
            assert!(
                glob_match(pattern.as_bytes(), text.as_bytes(), false),
                "{pattern} {text}"
            );
        }
        for text in other {
            assert!(
                !glob_match(pattern.as_bytes(), text.as_bytes(), false),
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn star_matches_any_run_but_not_the_empty_text() {
        check("*", &["a", "abc"], &[""]);
        check("", &[""], &["a"]);
        check("a*", &["a", "ab", "a*"], &["", "ba"]);
        check("*b*c", &["bc", "abbc", "xbycbc"], &["b", "cb", "bcx"]);
        check("a**b***", &["ab", "axb", "abx"], &["a", "b"]);
        check("*a", &["a", "ba", "aa"], &["ab"]);
    }

    #[test]
    fn question_mark_matches_exactly_one_byte() {
        check("?", &["a", "*"], &["", "ab"]);
        check("a?c", &["abc"], &["ac", "abbc"]);
        check("*?", &["a", "ab"], &[""]);
    }

    #[test]
    fn class_matches_members_ranges_and_their_negation() {
        check("[abc]x", &["ax", "cx"], &["dx", "x", "aax"]);
        check("[a-c]", &["a", "b", "c"], &["d", "-"]);
        check("[c-a]", &["b"], &["d"]);
        check("[^a-c]", &["d", "^"], &["a", "b"]);
        check("[^^]", &["a"], &["^"]);
        check("[a^]", &["a", "^"], &["b"]);
        check("[]x", &[], &["x", "]x"]);
        check("[^]x", &["ax", "]x"], &["x"]);
    }

    #[test]
    fn class_with_escape_or_without_end_matches_as_in_redis() {
        check("[\\]a]", &["]", "a"], &["\\"]);
        check("[\\-z]", &["-", "z"], &["a"]);
        check("[ab", &["a", "b"], &["c", "["]);
        check("[", &[], &["[", "a"]);
        check("[^", &["a"], &["", "ab"]);
        check("[a-", &["a", "-"], &["b"]);
        // The closing bracket is the end of a range.
        check("[a-]", &["a", "]", "_"], &["-", "b"]);
        check("[\\", &["\\"], &["a"]);
    }

    #[test]
    fn backslash_takes_the_next_byte_literally() {
        check("\\*", &["*"], &["a"]);
        check("a\\?", &["a?"], &["ab"]);
        check("\\[a]", &["[a]"], &["a"]);
        check("a\\", &["a\\"], &["a"]);
        check("\\\\", &["\\"], &["\\\\"]);
    }

    #[test]
    fn ignoring_case_excludes_escaped_class_members() {
        assert!(glob_match(b"MaX*", b"mAxmemory", true));
        assert!(!glob_match(b"MaX*", b"maxmemory", false));
        assert!(glob_match(b"[A-C]", b"b", true));
        assert!(glob_match(b"[XY]", b"y", true));
        assert!(glob_match(b"\\X", b"x", true));
        assert!(!glob_match(b"[\\X]", b"x", true));
    }

    #[test]
    fn range_compares_bytes_as_signed() {
        // 0xff is -1 and 0x01 is 1, so the range has three bytes.
        for (byte, is_inside) in [
            (0xff, true),
            (0x00, true),
            (0x01, true),
            (0x02, false),
            (0x80, false),
        ] {
            assert_eq!(
                glob_match(b"[\xff-\x01]", &[byte], false),
                is_inside,
                "{byte:#x}"
            );
        }
    }

    #[test]
    fn many_stars_take_bounded_time() {
        let pattern = b"a*".repeat(500);
        let mut text = vec![b'a'; 20_000];
        assert!(glob_match(&pattern, &text, false));
        text.push(b'b');
        let pattern = [&b"a*".repeat(500)[..], b"c"].concat();
        assert!(!glob_match(&pattern, &text, false));
    }

    #[test]
    fn patterns_with_too_many_stars_never_match() {
        let text = vec![b'a'; 3000];
        assert!(glob_match(&b"*a".repeat(STARS_MAX), &text, false));
        assert!(!glob_match(&b"*a".repeat(STARS_MAX + 1), &text, false));
        assert!(glob_match(
            &[&b"*a".repeat(STARS_MAX)[..], b"*"].concat(),
            &text,
            false
        ));
    }
}
