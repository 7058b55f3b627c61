//! A value of a field: one argument, or several as a tuple.

use crate::attrs::{FieldAttrs, Root};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, GenericArgument, PathArguments, Result, Type};

/// A type that one argument is parsed into, or a tuple of such types.
pub(crate) struct Value {
    /// The type itself, and the parts of a tuple with their names.
    ty: Type,
    parts: Option<Vec<(Type, String)>>,
    name: String,
    min: Option<Expr>,
    max: Option<Expr>,
}

impl Value {
    pub(crate) fn new(ty: &Type, name: &str, attrs: &FieldAttrs) -> Result<Self> {
        if let Type::Reference(_) = ty {
            return Err(Error::new_spanned(
                ty,
                "arguments are owned: make it `Bytes`, `String` or `Vec<u8>`",
            ));
        }
        let parts = match ty {
            Type::Tuple(tuple) if !tuple.elems.is_empty() => {
                attrs.refuse(&["min", "max"], "is for a single argument, not for a tuple")?;
                let name = |at: usize| format!("{name}_{}", at + 1);
                let parts = tuple.elems.iter().enumerate();
                Some(parts.map(|(at, ty)| (ty.clone(), name(at))).collect())
            }
            _ => None,
        };
        let mut name = name.to_owned();
        let mut parts: Option<Vec<(Type, String)>> = parts;
        // The name of a tuple may list the names of its parts: `name = "field value"`.
        if let (Some(parts), Some(given)) = (&mut parts, &attrs.name) {
            let given_names: Vec<String> = given
                .value()
                .split_whitespace()
                .map(str::to_owned)
                .collect();
            if given_names.len() == parts.len() {
                name = given_names.join("-");
                for (part, given) in parts.iter_mut().zip(given_names) {
                    part.1 = given;
                }
            }
        }
        Ok(Self {
            ty: ty.clone(),
            parts,
            name,
            min: attrs.min.clone(),
            max: attrs.max.clone(),
        })
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    /// The number of arguments.
    pub(crate) fn width(&self) -> usize {
        self.parts.as_ref().map_or(1, Vec::len)
    }

    /// The expression that takes the value from `__args`.
    pub(crate) fn take(&self, root: &Root) -> TokenStream {
        if let Some(parts) = &self.parts {
            let takes = parts.iter().map(|(ty, name)| take_one(ty, name));
            return quote!((#(#takes,)*));
        }
        let (ty, name) = (&self.ty, &self.name);
        let take = take_one(ty, name);
        if self.min.is_none() && self.max.is_none() {
            return take;
        }
        let bound = |bound: &Option<Expr>| match bound {
            Some(bound) => quote!(::core::option::Option::Some(#bound)),
            None => quote!(::core::option::Option::None),
        };
        let (min, max) = (bound(&self.min), bound(&self.max));
        quote!(#root::__derive::within::<#ty>(#take, #min, #max, #name)?)
    }

    /// The grammar of the value, as a constant expression.
    pub(crate) fn arg(&self, root: &Root) -> TokenStream {
        let name = &self.name;
        match &self.parts {
            None => one_arg(root, &self.ty, name),
            Some(parts) => {
                let parts = parts.iter().map(|(ty, name)| one_arg(root, ty, name));
                quote!(#root::Arg::block(#name, &[#(#parts),*]))
            }
        }
    }

    /// The same for a value that is a key or begins with one.
    pub(crate) fn key_arg(&self, root: &Root, key_spec: u8) -> TokenStream {
        let name = &self.name;
        match &self.parts {
            None => quote!(#root::Arg::key(#name, #key_spec)),
            Some(parts) => {
                let key = &parts[0].1;
                let others = parts[1..].iter().map(|(ty, name)| one_arg(root, ty, name));
                quote!(#root::Arg::block(#name, &[#root::Arg::key(#key, #key_spec) #(, #others)*]))
            }
        }
    }
}

fn take_one(ty: &Type, name: &str) -> TokenStream {
    quote_spanned!(ty.span()=> __args.required::<#ty>(#name)?)
}

fn one_arg(root: &Root, ty: &Type, name: &str) -> TokenStream {
    let of = quote_spanned!(ty.span()=> <#ty as #root::FromArg>);
    quote!(#root::Arg { parts: #of::CHOICES, ..#root::Arg::new(#name, #of::KIND) })
}

/// The type inside `Wrapper<T>`, for a wrapper of this name.
pub(crate) fn inside<'t>(ty: &'t Type, wrapper: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    if last.ident != wrapper || arguments.args.len() != 1 {
        return None;
    }
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Whether a type is written with this one name, after any path.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == name && last.arguments.is_none())
        }
        _ => false,
    }
}
