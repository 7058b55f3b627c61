//! The text of `INFO`: sections of `field:value` lines.

use std::fmt::{Display, Write};

/// Collects the lines of `INFO`.
///
/// ```
/// let mut out = respire_engine::InfoWriter::default();
/// out.section("Stats");
/// out.field("keyspace_hits", 7);
/// assert_eq!(out.text(), "# Stats\r\nkeyspace_hits:7\r\n");
/// ```
#[derive(Debug, Default)]
pub struct InfoWriter {
    text: String,
}

impl InfoWriter {
    /// Begins a section, after a blank line unless it is the first.
    pub fn section(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\r\n");
        }
        self.line(format_args!("# {title}"));
    }

    /// Adds `name:value`.
    pub fn field(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("{name}:{value}"));
    }

    /// What was collected so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.text
            .write_fmt(line)
            .expect("writing to a String cannot fail");
        self.text.push_str("\r\n");
    }
}
