//! Replaces the part of a document between two marks.

/// `text` with `block` between the marks; `None` if a mark is missing.
///
/// ```
/// use respire_bench_docs::marks::replace_between;
/// let text = replace_between("a <!-- x --> old <!-- /x --> b", ("<!-- x -->", "<!-- /x -->"), " new ");
/// assert_eq!(text.as_deref(), Some("a <!-- x --> new <!-- /x --> b"));
/// ```
pub fn replace_between(text: &str, marks: (&str, &str), block: &str) -> Option<String> {
    let (before, rest) = text.split_once(marks.0)?;
    let (_, after) = rest.split_once(marks.1)?;
    Some([before, marks.0, block, marks.1, after].concat())
}

/// The text between the marks; `None` if a mark is missing.
///
/// ```
/// use respire_bench_docs::marks::between;
/// assert_eq!(between("a <!-- x --> b <!-- /x -->", ("<!-- x -->", "<!-- /x -->")), Some(" b "));
/// ```
pub fn between<'t>(text: &'t str, marks: (&str, &str)) -> Option<&'t str> {
    let (_, rest) = text.split_once(marks.0)?;
    Some(rest.split_once(marks.1)?.0)
}
