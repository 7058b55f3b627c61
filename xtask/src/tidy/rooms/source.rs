//! Reads one source file for its modules: those it declares, its imports, the paths it names, and
//! the items it defines. It reads tokens: comments and strings do not count, but the contents of
//! macros do. Code that is only for tests is skipped.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// A file, or the contents of the braces of `mod name { … }`.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Every path of two or more names, and everything that `use` imports.
    pub(super) mentions: Vec<Mention>,
    /// The items of the module itself.
    pub(super) defines: BTreeSet<String>,
    pub(super) modules: Vec<Declared>,
}

#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) brings: Brings,
    pub(super) line: usize,
}

/// The names that a mention adds to its module.
#[derive(Debug, PartialEq)]
pub(super) enum Brings {
    Nothing,
    Name(String),
    /// `use path::*`.
    All,
}

#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    /// `mod name;`, with the file that `#[path]` names.
    File(Option<String>),
    Here(Source),
}

/// # Errors
/// If the text is not a sequence of tokens.
pub(super) fn read(text: &str) -> Result<Source, String> {
    let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
    let mut source = Source::default();
    Reader::over(tokens, true).read(&mut source);
    Ok(source)
}

struct Reader {
    tokens: Vec<TokenTree>,
    at: usize,
    /// Whether a definition here is an item of the module.
    top_level: bool,
}

impl Reader {
    fn over(tokens: TokenStream, top_level: bool) -> Self {
        let tokens = tokens.into_iter().collect();
        Self {
            tokens,
            at: 0,
            top_level,
        }
    }

    fn read(mut self, source: &mut Source) {
        let mut file = None;
        while let Some(token) = self.tokens.get(self.at).cloned() {
            match token {
                // A path that starts elsewhere: `::std::mem`, or the path after `<T as Trait>`.
                _ if self.is_at_colons() => {
                    self.rest_of_path();
                }
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    self.at += 1;
                    let inner = self.take_punct('!');
                    let attribute = self.take_group();
                    if attribute.as_ref().is_some_and(is_for_tests) {
                        if inner {
                            return;
                        }
                        self.skip_item();
                    }
                    file = attribute.as_ref().and_then(path_attribute).or(file);
                }
                TokenTree::Ident(word) => {
                    self.at += 1;
                    let line = word.span().start().line;
                    match word.to_string().as_str() {
                        // `use<'a>`, in a type, captures lifetimes.
                        "use" if !self.is_at('<') => self.import(&[], source),
                        "mod" => self.module(line, file.take(), source),
                        word => self.word(word, line, source),
                    }
                }
                TokenTree::Group(group) => {
                    self.at += 1;
                    Self::over(group.stream(), false).read(source);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.at += 1,
            }
        }
    }

    fn module(&mut self, line: usize, file: Option<String>, source: &mut Source) {
        let Some(name) = self.take_name() else {
            return;
        };
        let body = match self.take_group() {
            Some(group) => {
                let mut inside = Source::default();
                Self::over(group.stream(), true).read(&mut inside);
                Body::Here(inside)
            }
            None => Body::File(file),
        };
        source.modules.push(Declared { name, line, body });
    }

    fn word(&mut self, word: &str, line: usize, source: &mut Source) {
        const ITEMS: [&str; 8] = [
            "struct", "enum", "union", "trait", "fn", "type", "const", "static",
        ];
        if self.top_level && (ITEMS.contains(&word) || self.is_macro(word)) {
            // `const fn name` is found at its `fn`.
            let name = self.name().filter(|name| name != "fn");
            source.defines.extend(name);
            return;
        }
        let mut path = vec![word.to_owned()];
        path.extend(self.rest_of_path());
        if path.len() > 1 {
            let brings = Brings::Nothing;
            source.mentions.push(Mention { path, brings, line });
        }
    }

    fn is_macro(&mut self, word: &str) -> bool {
        word == "macro_rules" && self.take_punct('!')
    }

    /// One tree of imports after the start of its path, up to its comma or semicolon.
    fn import(&mut self, before: &[String], source: &mut Source) {
        let outside = self.is_at_colons();
        let mut path = before.to_vec();
        let mut brings = None;
        let mut line = 0;
        while !self.is_at(',') && !self.is_at(';') {
            let Some(token) = self.tokens.get(self.at).cloned() else {
                break;
            };
            self.at += 1;
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    brings = Some(Brings::Name(self.take_name().unwrap_or_default()));
                }
                TokenTree::Ident(word) => {
                    line = word.span().start().line;
                    // `path::{self}` imports the last name of the path.
                    if path.is_empty() || word != "self" {
                        path.push(word.to_string());
                    }
                }
                TokenTree::Group(group) if !outside => {
                    Self::over(group.stream(), false).imports(&path, source);
                    return;
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    line = punct.span().start().line;
                    brings = Some(Brings::All);
                }
                TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        if let Some(last) = path.last().filter(|_| !outside) {
            let brings = brings.unwrap_or_else(|| Brings::Name(last.clone()));
            source.mentions.push(Mention { path, brings, line });
        }
    }

    fn imports(mut self, before: &[String], source: &mut Source) {
        while self.at < self.tokens.len() {
            self.import(before, source);
            // The comma.
            self.at += 1;
        }
    }

    /// The names that follow, each after `::`.
    fn rest_of_path(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        while self.is_at_colons() {
            self.at += 2;
            names.extend(self.take_name());
        }
        names
    }

    /// Skips the target of an attribute: an item up to its semicolon or braces; a field, an arm or
    /// a statement up to its comma, its semicolon or its braces.
    fn skip_item(&mut self) {
        const UP_TO_SEMICOLON: [&str; 5] = ["use", "const", "static", "type", "let"];
        const UP_TO_BRACES: [&str; 6] = ["fn", "struct", "enum", "union", "trait", "impl"];
        let (mut has_value, mut has_body) = (false, false);
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    has_value |= UP_TO_SEMICOLON.contains(&word.as_str());
                    has_body |= UP_TO_BRACES.contains(&word.as_str());
                }
                TokenTree::Punct(punct) => match punct.as_char() {
                    ';' => return,
                    ',' if !has_value && !has_body => return,
                    _ => {}
                },
                TokenTree::Group(group) => {
                    let braces = group.delimiter() == Delimiter::Brace;
                    if braces && (has_body || !has_value) {
                        return;
                    }
                }
                TokenTree::Literal(_) => {}
            }
        }
    }

    fn is_at(&self, punct: char) -> bool {
        matches!(self.tokens.get(self.at), Some(TokenTree::Punct(next)) if next.as_char() == punct)
    }

    fn is_at_colons(&self) -> bool {
        matches!(
            self.tokens.get(self.at..self.at + 2),
            Some([TokenTree::Punct(first), TokenTree::Punct(second)])
                if first.as_char() == ':'
                    && first.spacing() == Spacing::Joint
                    && second.as_char() == ':'
        )
    }

    fn take_punct(&mut self, punct: char) -> bool {
        let found = self.is_at(punct);
        self.at += usize::from(found);
        found
    }

    fn name(&self) -> Option<String> {
        match self.tokens.get(self.at) {
            Some(TokenTree::Ident(name)) => Some(name.to_string()),
            _ => None,
        }
    }

    fn take_name(&mut self) -> Option<String> {
        let name = self.name();
        self.at += usize::from(name.is_some());
        name
    }

    fn take_group(&mut self) -> Option<Group> {
        let Some(TokenTree::Group(group)) = self.tokens.get(self.at) else {
            return None;
        };
        self.at += 1;
        Some(group.clone())
    }
}

/// Whether an attribute is `cfg(test)`, `cfg(doctest)`, or `cfg(all(…))` with one of them.
fn is_for_tests(attribute: &Group) -> bool {
    let text = compact(attribute);
    let within = |text: &str, open: &str| {
        let inside = text.strip_prefix(open)?.strip_suffix(')')?;
        Some(inside.to_owned())
    };
    let Some(condition) = within(&text, "cfg(") else {
        return false;
    };
    let all = within(&condition, "all(").unwrap_or(condition);
    all.split(',').any(|one| matches!(one, "test" | "doctest"))
}

/// The file of `path = "…"`.
fn path_attribute(attribute: &Group) -> Option<String> {
    let text = compact(attribute);
    let file = text.strip_prefix("path=\"")?.strip_suffix('"')?;
    Some(file.to_owned())
}

fn compact(group: &Group) -> String {
    group.stream().to_string().replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentions(text: &str) -> Vec<String> {
        let source = read(text).unwrap();
        let shown = source.mentions.iter().map(|mention| {
            let path = mention.path.join("::");
            match &mention.brings {
                Brings::Nothing => path,
                Brings::Name(name) => format!("{path} as {name}"),
                Brings::All => format!("{path}::*"),
            }
        });
        shown.collect()
    }

    #[test]
    fn imports_are_split_into_paths() {
        assert_eq!(
            mentions("pub(crate) use crate::{a::{self, B as C}, d::*}; use super::e;"),
            [
                "crate::a as a",
                "crate::a::B as C",
                "crate::d::*",
                "super::e as e"
            ]
        );
        assert!(mentions("use ::outside::{A, B}; fn a() -> impl B + use<'a> {}").is_empty());
    }

    #[test]
    fn paths_are_found_within_code_types_and_macros() {
        let text = "fn a(b: crate::B) { format!(\"{}\", super::c::D::<self::E>::new()); }";
        assert_eq!(mentions(text), ["crate::B", "super::c::D", "self::E"]);
        assert_eq!(
            mentions("macro_rules! m { () => { $crate::a::b() } }"),
            ["crate::a::b"]
        );
        assert!(mentions("// crate::a::b\nfn a() { \"crate::c\"; ::std::mem::take() }").is_empty());
    }

    #[test]
    fn code_for_tests_is_skipped() {
        for text in [
            "#[cfg(test)] mod tests { use crate::a; }",
            "#[cfg(test)] use crate::{a, b};",
            "#[cfg(all(test, feature = \"f\"))] const A: B = B { c: crate::d::E };",
            "#[cfg(test)] #[inline] fn a<B, C>() { crate::a::b() }",
            "struct A { #[cfg(test)] b: crate::c::D, }",
            "#![cfg(test)] use crate::a;",
        ] {
            assert!(mentions(text).is_empty(), "{text}");
        }
        let text = "#[cfg(test)] fn a() {} #[cfg(not(test))] use crate::b;";
        assert_eq!(mentions(text), ["crate::b as b"]);
    }

    #[test]
    fn modules_and_items_are_found_with_their_lines() {
        let text = "//! Docs.\nmod a;\n#[path = \"other.rs\"]\npub mod b;\n\
            pub const fn c() {}\nimpl D { fn e() {} }\npub mod f { struct G; }\n\
            macro_rules! h { () => {} }";
        let source = read(text).unwrap();
        let found: Vec<_> = source.modules.iter().map(|m| (&*m.name, m.line)).collect();
        assert_eq!(found, [("a", 2), ("b", 4), ("f", 7)]);
        assert!(matches!(&source.modules[1].body, Body::File(Some(file)) if file == "other.rs"));
        assert!(matches!(&source.modules[2].body, Body::Here(f) if f.defines.contains("G")));
        let defines: Vec<_> = source.defines.iter().map(String::as_str).collect();
        assert_eq!(defines, ["c", "h"]);
    }
}
