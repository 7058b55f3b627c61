//! The first line of a library: `#!lua name=mylib`.

use crate::lua::{WRONG_NAME, is_name};
use resp_codec::{CommandDecoder, Limits, Step};

/// What the first line of a library says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: String,
    /// Where the code begins: at the end of the first line, so that errors name the right lines.
    pub(super) code_at: usize,
}

const INVALID: &str = "Invalid library metadata";

impl Header {
    /// Reads the first line. Its words may be in quotes, as those of an inline request.
    ///
    /// # Errors
    /// The text of the error for the client, without its code.
    pub(super) fn read(library: &[u8]) -> Result<Self, String> {
        if !library.starts_with(b"#!") {
            return Err("Missing library metadata".to_owned());
        }
        let end = library.iter().position(|byte| *byte == b'\n');
        let code_at = end.ok_or(INVALID)?;
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        let Ok(Step::Ready { item: words, .. }) = decoder.decode(&library[..=code_at]) else {
            return Err(INVALID.to_owned());
        };
        let engine = words.name().get(2..).unwrap_or_default();
        let mut name = None;
        for at in 1..words.len() {
            let word = words.get(at).unwrap_or_default();
            let text = || String::from_utf8_lossy(word).into_owned();
            match word.split_at_checked(5) {
                Some((key, value)) if key.eq_ignore_ascii_case(b"name=") => {
                    if name.replace(value.to_vec()).is_some() {
                        return Err(
                            "Invalid metadata value, name argument was given multiple times"
                                .to_owned(),
                        );
                    }
                }
                _ => return Err(format!("Invalid metadata value given: {}", text())),
            }
        }
        let name = name.ok_or("Library name was not given")?;
        let name = String::from_utf8(name).map_err(|_| WRONG_NAME)?;
        if !is_name(name.as_bytes()) {
            return Err(WRONG_NAME.to_owned());
        }
        if !engine.eq_ignore_ascii_case(b"lua") {
            let engine = String::from_utf8_lossy(engine);
            return Err(format!("Engine '{engine}' not found"));
        }
        Ok(Self { name, code_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_names_the_library() {
        for line in ["#!lua name=l_1", "#!LUA  NAME=l_1 ", "#!lua name=\"l_1\""] {
            let library = format!("{line}\nreturn 1");
            let expected = Header {
                name: "l_1".to_owned(),
                code_at: line.len(),
            };
            assert_eq!(Header::read(library.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn wrong_first_line_is_refused() {
        for (library, error) in [
            ("return 1", "Missing library metadata"),
            ("#!lua", "Invalid library metadata"),
            ("#!lua name=a \"x\n", "Invalid library metadata"),
            ("#!lua\n", "Library name was not given"),
            ("#!\n", "Library name was not given"),
            ("#!lua name=\n", WRONG_NAME),
            ("#!lua name=a-b\n", WRONG_NAME),
            ("#!js name=a\n", "Engine 'js' not found"),
            ("#! lua name=a\n", "Invalid metadata value given: lua"),
            ("#!lua name=a b\n", "Invalid metadata value given: b"),
            (
                "#!lua name=a name=b\n",
                "Invalid metadata value, name argument was given multiple times",
            ),
        ] {
            let read = Header::read(library.as_bytes());
            assert_eq!(read, Err(error.to_owned()), "{library:?}");
        }
    }
}
