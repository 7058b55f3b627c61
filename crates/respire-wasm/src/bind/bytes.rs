//! Encoding.

use wasm_bindgen::prelude::wasm_bindgen;

/// The names of all commands.
#[wasm_bindgen(js_name = commandNames)]
pub fn command_names() -> Vec<String> {
    let names = crate::command_names().iter();
    names.map(|&name| name.to_owned()).collect()
}
