//! JSON's tokens, as lua-cjson cuts them: it takes some for numbers that JSON does not know, and a
//! zero byte for the end of the text.

use super::super::number;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    /// The string is in [`Lexer::string`] until the next token.
    String,
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Error(&'static str),
}

impl Token {
    /// As error texts name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ObjectBegin => "T_OBJ_BEGIN",
            Self::ObjectEnd => "T_OBJ_END",
            Self::ArrayBegin => "T_ARR_BEGIN",
            Self::ArrayEnd => "T_ARR_END",
            Self::String => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Boolean(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
            Self::Colon => "T_COLON",
            Self::Comma => "T_COMMA",
            Self::End => "T_END",
            Self::Error(problem) => problem,
        }
    }
}

pub(super) struct Lexer<'a> {
    text: &'a [u8],
    /// What follows the last token.
    pub(super) at: usize,
    /// Where the last token begins; if it is an error, where that was found.
    pub(super) token_at: usize,
    string: Vec<u8>,
    invalid_numbers: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8], invalid_numbers: bool) -> Self {
        let string = Vec::new();
        Self {
            text,
            at: 0,
            token_at: 0,
            string,
            invalid_numbers,
        }
    }

    /// The string of the last token.
    pub(super) fn string(&self) -> &[u8] {
        &self.string
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Token {
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.token_at = self.at;
        let single = match self.byte(self.at) {
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            0 => return Token::End,
            b'"' => return self.quoted(),
            b'-' | b'0'..=b'9' if !self.invalid_numbers && self.is_invalid_number() => {
                return Token::Error("invalid number");
            }
            b'-' | b'0'..=b'9' => return self.number(),
            b'f' | b'i' | b'I' | b'n' | b'N' | b't' | b'+' => return self.word(),
            _ => return Token::Error("invalid token"),
        };
        self.at += 1;
        single
    }

    fn word(&mut self) -> Token {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for (word, token) in [
            (&b"true"[..], Token::Boolean(true)),
            (b"false", Token::Boolean(false)),
            (b"null", Token::Null),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return token;
            }
        }
        if self.invalid_numbers && self.is_invalid_number() {
            return self.number();
        }
        Token::Error("invalid token")
    }

    fn number(&mut self) -> Token {
        match number::read(self.text.get(self.at..).unwrap_or_default()) {
            Some((number, len)) => {
                self.at += len;
                Token::Number(number)
            }
            None => Token::Error("invalid number"),
        }
    }

    /// Whether what follows is a number for `strtod`, and none for JSON: with a plus, in hexadecimal,
    /// with zeros in front, infinite, or not a number.
    fn is_invalid_number(&self) -> bool {
        let first = self.byte(self.at);
        if first == b'+' {
            return true;
        }
        let at = self.at + usize::from(first == b'-');
        match self.byte(at) {
            b'0' => matches!(self.byte(at + 1), b'x' | b'X' | b'0'..=b'9'),
            0..=b'9' => false,
            _ => {
                let word = self.text.get(at..at + 3).unwrap_or_default();
                word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"nan")
            }
        }
    }

    fn error(&mut self, problem: &'static str) -> Token {
        self.token_at = self.at;
        Token::Error(problem)
    }

    fn quoted(&mut self) -> Token {
        self.at += 1;
        self.string.clear();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest
                .iter()
                .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0))
                .count();
            self.string.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match self.byte(self.at) {
                b'"' => break,
                0 => return self.error("unexpected end of string"),
                _ => {}
            }
            let plain = match self.byte(self.at + 1) {
                byte @ (b'"' | b'\\' | b'/') => byte,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'f' => 12,
                b'r' => b'\r',
                b'u' => match self.code_point() {
                    Some((letter, len)) => {
                        self.push(letter);
                        self.at += len;
                        continue;
                    }
                    None => return self.error("invalid unicode escape code"),
                },
                _ => return self.error("invalid escape code"),
            };
            self.string.push(plain);
            self.at += 2;
        }
        self.at += 1;
        Token::String
    }

    /// The letter that `\uXXXX` stands for, or two of these for one outside of the first plane, and
    /// how many bytes that takes.
    fn code_point(&self) -> Option<(char, usize)> {
        let high = self.unit(self.at)?;
        if high & 0xf800 != 0xd800 {
            return Some((char::from_u32(high)?, 6));
        }
        let low = self.unit(self.at + 6)?;
        if high & 0x400 != 0 || low & 0xfc00 != 0xdc00 {
            return None;
        }
        let letter = ((high & 0x3ff) << 10 | low & 0x3ff) + 0x1_0000;
        Some((char::from_u32(letter)?, 12))
    }

    /// The number of a `\uXXXX`.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        digits.iter().try_fold(0, |unit, digit| {
            Some(unit << 4 | char::from(*digit).to_digit(16)?)
        })
    }

    fn push(&mut self, letter: char) {
        let mut buffer = [0; 4];
        self.string
            .extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
    }
}
