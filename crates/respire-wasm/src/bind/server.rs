//! The JavaScript class for the server in the page.

use super::{Thrown, object, thrown};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"import type { CommandInfo, Progress } from "../generated/types";"#;

/// An engine with all commands and an empty store, and virtual connections to it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Server(crate::Server);

#[wasm_bindgen]
impl Server {
    /// An empty server at this time, with this password.
    #[wasm_bindgen(constructor)]
    pub fn new(unix_ms: f64, password: Option<String>) -> Self {
        let password = password.as_deref().map(str::as_bytes);
        Self(crate::Server::with_password(unix_ms as u64, password))
    }

    /// Opens a connection.
    pub fn connect(&mut self) -> Thrown<u32> {
        self.0.connect().map_err(thrown)
    }

    /// Closes a connection.
    pub fn close(&mut self, conn: u32) {
        self.0.close(conn);
    }

    /// Passes bytes to a connection.
    #[wasm_bindgen(unchecked_return_type = "Progress")]
    pub fn feed(&mut self, conn: u32, bytes: &[u8]) -> Thrown<JsValue> {
        object(&self.0.feed(conn, bytes).map_err(thrown)?)
    }

    /// Takes the output of a connection.
    #[wasm_bindgen(js_name = takeOutput)]
    pub fn take_output(&mut self, conn: u32) -> Thrown<Vec<u8>> {
        self.0.take_output(conn).map_err(thrown)
    }

    /// Advances the clock.
    #[wasm_bindgen(unchecked_return_type = "Progress")]
    pub fn advance(&mut self, ms: f64) -> Thrown<JsValue> {
        object(&self.0.advance(ms as u64))
    }

    /// The time.
    #[wasm_bindgen(getter, js_name = unixMs)]
    pub fn unix_ms(&self) -> f64 {
        self.0.unix_ms() as f64
    }

    /// The protocol of a connection's replies.
    pub fn wire(&mut self, conn: u32) -> Thrown<u32> {
        self.0.wire(conn).map_err(thrown)
    }

    /// All commands.
    #[wasm_bindgen(unchecked_return_type = "CommandInfo[]")]
    pub fn commands(&self) -> Thrown<JsValue> {
        command_table()
    }
}

/// All commands, for completion and help.
#[wasm_bindgen(js_name = commandTable, unchecked_return_type = "CommandInfo[]")]
pub fn command_table() -> Thrown<JsValue> {
    object(&crate::command_table())
}
