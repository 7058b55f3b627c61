//! Implements `#[derive(Args)]`: a struct becomes the arguments of a command.

use crate::attrs::{CommandAttrs, Root, doc};
use crate::field::{Field, Shape, fields};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Result};

pub(crate) fn derive(input: &DeriveInput, root: &Root) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        let text = "`Args` is for structs; an enum of words is a field, with `#[derive(Words)]`";
        return Err(Error::new_spanned(&input.ident, text));
    };
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let text = "arguments are owned: a struct of them has no lifetime";
        return Err(Error::new_spanned(lifetime, text));
    }
    let attrs = CommandAttrs::of(&input.attrs)?;
    let fields = fields(&data.fields, &snake(&input.ident.unraw().to_string()))?;
    let spec = spec(input, &attrs, &fields, root)?;
    let parse = parse(&fields, root);
    let construct = construct(&fields);
    let (ident, (generics, ty_generics, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #generics #root::Args for #ident #ty_generics #bounds {
            const SPEC: #root::Spec = #spec;

            #[inline]
            fn parse(
                __args: &mut #root::ArgIter<'_>,
            ) -> ::core::result::Result<Self, #root::Error> {
                #parse
                ::core::result::Result::Ok(Self { #construct })
            }
        }
    })
}

/// The `SPEC` constant: the description of a command with these arguments.
fn spec(
    input: &DeriveInput,
    attrs: &CommandAttrs,
    fields: &[Field],
    root: &Root,
) -> Result<TokenStream> {
    let flags = &attrs.flags;
    let has = |name: &str| attrs.texts.iter().any(|(field, _)| field == name);
    let summary = doc(&input.attrs)
        .filter(|_| !has("summary"))
        .map(|summary| quote!(summary: #summary,));
    // `Spec::EMPTY` has O(1); leave the cost empty if none is stated.
    let complexity = (!has("complexity")).then(|| quote!(complexity: "",));
    let (text_fields, texts) = attrs.texts.iter().cloned().unzip::<_, _, Vec<_>, Vec<_>>();
    let group = attrs
        .group
        .as_ref()
        .map(|group| quote!(group: #root::Group::#group,));
    let arity = arity(fields, root);
    let (keys, args) = keys_and_args(attrs, fields, root)?;
    Ok(quote! {
        #root::Spec {
            #summary
            #complexity
            #(#text_fields: #texts,)*
            #group
            arity: #arity,
            flags: #root::Flags::NONE #(.with(#root::Flags::#flags))*,
            keys: &[#(#keys),*],
            args: &[#(#args),*],
            ..#root::Spec::EMPTY
        }
    })
}

fn arity(fields: &[Field], root: &Root) -> TokenStream {
    let mut count = 1;
    let mut words = Vec::new();
    for field in fields {
        match &field.shape {
            Shape::Required(value) => count += value.width(),
            Shape::RequiredWords(ty) => words.push(ty),
            Shape::Repeated(value) => count += value.width() * field.at_least(),
            Shape::Optional(_) | Shape::Flag | Shape::Words(_) => {}
        }
    }
    let is_exact = fields
        .iter()
        .all(|field| matches!(field.shape, Shape::Required(_)));
    let form = format_ident!("{}", if is_exact { "exactly" } else { "at_least" });
    let count = i16::try_from(count).unwrap_or(i16::MAX);
    quote!(#root::Arity::#form(#count #(+ <#words as #root::Words>::COUNT_MIN as i16)*))
}

type Keys = Vec<TokenStream>;
type Grammar = Vec<TokenStream>;

fn keys_and_args(attrs: &CommandAttrs, fields: &[Field], root: &Root) -> Result<(Keys, Grammar)> {
    let (mut keys, mut args) = (Keys::new(), Grammar::new());
    // The position of the next argument, while it is certain.
    let mut place = Some(1_usize);
    for field in fields {
        let arg = match &field.attrs.key {
            None => arg(field, root),
            Some((span, flags)) => {
                let Some(first) = place.and_then(|place| i16::try_from(place).ok()) else {
                    let text = "a key needs a fixed place: put it before what may be left out";
                    return Err(Error::new(*span, text));
                };
                let key_spec = u8::try_from(keys.len()).unwrap_or(u8::MAX);
                keys.push(key(field, first, flags.as_deref(), attrs, root));
                key_arg(field, key_spec, root)
            }
        };
        let summary = field.attrs.summary.as_ref();
        let summary = summary.map(|summary| quote!(.summary(#summary)));
        args.push(quote!(#arg #summary));
        place = match &field.shape {
            Shape::Required(value) => place.map(|place| place + value.width()),
            _ => None,
        };
    }
    Ok((keys, args))
}

fn key(
    field: &Field,
    first: i16,
    flags: Option<&[syn::Ident]>,
    attrs: &CommandAttrs,
    root: &Root,
) -> TokenStream {
    let spec = match &field.shape {
        Shape::Repeated(value) => {
            let step = i16::try_from(value.width()).unwrap_or(i16::MAX);
            quote!(#root::KeySpec::range(#first, -1, #step))
        }
        _ => quote!(#root::KeySpec::at(#first)),
    };
    match flags {
        Some(flags) => quote!(#spec.flags(&[#(#root::KeyFlag::#flags),*])),
        None if attrs.has_flag("WRITE") => quote!(#spec.update()),
        None => spec,
    }
}

fn key_arg(field: &Field, key_spec: u8, root: &Root) -> TokenStream {
    match &field.shape {
        Shape::Repeated(value) => {
            let arg = value.key_arg(root, key_spec);
            let optional = optional_tail(field);
            quote!(#arg #optional.multiple())
        }
        Shape::Optional(value) => {
            let arg = value.key_arg(root, key_spec);
            quote!(#arg.optional())
        }
        Shape::Required(value) => value.key_arg(root, key_spec),
        Shape::Flag | Shape::Words(_) | Shape::RequiredWords(_) => arg(field, root),
    }
}

/// The grammar of a field, as a constant expression.
fn arg(field: &Field, root: &Root) -> TokenStream {
    let name = &field.name;
    let word = field.attrs.word.as_ref();
    let token = word.map(|word| quote!(.token(#word)));
    match &field.shape {
        Shape::Required(value) => value.arg(root),
        Shape::Optional(value) => {
            let arg = value.arg(root);
            quote!(#arg #token.optional())
        }
        Shape::Flag => quote!(#root::Arg::word(#name, #word).optional()),
        Shape::Repeated(value) => {
            let arg = value.arg(root);
            if word.is_some() {
                quote!(#arg #token.optional().multiple_token())
            } else {
                let optional = optional_tail(field);
                quote!(#arg #optional.multiple())
            }
        }
        Shape::Words(ty) => {
            quote!(#root::Arg::one_of(#name, <#ty as #root::Words>::CHOICES).optional())
        }
        Shape::RequiredWords(ty) => {
            quote!(#root::Arg::one_of(#name, <#ty as #root::Words>::CHOICES))
        }
    }
}

fn optional_tail(field: &Field) -> Option<TokenStream> {
    (field.at_least() == 0).then(|| quote!(.optional()))
}

/// The statements that parse each field into its variable.
fn parse(fields: &[Field], root: &Root) -> TokenStream {
    let mut statements = TokenStream::new();
    let runs = fields.chunk_by(|a, b| a.is_by_word() && b.is_by_word());
    for run in runs {
        statements.extend(match run {
            [field] if !field.is_by_word() => parse_by_position(field, root),
            fields => parse_by_word(fields, root),
        });
    }
    statements
}

fn parse_by_position(field: &Field, root: &Root) -> TokenStream {
    let var = &field.var;
    match &field.shape {
        Shape::Required(value) => {
            let take = value.take(root);
            quote!(let #var = #take;)
        }
        Shape::Optional(value) => {
            let take = value.take(root);
            quote! {
                let #var = if __args.peek().is_some() {
                    ::core::option::Option::Some(#take)
                } else {
                    ::core::option::Option::None
                };
            }
        }
        Shape::RequiredWords(ty) => quote! {
            let ::core::option::Option::Some(#var) = __args.words::<#ty>()? else {
                return ::core::result::Result::Err(#root::text::SYNTAX);
            };
        },
        Shape::Repeated(value) => {
            let (take, width) = (value.take(root), value.width());
            let at_least = field.at_least();
            let check = (at_least > 0).then(|| {
                quote! {
                    if #var.len() < #at_least {
                        return ::core::result::Result::Err(#root::text::SYNTAX);
                    }
                }
            });
            quote! {
                let mut #var = #root::__derive::Vec::with_capacity(__args.left().len() / #width);
                while __args.peek().is_some() {
                    #var.push(#take);
                }
                #check
            }
        }
        Shape::Flag | Shape::Words(_) => parse_by_word(std::slice::from_ref(field), root),
    }
}

/// Parses words in any order, each once unless it may repeat.
fn parse_by_word(fields: &[Field], root: &Root) -> TokenStream {
    let none = quote!(::core::option::Option::None);
    let some = quote!(::core::option::Option::Some);
    let (mut variables, mut branches) = (TokenStream::new(), TokenStream::new());
    for field in fields {
        let (var, word) = (&field.var, &field.attrs.word);
        let (variable, branch) = match &field.shape {
            Shape::Flag => (
                quote!(let mut #var = false;),
                quote!(if !#var && __args.word(#word) { #var = true; continue; }),
            ),
            Shape::Repeated(value) => {
                let take = value.take(root);
                (
                    quote!(let mut #var = #root::__derive::Vec::new();),
                    quote!(if __args.word(#word) { #var.push(#take); continue; }),
                )
            }
            Shape::Words(ty) => (
                quote!(let mut #var = #none;),
                quote_spanned! {field.span=>
                    if #var.is_none() {
                        #var = __args.words::<#ty>()?;
                        if #var.is_some() {
                            continue;
                        }
                    }
                },
            ),
            Shape::Optional(value) | Shape::Required(value) => {
                let (ty, take) = (value.ty(), value.take(root));
                (
                    quote!(let mut #var: ::core::option::Option<#ty> = #none;),
                    quote!(if #var.is_none() && __args.word(#word) { #var = #some(#take); continue; }),
                )
            }
            Shape::RequiredWords(_) => continue,
        };
        variables.extend(variable);
        branches.extend(branch);
    }
    quote! {
        #variables
        while __args.peek().is_some() {
            #branches
            break;
        }
    }
}

/// The fields of the struct expression.
fn construct(fields: &[Field]) -> TokenStream {
    let fields = fields.iter().map(|field| {
        let (member, var) = (&field.member, &field.var);
        match (&field.shape, field.default()) {
            (Shape::Optional(_) | Shape::Words(_), Some(Some(value))) => {
                quote!(#member: #var.unwrap_or_else(|| #value))
            }
            (Shape::Optional(_) | Shape::Words(_), Some(None)) => {
                quote!(#member: #var.unwrap_or_default())
            }
            (Shape::Repeated(_), _) => quote!(#member: ::core::convert::Into::into(#var)),
            _ => quote!(#member: #var),
        }
    });
    quote!(#(#fields),*)
}

/// The name of a tuple struct's only field: the struct's name in snake case.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
