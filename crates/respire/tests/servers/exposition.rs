//! A strict parser of OpenMetrics text: it refuses everything that a scraper may refuse.

use std::collections::{BTreeMap, HashSet};

/// Samples by name and labels as written, such as `a_total{x="1"}`.
pub(crate) type Samples = BTreeMap<String, f64>;

/// Parses an exposition, and fails the test if it violates the format.
#[track_caller]
pub(crate) fn read(text: &str) -> Samples {
    let body = text.strip_suffix("# EOF\n").expect("it ends with its end");
    assert!(!body.contains("# EOF"), "it ends once");
    let mut families = HashSet::new();
    let mut family = (String::new(), String::new());
    let mut samples = Samples::new();
    for line in body.split_terminator('\n') {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect("a name and its help");
            assert!(is_name(name) && !help.is_empty(), "{line}");
            assert!(families.insert(name.to_owned()), "{name} comes twice");
            name.clone_into(&mut family.0);
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a name and its kind");
            assert_eq!(name, family.0, "the kind follows the help");
            kind.clone_into(&mut family.1);
        } else {
            let (id, value) = line.rsplit_once(' ').expect("a sample and its value");
            let name = id.split('{').next().unwrap_or_default();
            assert!(belongs(name, &family), "{line} in {family:?}");
            check_labels(&id[name.len()..]);
            let value: f64 = value.parse().expect("a number");
            assert!(
                samples.insert(id.to_owned(), value).is_none(),
                "{id} comes twice"
            );
        }
    }
    check_histograms(text, &samples);
    samples
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_letter)
        && name
            .bytes()
            .all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// Whether a sample of this name may be in a family of this name and kind.
fn belongs(name: &str, (family, kind): &(String, String)) -> bool {
    let suffixes: &[&str] = match &**kind {
        "counter" => &["_total"],
        "gauge" => &[""],
        "histogram" => &["_bucket", "_count", "_sum"],
        other => panic!("no kind: {other}"),
    };
    suffixes
        .iter()
        .any(|suffix| name.strip_suffix(suffix) == Some(family))
}

/// `{name="value",...}` with escapes, or nothing.
fn check_labels(text: &str) {
    if text.is_empty() {
        return;
    }
    let mut rest = text.strip_prefix('{').expect("an opening brace");
    let mut names = HashSet::new();
    loop {
        let (name, value) = rest.split_once("=\"").expect("a name and a quoted value");
        assert!(is_name(name) && names.insert(name), "{text}");
        let mut bytes = value.bytes().enumerate();
        let end = loop {
            match bytes.next().expect("a closing quote") {
                (_, b'\\') => assert!(matches!(bytes.next(), Some((_, b'\\' | b'"' | b'n')))),
                (at, b'"') => break at,
                _ => {}
            }
        };
        rest = &value[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return assert_eq!(rest, "}", "{text}"),
        }
    }
}

/// Buckets ascend, count upwards, and end with the infinite one, which equals the count.
fn check_histograms(text: &str, samples: &Samples) {
    let mut before = (f64::NEG_INFINITY, 0.0);
    for line in text.lines().filter(|line| line.contains("_bucket{")) {
        let (id, value) = line.rsplit_once(' ').expect("a sample and its value");
        let (name, labels) = id
            .split_once("_bucket{le=\"")
            .expect("the bound comes first");
        let (bound, labels) = labels.split_once('"').expect("the bound ends");
        let now: (f64, f64) = (
            bound.parse().expect("a bound"),
            value.parse().expect("a count"),
        );
        assert!(
            now.0 > before.0 && now.1 >= before.1,
            "{line} behind {before:?}"
        );
        before = now;
        if bound == "+Inf" {
            let labels = labels.trim_start_matches(',').trim_end_matches('}');
            let count = format!("{name}_count{{{labels}}}");
            assert_eq!(samples.get(&count), Some(&now.1), "{count}");
            before = (f64::NEG_INFINITY, 0.0);
        }
    }
    assert_eq!(before.1, 0.0, "the last bucket is the infinite one");
}
