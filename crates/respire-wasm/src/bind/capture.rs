//! The JavaScript class for captures.

use super::{Thrown, object, thrown};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"import type { CaptureSummary } from "../generated/types";"#;

/// The TCP streams of a capture.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Capture(crate::Capture);

#[wasm_bindgen]
impl Capture {
    /// Reads a pcap or pcapng file.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Thrown<Self> {
        crate::Capture::new(bytes).map(Self).map_err(thrown)
    }

    /// The summary of the capture.
    #[wasm_bindgen(unchecked_return_type = "CaptureSummary")]
    pub fn summary(&self) -> Thrown<JsValue> {
        object(self.0.summary())
    }

    /// The bytes of one direction of a stream.
    pub fn bytes(&self, stream: usize, direction: usize) -> Thrown<Vec<u8>> {
        let bytes = self.0.bytes(stream, direction).map_err(thrown)?;
        Ok(bytes.to_vec())
    }

    /// The rows of the segments of one direction.
    pub fn segments(&self, stream: usize, direction: usize) -> Thrown<Vec<f64>> {
        self.0.segments(stream, direction).map_err(thrown)
    }
}
