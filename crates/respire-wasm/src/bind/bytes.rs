//! JavaScript functions for encoding and pasting.

use super::{Thrown, object, thrown};
use crate::Wire;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The names of all commands.
#[wasm_bindgen(js_name = commandNames)]
pub fn command_names() -> Vec<String> {
    let names = crate::command_names().iter();
    names.map(|&name| name.to_owned()).collect()
}

/// Splits a line into words.
#[wasm_bindgen(js_name = splitWords, unchecked_return_type = "Words")]
pub fn split_words(line: &str) -> Thrown<JsValue> {
    object(&crate::split_words(line))
}

/// Encodes a request with the words of a line.
#[wasm_bindgen(js_name = encodeCommand)]
pub fn encode_command(line: &str, wire: u32) -> Thrown<Vec<u8>> {
    let wire = Wire::of(wire).map_err(thrown)?;
    crate::encode_command(line, wire).map_err(thrown)
}

/// Encodes a request with these words.
#[wasm_bindgen(js_name = encodeWords)]
pub fn encode_words(words: Vec<js_sys::Uint8Array>, wire: u32) -> Thrown<Vec<u8>> {
    let words: Vec<_> = words.iter().map(js_sys::Uint8Array::to_vec).collect();
    let wire = Wire::of(wire).map_err(thrown)?;
    crate::encode_words(&words, wire).map_err(thrown)
}

/// Compares the request of a line across all protocols.
#[wasm_bindgen(js_name = compareCommand, unchecked_return_type = "Comparison")]
pub fn compare_command(line: &str) -> Thrown<JsValue> {
    object(&crate::compare_command(line).map_err(thrown)?)
}

/// The ways to read some pasted bytes.
#[wasm_bindgen(unchecked_return_type = "Guess[]")]
pub fn guesses(bytes: &[u8]) -> Thrown<JsValue> {
    object(&crate::guesses(bytes))
}

/// Decodes bytes in this notation.
#[wasm_bindgen(js_name = decodeAs)]
pub fn decode_as(format: &str, bytes: &[u8]) -> Thrown<Vec<u8>> {
    crate::decode_as(format, bytes).map_err(thrown)
}

/// The mode that some bytes seem to have, by number.
#[wasm_bindgen(js_name = guessMode)]
pub fn guess_mode(bytes: &[u8]) -> u32 {
    crate::guess_mode_number(bytes)
}
