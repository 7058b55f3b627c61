//! The code word of an error reply, by which errors are counted.

use resp_codec::Proto;

/// The longest code word, in bytes. Redis looks for its end among the first 32 bytes of a reply.
const CODE_BYTES_MAX: usize = 30;

/// The code word of an encoded reply; `ERR` if it does not start with an error, or if the error's text
/// has no second word.
pub(crate) fn error_code(reply: &[u8], proto: Proto) -> &str {
    // The tagged form has the length of the text between the tag and the text.
    let text_at = if proto == Proto::Binary {
        1 + size_of::<u32>()
    } else {
        1
    };
    let text = if reply.first() == Some(&b'-') {
        reply.get(text_at..)
    } else {
        None
    };
    let text = text.unwrap_or_default();
    let code_len = text.iter().take(CODE_BYTES_MAX + 1).position(is_blank);
    let code = code_len.and_then(|len| std::str::from_utf8(&text[..len]).ok());
    code.filter(|code| !code.is_empty()).unwrap_or("ERR")
}

fn is_blank(byte: &u8) -> bool {
    *byte == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_the_first_of_several_words_and_otherwise_err() {
        for (reply, code) in [
            ("-WRONGTYPE Operation\r\n", "WRONGTYPE"),
            ("-MY_CODE custom\r\n", "MY_CODE"),
            ("-my.code custom\r\n", "my.code"),
            ("-ALONE\r\n", "ERR"),
            ("- none\r\n", "ERR"),
            ("-\r\n", "ERR"),
            ("+OK fine\r\n", "ERR"),
            ("", "ERR"),
        ] {
            assert_eq!(error_code(reply.as_bytes(), Proto::Resp2), code, "{reply}");
        }
        let tagged = b"-\x06\0\0\0BUSY x";
        assert_eq!(error_code(tagged, Proto::Binary), "BUSY");
    }

    #[test]
    fn longer_word_than_a_code_may_be_is_not_one() {
        let reply = |len| format!("-{} x\r\n", "E".repeat(len));
        let code = |len| error_code(reply(len).as_bytes(), Proto::Resp2).len();
        assert_eq!(code(CODE_BYTES_MAX), CODE_BYTES_MAX);
        assert_eq!(code(CODE_BYTES_MAX + 1), "ERR".len());
    }
}
