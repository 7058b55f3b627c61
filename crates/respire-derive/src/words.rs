//! Implements `#[derive(Words)]`: an enum becomes a choice of words that exclude each other.

use crate::attrs::{FieldAttrs, Root};
use crate::value::Value;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, LitStr, Member, Result, Variant};

/// A variant: its word, and the values after it.
struct Choice<'i> {
    variant: &'i Variant,
    word: String,
    name: String,
    summary: Option<String>,
    values: Vec<(Member, Value)>,
}

impl<'i> Choice<'i> {
    fn new(variant: &'i Variant) -> Result<Self> {
        let attrs = FieldAttrs::of(&variant.attrs)?;
        let why = "belongs on what follows the word";
        attrs.refuse(&["key", "words", "min", "max", "default", "at_least"], why)?;
        let ident = variant.ident.unraw().to_string();
        let lower = ident.to_lowercase();
        let name = attrs.name.as_ref().map_or(lower, LitStr::value);
        let values = variant.fields.iter().enumerate().map(|(at, field)| {
            let attrs = FieldAttrs::of(&field.attrs)?;
            let why = "is for a field of a struct of arguments";
            attrs.refuse(&["key", "word", "words", "default", "at_least"], why)?;
            let member = match &field.ident {
                Some(ident) => Member::Named(ident.clone()),
                None => Member::from(at),
            };
            let field_name = match (&attrs.name, &field.ident) {
                (Some(name), _) => name.value(),
                (None, Some(ident)) => ident.unraw().to_string(),
                (None, None) if variant.fields.len() == 1 => name.clone(),
                (None, None) => format!("{name}_{}", at + 1),
            };
            Ok((member, Value::new(&field.ty, &field_name, &attrs)?))
        });
        Ok(Self {
            variant,
            word: attrs
                .word
                .as_ref()
                .map_or_else(|| ident.to_uppercase(), LitStr::value),
            values: values.collect::<Result<_>>()?,
            name,
            summary: attrs.summary,
        })
    }

    fn arg(&self, root: &Root) -> TokenStream {
        let (name, word) = (&self.name, &self.word);
        let arg = match &self.values[..] {
            [] => quote!(#root::Arg::word(#name, #word)),
            [(_, value)] => {
                let arg = value.arg(root);
                quote!(#arg.token(#word))
            }
            values => {
                let parts = values.iter().map(|(_, value)| value.arg(root));
                quote!(#root::Arg::block(#name, &[#(#parts),*]).token(#word))
            }
        };
        let summary = self.summary.as_ref();
        let summary = summary.map(|summary| quote!(.summary(#summary)));
        quote!(#arg #summary)
    }

    fn take(&self, root: &Root) -> TokenStream {
        let (ident, word) = (&self.variant.ident, &self.word);
        let values = self.values.iter().map(|(member, value)| {
            let take = value.take(root);
            quote!(#member: #take)
        });
        quote! {
            if __args.word(#word) {
                return ::core::result::Result::Ok(::core::option::Option::Some(
                    Self::#ident { #(#values),* },
                ));
            }
        }
    }

    fn width(&self) -> usize {
        1 + self
            .values
            .iter()
            .map(|(_, value)| value.width())
            .sum::<usize>()
    }
}

pub(crate) fn derive(input: &DeriveInput, root: &Root) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        let text = "`Words` is for enums; a struct of arguments has `#[derive(Args)]`";
        return Err(Error::new_spanned(&input.ident, text));
    };
    let choices = choices(input, data)?;
    let args = choices.iter().map(|choice| choice.arg(root));
    let takes = choices.iter().map(|choice| choice.take(root));
    let count_min = choices.iter().map(Choice::width).min().unwrap_or(1);
    let from_arg = from_arg(input, &choices, root);
    let (ident, (generics, ty_generics, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #generics #root::Words for #ident #ty_generics #bounds {
            const CHOICES: &'static [#root::Arg] = &[#(#args),*];
            const COUNT_MIN: usize = #count_min;

            fn take(
                __args: &mut #root::ArgIter<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, #root::Error> {
                #(#takes)*
                ::core::result::Result::Ok(::core::option::Option::None)
            }
        }
        #from_arg
    })
}

fn choices<'i>(input: &DeriveInput, data: &'i DataEnum) -> Result<Vec<Choice<'i>>> {
    if data.variants.is_empty() {
        return Err(Error::new_spanned(
            &input.ident,
            "an enum of words has at least one",
        ));
    }
    let choices: Vec<Choice<'_>> = data
        .variants
        .iter()
        .map(Choice::new)
        .collect::<Result<_>>()?;
    for (at, choice) in choices.iter().enumerate() {
        let is_taken = |earlier: &Choice<'_>| earlier.word.eq_ignore_ascii_case(&choice.word);
        if choices[..at].iter().any(is_taken) {
            let text = format!("two variants have the word `{}`", choice.word);
            return Err(Error::new_spanned(choice.variant, text));
        }
    }
    Ok(choices)
}

/// If no word has values, the enum is also the type of an argument.
fn from_arg(input: &DeriveInput, choices: &[Choice<'_>], root: &Root) -> Option<TokenStream> {
    let are_bare = choices
        .iter()
        .all(|choice| matches!(choice.variant.fields, Fields::Unit));
    if !are_bare {
        return None;
    }
    let branches = choices.iter().map(|choice| {
        let (ident, word) = (choice.variant.ident.to_token_stream(), &choice.word);
        quote! {
            if __arg.eq_ignore_ascii_case(#word.as_bytes()) {
                return ::core::result::Result::Ok(Self::#ident);
            }
        }
    });
    let (ident, (generics, ty_generics, bounds)) = (&input.ident, input.generics.split_for_impl());
    Some(quote! {
        #[automatically_derived]
        impl #generics #root::FromArg for #ident #ty_generics #bounds {
            const KIND: #root::ArgKind = #root::ArgKind::OneOf;
            const CHOICES: &'static [#root::Arg] = <Self as #root::Words>::CHOICES;

            fn from_arg(__arg: &[u8]) -> ::core::result::Result<Self, #root::ArgError> {
                #(#branches)*
                ::core::result::Result::Err(#root::ArgError::SYNTAX)
            }
        }
    })
}
