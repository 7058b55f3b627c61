//! The check of payloads of functions.

use respire_rdb::Payload;
use respire_script::fuzzed::restore_functions;

/// The opcode before a library.
const FUNCTION: u8 = 0xf5;

/// Checks any bytes: behind an even one as the body of a payload, and behind an odd one as the code of
/// the one library in it. What is restored can be dumped and restored.
pub(crate) fn check_functions(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    // The error is for the client.
    let _ = if kind % 2 == 0 {
        restore_functions(rest)
    } else {
        let mut body = Payload::default();
        body.byte(FUNCTION);
        body.string(&[b"#!lua name=l\n", rest].concat());
        restore_functions(body.as_slice())
    };
}
