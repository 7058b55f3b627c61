//! The rows behind `CONFIG`: each names one value that can be read and, mostly, changed while
//! the server runs.

use std::fmt;

type Getter = Box<dyn Fn() -> String + Send + Sync>;
type Setter = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// One configuration value, under the name `CONFIG GET` and `CONFIG SET` know it by.
///
/// ```
/// use respire_engine::Setting;
///
/// let fixed = Setting::read_only("port", || "6379".to_owned());
/// assert_eq!(fixed.get(), "6379");
/// assert!(!fixed.is_mutable());
/// ```
pub struct Setting {
    name: &'static str,
    get: Getter,
    set: Option<Setter>,
    is_checked: bool,
}

impl Setting {
    /// A value that is fixed while the server runs.
    pub fn read_only(name: &'static str, get: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self {
            name,
            get: Box::new(get),
            set: None,
            is_checked: false,
        }
    }

    /// A value that may be changed. `set` refuses with the reason `CONFIG SET` shows, and then has
    /// changed nothing.
    pub fn mutable(
        name: &'static str,
        get: impl Fn() -> String + Send + Sync + 'static,
        set: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            get: Box::new(get),
            set: Some(Box::new(set)),
            is_checked: false,
        }
    }

    /// The same row, of a value that is no free text: its `set` refuses whatever is none of its
    /// values, also bytes that are not UTF-8, which it is shown with U+FFFD for what is wrong with
    /// them. Of other rows such bytes are refused unseen.
    #[must_use]
    pub fn checked(mut self) -> Self {
        self.is_checked = true;
        self
    }

    /// The name, lower case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The present value, as `CONFIG GET` shows it.
    #[must_use]
    pub fn get(&self) -> String {
        (self.get)()
    }

    /// Whether [`Setting::set`] may succeed at all.
    #[must_use]
    pub fn is_mutable(&self) -> bool {
        self.set.is_some()
    }

    /// Changes the value to what a client sent.
    pub(crate) fn set_bytes(&self, value: &[u8]) -> Result<(), String> {
        match std::str::from_utf8(value) {
            Ok(text) => self.set(text),
            Err(_) if self.is_checked => self.set(&String::from_utf8_lossy(value)),
            Err(_) => Err("argument must be valid UTF-8".to_owned()),
        }
    }

    /// Changes the value.
    ///
    /// # Errors
    /// The reason for refusing it, in the words of `CONFIG SET`.
    pub fn set(&self, value: &str) -> Result<(), String> {
        match &self.set {
            Some(set) => set(value),
            None => Err("can't set immutable config".to_owned()),
        }
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setting")
            .field("name", &self.name)
            .field("value", &self.get())
            .field("mutable", &self.is_mutable())
            .finish()
    }
}

/// Parses a size as Redis's configuration writes it: `512`, `1k` (1000), `1kb` (1024), `2mb`, `1gb`.
///
/// ```
/// use respire_engine::parse_memory;
/// assert_eq!(parse_memory("1kb"), Some(1024));
/// assert_eq!(parse_memory("2M"), Some(2_000_000));
/// assert_eq!(parse_memory("x"), None);
/// ```
#[must_use]
pub fn parse_memory(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    // Redis takes a missing number for none.
    let number = if number.is_empty() { "0" } else { number };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn mutable_setting_reads_back_what_was_set() {
        let value = Arc::new(AtomicU64::new(7));
        let (read, write) = (Arc::clone(&value), value);
        let setting = Setting::mutable(
            "timeout",
            move || read.load(Ordering::Relaxed).to_string(),
            move |text| {
                let number = text
                    .parse()
                    .map_err(|_| "argument couldn't be parsed into an integer")?;
                write.store(number, Ordering::Relaxed);
                Ok(())
            },
        );
        assert_eq!(setting.get(), "7");
        assert!(setting.set("nope").is_err());
        assert_eq!(setting.set("9"), Ok(()));
        assert_eq!(setting.get(), "9");
    }

    #[test]
    fn read_only_setting_refuses() {
        let setting = Setting::read_only("port", || "1".to_owned());
        assert_eq!(
            setting.set("2"),
            Err("can't set immutable config".to_owned())
        );
    }

    #[test]
    fn sizes_beyond_the_range_are_refused() {
        assert_eq!(parse_memory("99999999999999gb"), None);
        assert_eq!(parse_memory(""), Some(0));
        assert_eq!(parse_memory("-1"), None);
    }
}
