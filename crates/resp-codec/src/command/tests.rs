//! Unit tests of the request decoder.
