//! A small HTTP server for a page and for scrapes: one request per connection, with limits on
//! everything.
//!
//! It has threads of its own, so that HTTP requests take no turn from the connections that the
//! server serves, whatever the flavour.
//!
//! ```
//! use respire_net::http::{Answer, Bounds, HttpListener, Status};
//! use std::io::{Read, Write};
//!
//! let listener = HttpListener::bind("127.0.0.1:0").unwrap();
//! let address = listener.address();
//! let serving = listener.serve("greeter", Bounds::DEFAULT, |request| match request.path {
//!     "/hello" => Answer::Document {
//!         headers: "Content-Type: text/plain\r\n".to_owned(),
//!         body: "hello\n".into(),
//!     },
//!     _ => Answer::Refused(Status::NotFound),
//! }).unwrap();
//!
//! let mut peer = std::net::TcpStream::connect(address).unwrap();
//! peer.write_all(b"GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
//! let mut answer = String::new();
//! peer.read_to_string(&mut answer).unwrap();
//! assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhello\n"));
//! drop(serving); // stops it
//! ```

mod exchange;
mod listener;
mod request;

pub use exchange::{Answer, Bounds, Status};
pub use listener::{HttpListener, HttpServer};
pub use request::Request;
