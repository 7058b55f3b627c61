//! The functions that JavaScript calls: the library's own functions, with numbers, typed arrays and
//! plain objects in place of Rust's types. The text of an error becomes a JavaScript `Error`.
#![allow(unreachable_pub, reason = "wasm-bindgen requires public items")]
#![allow(
    clippy::missing_errors_doc,
    reason = "every function throws the text of the error the Rust function of the same name documents"
)]

#[cfg(feature = "document")]
mod bytes;
#[cfg(feature = "capture")]
mod capture;
#[cfg(feature = "document")]
mod document;
#[cfg(feature = "server")]
mod server;

use serde::Serialize;
use wasm_bindgen::{JsError, JsValue};

/// The result of a call from JavaScript.
type Thrown<T> = Result<T, JsError>;

/// Converts an error to the one that JavaScript throws.
fn thrown(text: String) -> JsError {
    JsError::new(&text)
}

/// Converts a value to a plain object.
fn object(value: &impl Serialize) -> Thrown<JsValue> {
    let made = value.serialize(&serde_wasm_bindgen::Serializer::json_compatible());
    made.map_err(|error| thrown(error.to_string()))
}
