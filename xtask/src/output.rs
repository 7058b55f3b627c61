//! What a chore prints. Steps that run side by side print into a buffer of their own, which is shown
//! whole when the step ends.

use std::cell::RefCell;

thread_local! {
    /// The output of the step that runs on this thread, if steps run side by side.
    static HELD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Prints a line, or keeps it for the end of the step.
pub(crate) fn say(line: &str) {
    HELD.with_borrow_mut(|held| match held {
        Some(held) => {
            held.push_str(line);
            held.push('\n');
        }
        None => println!("{line}"),
    });
}

/// Whether what this thread prints is kept for the end of its step.
pub(crate) fn is_held() -> bool {
    HELD.with_borrow(Option::is_some)
}

/// Runs a step, and returns what it printed with its result.
pub(crate) fn hold<T>(step: impl FnOnce() -> T) -> (T, String) {
    let outer = HELD.replace(Some(String::new()));
    let result = step();
    (result, HELD.replace(outer).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_lines_come_back_in_order_and_nothing_is_held_afterwards() {
        let ((), said) = hold(|| {
            say("a");
            assert!(is_held());
            let ((), inner) = hold(|| say("b"));
            say(&format!("({})", inner.trim_end()));
        });
        assert_eq!(said, "a\n(b)\n");
        assert!(!is_held());
    }
}
