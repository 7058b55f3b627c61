//! The output of chores. Steps that run side by side print into a buffer each, which is shown as a
//! whole when the step ends.

use std::cell::RefCell;

thread_local! {
    /// The output of the step on this thread, if steps run side by side.
    static BUFFER: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Prints a line, or buffers it until the end of the step.
pub(crate) fn say(line: &str) {
    BUFFER.with_borrow_mut(|buffer| match buffer {
        Some(buffer) => {
            buffer.push_str(line);
            buffer.push('\n');
        }
        None => println!("{line}"),
    });
}

/// Whether the output of this thread is buffered until the end of its step.
pub(crate) fn is_buffered() -> bool {
    BUFFER.with_borrow(Option::is_some)
}

/// Runs a step, and returns its result with its output.
pub(crate) fn buffered<T>(step: impl FnOnce() -> T) -> (T, String) {
    let outer = BUFFER.replace(Some(String::new()));
    let result = step();
    (result, BUFFER.replace(outer).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffered_lines_are_returned_in_order_and_buffering_ends() {
        let ((), text) = buffered(|| {
            say("a");
            assert!(is_buffered());
            let ((), inner) = buffered(|| say("b"));
            say(&format!("({})", inner.trim_end()));
        });
        assert_eq!(text, "a\n(b)\n");
        assert!(!is_buffered());
    }
}
