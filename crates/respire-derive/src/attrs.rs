//! Parses the attributes `#[args(..)]` of a struct, `#[arg(..)]` of a field or variant, and doc
//! comments.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Ident, Lit, LitInt, LitStr, Meta, Result};

/// The content of `#[args(..)]`.
#[derive(Default)]
pub(crate) struct CommandAttrs {
    /// Constants of `Flags`.
    pub(crate) flags: Vec<Ident>,
    /// Fields of `Spec` and their values.
    pub(crate) texts: Vec<(Ident, LitStr)>,
    /// A variant of `Group`.
    pub(crate) group: Option<Ident>,
}

/// The flags, named as in `COMMAND INFO`, or as in Respire for its own flags.
const FLAGS: [&str; 18] = [
    "write",
    "readonly",
    "denyoom",
    "admin",
    "pubsub",
    "noscript",
    "blocking",
    "loading",
    "stale",
    "skip_monitor",
    "skip_slowlog",
    "fast",
    "no_auth",
    "allow_busy",
    "no_multi",
    "all_keys",
    "pipelined",
    "constant",
];
const TEXTS: [&str; 3] = ["summary", "since", "complexity"];
const GROUPS: [(&str, &str); 7] = [
    ("generic", "Generic"),
    ("string", "String"),
    ("bitmap", "Bitmap"),
    ("connection", "Connection"),
    ("server", "Server"),
    ("transactions", "Transactions"),
    ("pubsub", "PubSub"),
];

impl CommandAttrs {
    pub(crate) fn of(attrs: &[Attribute]) -> Result<Self> {
        let mut all = Self::default();
        each_meta(attrs, "args", |meta| all.read(meta))?;
        Ok(all)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = name_of(meta)?;
        if FLAGS.contains(&name.as_str()) {
            let flag = Ident::new(&name.to_uppercase(), meta.path.span());
            self.flags.push(flag);
            return Ok(());
        }
        if TEXTS.contains(&name.as_str()) {
            let text = meta.value()?.parse()?;
            self.texts.push((Ident::new(&name, meta.path.span()), text));
            return Ok(());
        }
        if name != "group" {
            let all = [&FLAGS[..], &TEXTS[..], &["group"]].concat().join("`, `");
            return Err(meta.error(format!("`args` takes one of `{all}`, not `{name}`")));
        }
        let group: LitStr = meta.value()?.parse()?;
        let found = GROUPS.iter().find(|(name, _)| *name == group.value());
        let Some((_, variant)) = found else {
            let all = GROUPS.map(|(name, _)| name).join("`, `");
            return Err(Error::new(
                group.span(),
                format!("a group is one of `{all}`"),
            ));
        };
        self.group = Some(Ident::new(variant, group.span()));
        Ok(())
    }

    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }
}

/// The flags of a key, named as in `COMMAND INFO`.
const KEY_FLAGS: [(&str, &str); 10] = [
    ("RO", "Ro"),
    ("RW", "Rw"),
    ("OW", "Ow"),
    ("RM", "Rm"),
    ("access", "Access"),
    ("update", "Update"),
    ("insert", "Insert"),
    ("delete", "Delete"),
    ("incomplete", "Incomplete"),
    ("variable_flags", "VariableFlags"),
];

fn key_flags(names: &LitStr) -> Result<Vec<Ident>> {
    let flag = |name: &str| {
        let known = KEY_FLAGS.iter().find(|(known, _)| *known == name);
        let known = known.map(|(_, flag)| Ident::new(flag, names.span()));
        known.ok_or_else(|| Error::new(names.span(), format!("there is no flag `{name}` of a key")))
    };
    names.value().split_whitespace().map(flag).collect()
}

/// The content of `#[arg(..)]` of a field or variant.
#[derive(Default)]
pub(crate) struct FieldAttrs {
    /// The key, and its flags, named as in `KeyFlag`.
    pub(crate) key: Option<(Span, Option<Vec<Ident>>)>,
    pub(crate) word: Option<LitStr>,
    pub(crate) words: Option<Span>,
    pub(crate) name: Option<LitStr>,
    pub(crate) min: Option<Expr>,
    pub(crate) max: Option<Expr>,
    /// The value of an omitted argument; `None` inside means the type's own default.
    pub(crate) default: Option<(Span, Option<Expr>)>,
    pub(crate) at_least: Option<LitInt>,
    pub(crate) summary: Option<String>,
}

impl FieldAttrs {
    pub(crate) fn of(attrs: &[Attribute]) -> Result<Self> {
        let mut all = Self {
            summary: doc(attrs),
            ..Self::default()
        };
        each_meta(attrs, "arg", |meta| all.read(meta))?;
        Ok(all)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let has_value = meta.input.peek(syn::Token![=]);
        match name_of(meta)?.as_str() {
            "key" => {
                let flags = has_value
                    .then(|| key_flags(&meta.value()?.parse()?))
                    .transpose()?;
                set(&mut self.key, (meta.path.span(), flags), meta)
            }
            "default" => {
                let value = has_value.then(|| meta.value()?.parse()).transpose()?;
                set(&mut self.default, (meta.path.span(), value), meta)
            }
            "words" => set(&mut self.words, meta.path.span(), meta),
            "word" => {
                let word: LitStr = meta.value()?.parse()?;
                if word.value().is_empty() || word.value().contains(char::is_whitespace) {
                    return Err(Error::new(
                        word.span(),
                        "a word is not empty and has no blanks",
                    ));
                }
                set(&mut self.word, word, meta)
            }
            "name" => set(&mut self.name, meta.value()?.parse()?, meta),
            "min" => set(&mut self.min, meta.value()?.parse()?, meta),
            "max" => set(&mut self.max, meta.value()?.parse()?, meta),
            "at_least" => set(&mut self.at_least, meta.value()?.parse()?, meta),
            other => Err(meta.error(format!(
                "`arg` takes one of `key`, `word`, `words`, `name`, `min`, `max`, `default`, \
                 `at_least`, not `{other}`"
            ))),
        }
    }

    /// Refuses attributes that have no meaning here; `why` is the reason in the error.
    pub(crate) fn refuse(&self, names: &[&str], why: &str) -> Result<()> {
        let spans = [
            ("key", self.key.as_ref().map(|(span, _)| *span)),
            ("word", self.word.as_ref().map(LitStr::span)),
            ("words", self.words),
            ("min", self.min.as_ref().map(Spanned::span)),
            ("max", self.max.as_ref().map(Spanned::span)),
            ("default", self.default.as_ref().map(|(span, _)| *span)),
            ("at_least", self.at_least.as_ref().map(LitInt::span)),
        ];
        let refused = spans
            .into_iter()
            .filter(|(name, _)| names.contains(name))
            .find_map(|(name, span)| Some((name, span?)));
        match refused {
            Some((name, span)) => Err(Error::new(span, format!("`{name}` {why}"))),
            None => Ok(()),
        }
    }
}

fn set<T>(slot: &mut Option<T>, value: T, meta: &ParseNestedMeta<'_>) -> Result<()> {
    if slot.replace(value).is_some() {
        return Err(meta.error("given twice"));
    }
    Ok(())
}

fn name_of(meta: &ParseNestedMeta<'_>) -> Result<String> {
    match meta.path.get_ident() {
        Some(ident) => Ok(ident.to_string()),
        None => Err(meta.error("expected a name")),
    }
}

fn each_meta(
    attrs: &[Attribute],
    name: &str,
    mut read: impl FnMut(&ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let ours = attrs.iter().filter(|attr| attr.path().is_ident(name));
    for attr in ours {
        attr.parse_nested_meta(|meta| read(&meta))?;
    }
    Ok(())
}

/// The first paragraph of a doc comment, on one line.
pub(crate) fn doc(attrs: &[Attribute]) -> Option<String> {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(expr) => match &expr.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    // Each line of a line comment is an attribute of its own; a block comment is one attribute with
    // many lines.
    let lines: Vec<String> = lines
        .flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let text: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    (!text.is_empty()).then(|| text.join(" "))
}

/// The path to the crate that the generated code refers to.
#[derive(Clone)]
pub(crate) struct Root(pub(crate) TokenStream);

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
