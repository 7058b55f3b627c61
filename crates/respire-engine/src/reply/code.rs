//! The code word of an error reply, by which errors are counted.

use resp_codec::Proto;

/// The code word of an encoded reply; `ERR` if it does not start with an error.
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
    let code = text
        .unwrap_or_default()
        .split(|byte| !byte.is_ascii_alphanumeric())
        .next();
    let code = code.and_then(|code| std::str::from_utf8(code).ok());
    code.filter(|code| !code.is_empty()).unwrap_or("ERR")
}
