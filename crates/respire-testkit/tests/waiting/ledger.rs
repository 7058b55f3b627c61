//! Counts elements.

use respire_testkit::reply::Value;
use std::collections::{HashMap, HashSet};

/// What may become of an element, besides being found once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Kept,
    /// It may expire.
    Brief,
    /// It may be sent to a connection that was cut.
    Cut,
}

impl Fate {
    const ALL: [Self; 3] = [Self::Kept, Self::Brief, Self::Cut];

    fn prefix(self) -> &'static str {
        match self {
            Self::Kept => "kept:",
            Self::Brief => "brief:",
            Self::Cut => "cut:",
        }
    }

    /// A new element.
    pub(crate) fn element(self, producer: usize, number: usize) -> String {
        format!("{}{producer}:{number}", self.prefix())
    }

    fn of(element: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|fate| element.starts_with(fate.prefix()))
    }
}

/// What the threads have written, and what replies have shown for the last time.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) written: Vec<String>,
    pub(crate) found: Vec<String>,
    /// The number of connections that were cut, each of which may have been sent one element.
    pub(crate) cuts: usize,
}

impl Ledger {
    pub(crate) fn add(&mut self, other: Self) {
        self.written.extend(other.written);
        self.found.extend(other.found);
        self.cuts += other.cuts;
    }

    /// Fails unless each element was found once, or had to be lost.
    pub(crate) fn check(&self) {
        let mut times: HashMap<&str, usize> = HashMap::new();
        for element in &self.found {
            *times.entry(element).or_default() += 1;
        }
        let written: HashSet<&str> = self.written.iter().map(String::as_str).collect();
        assert_eq!(written.len(), self.written.len(), "each element is another");
        for (element, times) in &times {
            assert!(written.contains(element), "nobody has written {element}");
            assert_eq!(*times, 1, "{element} came twice");
        }
        let missing = |fate: Fate| {
            let all = written.iter().copied();
            let missing = all.filter(|it| Fate::of(it) == Some(fate) && !times.contains_key(it));
            missing.collect::<Vec<&str>>()
        };
        let kept = missing(Fate::Kept);
        assert!(kept.is_empty(), "lost: {kept:?}");
        let cut = missing(Fate::Cut);
        let cuts = self.cuts;
        assert!(
            cut.len() <= cuts,
            "{cuts} connections were cut, and lost: {cut:?}"
        );
    }
}

/// The elements in a reply of any shape.
pub(crate) fn elements_of(reply: &Value) -> Vec<String> {
    if let Value::Array(items) = reply {
        return items.iter().flat_map(elements_of).collect();
    }
    let text = reply
        .as_bytes()
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    let element = text.filter(|text| Fate::of(text).is_some());
    element.map(str::to_owned).into_iter().collect()
}
