//! The code word of an error, by which it is counted.

use resp_codec::Proto;

/// The code word of an encoded reply; `ERR` where it does not begin with an error.
pub(crate) fn error_code(reply: &[u8], proto: Proto) -> &str {
    // The tagged form has the length of the text between tag and text.
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
