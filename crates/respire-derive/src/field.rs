//! A field of a struct of arguments: its form, and its place in the order.

use crate::attrs::FieldAttrs;
use crate::value::{Value, inside, is_named};
use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{Error, Expr, Fields, LitStr, Member, Result, Type};

/// A field of a struct of arguments.
pub(crate) struct Field {
    pub(crate) member: Member,
    /// The variable that the field is parsed into.
    pub(crate) var: Ident,
    /// Its name in replies and documents.
    pub(crate) name: String,
    pub(crate) attrs: FieldAttrs,
    pub(crate) shape: Shape,
    pub(crate) span: Span,
}

/// The form of a field.
pub(crate) enum Shape {
    /// A required value.
    Required(Value),
    /// An optional value: found by its word, or by its position.
    Optional(Value),
    /// A word without a value.
    Flag,
    /// Values: each after its word, or all remaining arguments.
    Repeated(Value),
    /// One of the words of an enum, or none.
    Words(Type),
    /// One of the words of an enum.
    RequiredWords(Type),
}

impl Field {
    /// Whether it is found by a word, in any order with its neighbours.
    pub(crate) fn is_by_word(&self) -> bool {
        self.attrs.word.is_some() || matches!(self.shape, Shape::Words(_))
    }

    /// Whether it takes all remaining arguments.
    pub(crate) fn is_tail(&self) -> bool {
        !self.is_by_word() && matches!(self.shape, Shape::Repeated(_))
    }

    /// Whether it is required.
    pub(crate) fn is_required(&self) -> bool {
        matches!(self.shape, Shape::Required(_) | Shape::RequiredWords(_))
    }

    /// The least number of values of a tail.
    pub(crate) fn at_least(&self) -> usize {
        let count = self.attrs.at_least.as_ref();
        count.map_or(0, |count| count.base10_parse().unwrap_or(0))
    }

    /// The value of an omitted argument, unless the field is an `Option`.
    pub(crate) fn default(&self) -> Option<Option<&Expr>> {
        let (_, value) = self.attrs.default.as_ref()?;
        Some(value.as_ref())
    }

    fn new(at: usize, field: &syn::Field, alone: Option<&str>) -> Result<Self> {
        let attrs = FieldAttrs::of(&field.attrs)?;
        let (member, name) = match (&field.ident, alone) {
            (Some(ident), _) => (Member::Named(ident.clone()), ident.to_string()),
            (None, Some(name)) => (Member::from(at), name.to_owned()),
            (None, None) => (Member::from(at), format!("arg_{}", at + 1)),
        };
        let name = attrs.name.as_ref().map_or(name, LitStr::value);
        let name = name.trim_start_matches("r#").to_owned();
        let shape = shape(&field.ty, &name, &attrs)?;
        let field = Self {
            member,
            var: format_ident!("__field_{at}"),
            name,
            attrs,
            shape,
            span: field.ty.span(),
        };
        field.check()?;
        Ok(field)
    }

    /// Refuses attributes that have no meaning for this form.
    fn check(&self) -> Result<()> {
        let attrs = &self.attrs;
        match &self.shape {
            Shape::Required(_) => attrs.refuse(&["at_least"], "is for a `Vec` or `Rest`"),
            Shape::Optional(_) => attrs.refuse(&["at_least"], "is for a `Vec` or `Rest`"),
            Shape::Flag => {
                let why = "means nothing for a word that stands alone";
                attrs.refuse(&["min", "max", "at_least", "default", "key"], why)
            }
            Shape::Repeated(_) => {
                attrs.refuse(
                    &["default"],
                    "means nothing here: none left out is an empty list",
                )?;
                if attrs.word.is_some() {
                    attrs.refuse(&["at_least"], "is for what stands last, without a word")?;
                }
                Ok(())
            }
            Shape::Words(_) | Shape::RequiredWords(_) => {
                let why = "belongs on the variants of the enum of words";
                attrs.refuse(&["min", "max", "at_least", "word", "key"], why)
            }
        }?;
        if attrs.word.is_some() {
            attrs.refuse(
                &["key"],
                "needs a fixed place: a key is not found by a word",
            )?;
        }
        Ok(())
    }
}

fn shape(ty: &Type, name: &str, attrs: &FieldAttrs) -> Result<Shape> {
    let optional = inside(ty, "Option");
    if attrs.words.is_some() {
        return Ok(match optional {
            Some(ty) => Shape::Words(ty.clone()),
            None if attrs.default.is_some() => Shape::Words(ty.clone()),
            None => Shape::RequiredWords(ty.clone()),
        });
    }
    if let Some(ty) = optional {
        attrs.refuse(
            &["default"],
            "and `Option` say two things: take one of them",
        )?;
        return Ok(Shape::Optional(Value::new(ty, name, attrs)?));
    }
    if is_named(ty, "bool") && attrs.word.is_some() {
        return Ok(Shape::Flag);
    }
    let repeated =
        inside(ty, "Rest").or_else(|| inside(ty, "Vec").filter(|inside| !is_named(inside, "u8")));
    if let Some(ty) = repeated {
        return Ok(Shape::Repeated(Value::new(ty, name, attrs)?));
    }
    let value = Value::new(ty, name, attrs)?;
    if attrs.default.is_some() {
        return Ok(Shape::Optional(value));
    }
    if let Some(word) = &attrs.word {
        return Err(Error::new(
            word.span(),
            "what a word introduces may be left out: make the field an `Option`, a `bool` or a \
             `Vec`, or give it a `default`",
        ));
    }
    Ok(Shape::Required(value))
}

/// The fields of a struct, checked one by one and for their order.
pub(crate) fn fields(fields: &Fields, alone: &str) -> Result<Vec<Field>> {
    let alone = (fields.len() == 1).then_some(alone);
    let mut all = Vec::new();
    let mut errors: Option<Error> = None;
    for (at, field) in fields.iter().enumerate() {
        match Field::new(at, field, alone) {
            Ok(field) => all.push(field),
            Err(error) => match &mut errors {
                Some(errors) => errors.combine(error),
                None => errors = Some(error),
            },
        }
    }
    match errors {
        Some(errors) => Err(errors),
        None => check_order(&all).map(|()| all),
    }
}

/// Refuses an order of fields that makes their arguments ambiguous.
fn check_order(fields: &[Field]) -> Result<()> {
    let mut tail: Option<&Field> = None;
    let mut optional: Option<&Field> = None;
    let mut words: Vec<String> = Vec::new();
    for field in fields {
        if let Some(tail) = tail {
            let text = if field.is_tail() {
                "only one field can take the rest of the arguments, and it stands last".to_owned()
            } else {
                format!(
                    "`{}` takes the rest of the arguments: nothing is left for this",
                    tail.name
                )
            };
            return Err(Error::new(field.span, text));
        }
        if let Some(optional) = optional.filter(|_| field.is_required() || field.is_by_word()) {
            let text = format!(
                "`{}` may be left out, so what follows it must be without a word and may be left \
                 out as well; put this field before it",
                optional.name
            );
            return Err(Error::new(field.span, text));
        }
        if let Some(word) = &field.attrs.word {
            let upper = word.value().to_ascii_uppercase();
            if words.contains(&upper) {
                return Err(Error::new(word.span(), "two fields have this word"));
            }
            words.push(upper);
        }
        if field.is_tail() {
            tail = Some(field);
        } else if !field.is_by_word() && !field.is_required() {
            optional = Some(field);
        }
    }
    Ok(())
}
