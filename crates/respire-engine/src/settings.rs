//! Rows of `CONFIG`: each is a named value that can be read and, in most cases, changed while the
//! server runs.

use std::fmt;

type Getter = Box<dyn Fn() -> String + Send + Sync>;
type Setter = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// A configuration value, with its name in `CONFIG GET` and `CONFIG SET`.
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

    /// A value that can be changed. `set` refuses a value with a reason, which `CONFIG SET` shows,
    /// and then must not change anything.
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

    /// Marks a value that is not free text: `set` refuses all invalid values itself, including
    /// bytes that are not UTF-8, which it gets with U+FFFD in place of invalid sequences. For other
    /// rows such bytes are refused without calling `set`.
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

    /// The current value, as `CONFIG GET` shows it.
    #[must_use]
    pub fn get(&self) -> String {
        (self.get)()
    }

    /// Whether [`Setting::set`] can succeed.
    #[must_use]
    pub fn is_mutable(&self) -> bool {
        self.set.is_some()
    }

    /// Changes the value to bytes from a client.
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
    /// The reason for refusing the value, as `CONFIG SET` shows it.
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

/// Parses a size in the format of Redis's configuration: `512`, `1k` (1000), `1kb` (1024), `2mb`,
/// `1gb`.
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
    // Redis treats a missing number as zero.
    let number = if number.is_empty() { "0" } else { number };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn mutable_setting_returns_the_value_that_was_set() {
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
    fn read_only_setting_refuses_changes() {
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
