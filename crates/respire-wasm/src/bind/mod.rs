//! What JavaScript calls: the library's own functions, with numbers, typed arrays and plain objects
//! in the place of Rust's types. An error's text becomes a JavaScript `Error`.
#![allow(
    unreachable_pub,
    reason = "wasm-bindgen wants what it exports to be public"
)]
#![allow(
    clippy::missing_errors_doc,
    reason = "every function throws the text of the error its Rust twin documents"
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

/// What a call comes to in JavaScript.
type Thrown<T> = Result<T, JsError>;

/// An error as JavaScript throws it.
fn thrown(text: String) -> JsError {
    JsError::new(&text)
}

/// A value as a plain object.
fn object(value: &impl Serialize) -> Thrown<JsValue> {
    let made = value.serialize(&serde_wasm_bindgen::Serializer::json_compatible());
    made.map_err(|error| thrown(error.to_string()))
}
