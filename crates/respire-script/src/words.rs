//! The words of Lua's texts, as far as the server reads them itself.

/// A word of Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word<'s> {
    Name(&'s [u8]),
    /// What stands between the quotes or the long brackets of a string, as it is written.
    Text(&'s [u8]),
    Number(&'s [u8]),
    Sign(u8),
}

/// The words of a script, without comments.
#[derive(Clone, Debug)]
pub(crate) struct Words<'s> {
    text: &'s [u8],
    rest: &'s [u8],
    /// The name of the list of keys. It is read as `KEYS`.
    keys: &'static [u8],
}

impl<'s> Words<'s> {
    /// Those of a script.
    pub(crate) fn of_script(body: &'s [u8]) -> Self {
        Self {
            text: body,
            rest: body,
            keys: b"KEYS",
        }
    }

    /// Those of a library, whose functions get their keys as the parameter `keys`.
    pub(crate) fn of_library(code: &'s [u8]) -> Self {
        Self {
            keys: b"keys",
            ..Self::of_script(code)
        }
    }

    pub(crate) fn is_library(&self) -> bool {
        self.keys == b"keys"
    }

    /// Where the last word ends.
    pub(crate) fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    fn take(&mut self, len: usize) -> &'s [u8] {
        let (word, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        word
    }

    /// Skips a long bracket, if one begins here, and returns what it holds.
    fn skip_long(&mut self) -> Option<&'s [u8]> {
        let level = self.rest[1..]
            .iter()
            .take_while(|byte| **byte == b'=')
            .count();
        if self.rest.first() != Some(&b'[') || self.rest.get(level + 1) != Some(&b'[') {
            return None;
        }
        self.take(level + 2);
        let mut end = vec![b'='; level + 2];
        (end[0], end[level + 1]) = (b']', b']');
        let held = self.take(memchr::memmem::find(self.rest, &end).unwrap_or(usize::MAX));
        self.take(end.len());
        // Lua leaves out a line end at the beginning.
        let held = held.strip_prefix(b"\r").unwrap_or(held);
        Some(held.strip_prefix(b"\n").unwrap_or(held))
    }
}

impl<'s> Iterator for Words<'s> {
    type Item = Word<'s>;

    fn next(&mut self) -> Option<Word<'s>> {
        loop {
            let first = *self.rest.first()?;
            if first.is_ascii_whitespace() {
                self.take(1);
            } else if self.rest.starts_with(b"--") {
                self.take(2);
                if self.rest.first() != Some(&b'[') || self.skip_long().is_none() {
                    let line = self.rest.iter().position(|byte| *byte == b'\n');
                    self.take(line.unwrap_or(usize::MAX));
                }
            } else {
                break;
            }
        }
        let first = *self.rest.first()?;
        if first == b'['
            && let Some(text) = self.skip_long()
        {
            return Some(Word::Text(text));
        }
        if first.is_ascii_digit() {
            // As Lua's own lexer: whatever follows a digit, and the sign of an exponent.
            let mut before = 0;
            let len = self.rest.iter().take_while(|byte| {
                let is_sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E');
                before = **byte;
                is_sign || byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')
            });
            let len = len.count();
            return Some(Word::Number(self.take(len)));
        }
        if first.is_ascii_alphabetic() || first == b'_' {
            let is_in = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let len = self.rest.iter().take_while(is_in).count();
            let name = self.take(len);
            return Some(Word::Name(if name == self.keys { b"KEYS" } else { name }));
        }
        if first == b'"' || first == b'\'' {
            let mut len = 1;
            while let Some(byte) = self.rest.get(len).filter(|byte| **byte != first) {
                len += if *byte == b'\\' { 2 } else { 1 };
            }
            let text = self.take(len + 1);
            return Some(Word::Text(text.get(1..len).unwrap_or_default()));
        }
        Some(Word::Sign(self.take(1)[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_words() {
        let text = b"local a_1 = 'x\\'y' .. [=[ ]] ]=] --[[ no ]] + 0x1F\n-- no\n1e-5..2 keys[1]";
        let words: Vec<_> = Words::of_script(text).collect();
        let (name, sign) = (Word::Name, Word::Sign);
        let expected = [
            name(b"local"),
            name(b"a_1"),
            sign(b'='),
            Word::Text(b"x\\'y"),
            sign(b'.'),
            sign(b'.'),
            Word::Text(b" ]] "),
            sign(b'+'),
            Word::Number(b"0x1F"),
            Word::Number(b"1e-5..2"),
            name(b"keys"),
            sign(b'['),
            Word::Number(b"1"),
            sign(b']'),
        ];
        assert_eq!(words, expected);
        assert_eq!(Words::of_library(b"keys").next(), Some(name(b"KEYS")));
    }

    #[test]
    fn words_that_do_not_end_end_with_the_text() {
        for text in [&b"'a"[..], b"\"a\\", b"[[a", b"--[[a", b"[==", b"--", b"1e"] {
            assert!(Words::of_script(text).count() <= 3);
        }
    }
}
