//! Encoding and pasting.

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

/// A request of the words of a line.
#[wasm_bindgen(js_name = encodeCommand)]
pub fn encode_command(line: &str, wire: u32) -> Thrown<Vec<u8>> {
    let wire = Wire::of(wire).map_err(thrown)?;
    crate::encode_command(line, wire).map_err(thrown)
}

/// A request of these words.
#[wasm_bindgen(js_name = encodeWords)]
pub fn encode_words(words: Vec<js_sys::Uint8Array>, wire: u32) -> Thrown<Vec<u8>> {
    let words: Vec<_> = words.iter().map(js_sys::Uint8Array::to_vec).collect();
    let wire = Wire::of(wire).map_err(thrown)?;
    crate::encode_words(&words, wire).map_err(thrown)
}

/// A line's request in every protocol.
#[wasm_bindgen(js_name = compareCommand, unchecked_return_type = "Comparison")]
pub fn compare_command(line: &str) -> Thrown<JsValue> {
    object(&crate::compare_command(line).map_err(thrown)?)
}

/// The ways some bytes can be read.
#[wasm_bindgen(unchecked_return_type = "Guess[]")]
pub fn guesses(bytes: &[u8]) -> Thrown<JsValue> {
    object(&crate::guesses(bytes))
}

/// Decodes bytes written down in this way.
#[wasm_bindgen(js_name = decodeAs)]
pub fn decode_as(format: &str, bytes: &[u8]) -> Thrown<Vec<u8>> {
    crate::decode_as(format, bytes).map_err(thrown)
}

/// The TCP streams of a capture.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Capture(crate::Capture);

#[wasm_bindgen]
impl Capture {
    /// Reads a file of pcap or pcapng.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Thrown<Self> {
        crate::Capture::new(bytes).map(Self).map_err(thrown)
    }

    /// What it holds.
    #[wasm_bindgen(unchecked_return_type = "CaptureSummary")]
    pub fn summary(&self) -> Thrown<JsValue> {
        object(self.0.summary())
    }

    /// The bytes of one direction of a stream.
    pub fn bytes(&self, stream: usize, direction: usize) -> Thrown<Vec<u8>> {
        let bytes = self.0.bytes(stream, direction).map_err(thrown)?;
        Ok(bytes.to_vec())
    }

    /// The rows of its segments.
    pub fn segments(&self, stream: usize, direction: usize) -> Thrown<Vec<f64>> {
        self.0.segments(stream, direction).map_err(thrown)
    }
}
