//! Builds the text of `INFO`: sections of `field:value` lines.

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
    /// The position at which the lines of the current section begin.
    section_at: usize,
}

impl InfoWriter {
    /// Begins a section, after a blank line unless it is the first.
    pub fn section(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\r\n");
        }
        self.line(format_args!("# {title}"));
        self.section_at = self.text.len();
    }

    /// Adds `name:value`.
    pub fn field(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("{name}:{value}"));
    }

    /// Adds `name:value`, unless the section has this field.
    pub(crate) fn default_field(&mut self, name: &str, value: impl Display) {
        if self.get(name).is_none() {
            self.field(name, value);
        }
    }

    /// Adds a size in bytes, and under the name with `_human` the same for people: `1.50M`.
    ///
    /// ```
    /// let mut out = respire_engine::InfoWriter::default();
    /// out.bytes("used_memory", 1_572_864);
    /// assert_eq!(out.text(), "used_memory:1572864\r\nused_memory_human:1.50M\r\n");
    /// ```
    pub fn bytes(&mut self, name: &str, bytes: u64) {
        self.field(name, bytes);
        self.line(format_args!("{name}_human:{}", human(bytes)));
    }

    /// The value of a field that is already in this section: the process writes its fields before
    /// the service does.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.text[self.section_at..]
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find_map(|(field, value)| (field == name).then_some(value))
    }

    /// Of the section's fields with one name, keeps the last.
    pub(crate) fn keep_last(&mut self) {
        let lines = self.text.split_off(self.section_at);
        let lines: Vec<(&str, &str)> = lines
            .split_inclusive('\n')
            .map(|line| (line.split(':').next().unwrap_or_default(), line))
            .collect();
        for (at, (name, line)) in lines.iter().enumerate() {
            let is_last = lines[at + 1..].iter().all(|(later, _)| later != name);
            self.text.push_str(if is_last { line } else { "" });
        }
    }

    /// Sorts the section's lines in the order of `names`. Other lines follow.
    pub(crate) fn arrange(&mut self, names: &[&str]) {
        let lines = self.text.split_off(self.section_at);
        let mut lines: Vec<&str> = lines.split_inclusive('\n').collect();
        lines.sort_by_key(|line| {
            let name = line.split(':').next().unwrap_or_default();
            let rank = names.iter().position(|known| *known == name);
            rank.unwrap_or(names.len())
        });
        self.text.extend(lines);
    }

    /// The text so far.
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

fn human(bytes: u64) -> String {
    const UNITS: [(u32, &str); 5] = [(50, "P"), (40, "T"), (30, "G"), (20, "M"), (10, "K")];
    match UNITS.iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{:.2}{unit}", bytes as f64 / (1_u64 << shift) as f64),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arranged_section_puts_unlisted_fields_last() {
        let mut out = InfoWriter::default();
        out.section("One");
        out.field("b", 1);
        out.section("Two");
        for (name, value) in [("x", "1"), ("b", "2:3"), ("y", ""), ("a", "4")] {
            out.field(name, value);
        }
        assert_eq!((out.get("b"), out.get("c")), (Some("2:3"), None));
        out.arrange(&["a", "b", "c"]);
        assert_eq!(
            out.text(),
            "# One\r\nb:1\r\n\r\n# Two\r\na:4\r\nb:2:3\r\nx:1\r\ny:\r\n"
        );
    }

    #[test]
    fn size_is_shown_in_the_largest_unit_that_fits() {
        for (bytes, shown) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.00K"),
            (1536, "1.50K"),
            (5 << 30, "5.00G"),
        ] {
            assert_eq!(human(bytes), shown);
        }
    }
}
