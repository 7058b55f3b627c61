//! The JavaScript class for documents.

use super::{Thrown, object, thrown};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"import type { Comparison, DocError, Guess, MsgPack, State, Verdict, Words } from "../generated/types";"#;

/// Bytes, and the frames decoded from them.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Doc(crate::Document);

#[wasm_bindgen]
impl Doc {
    /// An empty document of this mode under these limits.
    #[wasm_bindgen(constructor)]
    pub fn new(mode: u32, limits: u32) -> Thrown<Self> {
        crate::Document::new(mode, limits).map(Self).map_err(thrown)
    }

    /// Replaces all bytes.
    #[wasm_bindgen(js_name = setBytes)]
    pub fn set_bytes(&mut self, bytes: Vec<u8>) -> Thrown<()> {
        self.0.set_bytes(bytes).map_err(thrown)
    }

    /// Adds bytes at the end.
    pub fn append(&mut self, bytes: &[u8]) -> Thrown<()> {
        self.0.append(bytes).map_err(thrown)
    }

    /// Replaces some bytes.
    pub fn replace(&mut self, at: usize, len: usize, with: &[u8]) -> Thrown<usize> {
        self.0.replace(at, len, with).map_err(thrown)
    }

    /// A copy of some bytes.
    pub fn bytes(&self, from: usize, to: usize) -> Vec<u8> {
        self.0.bytes(from, to).to_vec()
    }

    /// The number of bytes.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// The current mode.
    #[wasm_bindgen(getter)]
    pub fn mode(&self) -> u32 {
        self.0.mode()
    }

    /// The current limits.
    #[wasm_bindgen(getter)]
    pub fn limits(&self) -> u32 {
        self.0.limits()
    }

    /// Decodes the bytes again in this mode.
    #[wasm_bindgen(js_name = setMode)]
    pub fn set_mode(&mut self, mode: u32) -> Thrown<()> {
        self.0.set_mode(mode).map_err(thrown)
    }

    /// Decodes the bytes again under these limits.
    #[wasm_bindgen(js_name = setLimits)]
    pub fn set_limits(&mut self, preset: u32) -> Thrown<()> {
        self.0.set_limits(preset).map_err(thrown)
    }

    /// Continues decoding.
    pub fn parse(&mut self, budget: usize) -> usize {
        self.0.parse(budget)
    }

    /// The number of decoded frames.
    #[wasm_bindgen(getter, js_name = frameCount)]
    pub fn frame_count(&self) -> usize {
        self.0.frame_count()
    }

    /// The number of frames with errors.
    #[wasm_bindgen(getter, js_name = errorCount)]
    pub fn error_count(&self) -> usize {
        self.0.error_count()
    }

    /// The rows of some frames.
    pub fn frames(&self, from: usize, to: usize) -> Vec<u32> {
        self.0.frames(from, to)
    }

    /// The number of the frame that holds a byte.
    #[wasm_bindgen(js_name = frameAt)]
    pub fn frame_at(&self, offset: usize) -> usize {
        self.0.frame_at(offset)
    }

    /// The rows of the marks of some bytes.
    pub fn marks(&self, from: usize, to: usize) -> Vec<u32> {
        self.0.marks(from, to)
    }

    /// The rows of a frame's nodes.
    pub fn nodes(&self, frame: usize) -> Thrown<Vec<u32>> {
        self.0.nodes(frame).map_err(thrown)
    }

    /// The spans of passwords.
    pub fn secrets(&self, from: usize, to: usize) -> Vec<u32> {
        self.0.secrets(from, to)
    }

    /// A node as one line of text.
    pub fn text(&self, frame: usize, node: usize, max: usize) -> Thrown<String> {
        self.0.text(frame, node, max).map_err(thrown)
    }

    /// The bytes that a node stands for.
    pub fn payload(&self, frame: usize, node: usize) -> Thrown<Vec<u8>> {
        self.0.payload(frame, node).map_err(thrown)
    }

    /// The path of a byte.
    pub fn path(&self, offset: usize) -> String {
        self.0.path(offset)
    }

    /// The span of a path.
    pub fn resolve(&self, path: &str) -> Vec<u32> {
        let span = self.0.resolve(path);
        span.map_or_else(Vec::new, |(start, end)| vec![start as u32, end as u32])
    }

    /// The state of the decoder.
    #[wasm_bindgen(unchecked_return_type = "State")]
    pub fn state(&self, offset: usize) -> Thrown<JsValue> {
        object(&self.0.state(offset).map_err(thrown)?)
    }

    /// The error of a frame.
    #[wasm_bindgen(unchecked_return_type = "DocError | undefined")]
    pub fn error(&self, frame: usize) -> Thrown<JsValue> {
        match self.0.error(frame).map_err(thrown)? {
            Some(error) => object(&error),
            None => Ok(JsValue::UNDEFINED),
        }
    }

    /// Applies a fix that an error offers.
    pub fn fix(&mut self, frame: usize, index: usize) -> Thrown<usize> {
        self.0.fix(frame, index).map_err(thrown)
    }

    /// The replies of servers to a frame.
    #[wasm_bindgen(unchecked_return_type = "Verdict[]")]
    pub fn verdicts(&self, frame: usize) -> Thrown<JsValue> {
        object(&self.0.verdicts(frame).map_err(thrown)?)
    }

    /// The rows of the reads that end at these offsets.
    pub fn reads(&self, cuts: &[u32]) -> Thrown<Vec<u32>> {
        self.0.reads(cuts).map_err(thrown)
    }

    /// The offsets at which some bytes occur.
    pub fn find(&self, needle: &[u8], from: usize, max: usize) -> Vec<u32> {
        self.0.find(needle, from, max)
    }

    /// The frames that match a query.
    pub fn filter(&self, query: &str, max: usize) -> Thrown<Vec<u32>> {
        self.0.filter(query, max).map_err(thrown)
    }

    /// A frame compared across all protocols.
    #[wasm_bindgen(unchecked_return_type = "Comparison")]
    pub fn compare(&self, frame: usize) -> Thrown<JsValue> {
        object(&self.0.compare(frame).map_err(thrown)?)
    }

    /// Some bytes as MessagePack.
    #[wasm_bindgen(unchecked_return_type = "MsgPack")]
    pub fn msgpack(&self, from: usize, to: usize) -> Thrown<JsValue> {
        object(&self.0.msgpack(from, to))
    }
}
