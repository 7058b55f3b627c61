//! The derive macros of Respire: a struct becomes the arguments of a command, an enum a choice of
//! words that exclude each other.
//!
//! `respire` and `respire-engine` (feature `derive`) re-export them with the traits they implement;
//! you need not depend on this crate.
//!
//! What they deliberately do not do: they know no protocol and no server. From one declaration they
//! write the description for `COMMAND` and the parser that matches it.

mod args;
mod attrs;
mod field;
mod value;
mod words;

use attrs::Root;
use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct the arguments of a command: its fields are parsed in the order of declaration.
///
/// ```
/// use respire_engine::{Args, Arity, Bytes, Words};
///
/// /// Sets a key.
/// #[derive(Args)]
/// #[args(write, denyoom, complexity = "O(1)")]
/// struct Set {
///     #[arg(key)]
///     key: Bytes,
///     value: Bytes,
///     /// Set the key only if it exists, or only if it does not.
///     #[arg(words)]
///     condition: Option<Condition>,
///     #[arg(words)]
///     expiry: Option<Expiry>,
///     #[arg(word = "GET")]
///     get: bool,
/// }
///
/// #[derive(Words)]
/// enum Condition {
///     Nx,
///     Xx,
/// }
///
/// #[derive(Words)]
/// enum Expiry {
///     #[arg(name = "seconds")]
///     Ex(#[arg(min = 1)] i64),
///     #[arg(name = "milliseconds")]
///     Px(#[arg(min = 1)] i64),
///     KeepTtl,
/// }
///
/// assert_eq!(Set::SPEC.arity, Arity::at_least(3));
/// assert_eq!(Set::SPEC.summary, "Sets a key.");
/// assert_eq!(Set::SPEC.keys.len(), 1);
/// ```
///
/// # Fields
/// | field | takes |
/// |---|---|
/// | `T` | one argument, required |
/// | `Option<T>`, `T` with `default` | one argument, if one is left |
/// | `Option<T>`, `T` with `default`, and `word` | the word and one argument, if the word is present |
/// | `bool` with `word` | the word, if it is present |
/// | `Vec<T>`, `Rest<T>` | all remaining arguments |
/// | `Vec<T>` with `word` | the word and one argument, as often as the word occurs |
/// | `Option<E>` with `words` | one of the words of `E` and its arguments, if one is present |
/// | `E` with `words` | the same, required |
///
/// `T` is any type that implements `FromArg` (`Vec<u8>` is one argument), or a tuple of such types,
/// which takes as many arguments. Neighbouring fields with a word come in any order, each once.
///
/// # Attributes of a field: `#[arg(..)]`
/// * `key`, `key = "OW insert"`: the argument is a key, with these flags in Redis's spelling. By
///   default the key is read, and in a `write` command updated.
/// * `word = "BURST"`, `words`: see above; words match in any case.
/// * `min = 1`, `max = 10`: the inclusive limits of a number.
/// * `default`, `default = 5`: the value of an omitted argument.
/// * `at_least = 1`: the least number of values of a `Vec` or `Rest`.
/// * `name = "n"`: its name in replies and `COMMAND DOCS`, instead of the field's name; a tuple names
///   each of its parts, as in `name = "field value"`.
///
/// # Attributes of the struct: `#[args(..)]`
/// * Flags: `write`, `readonly`, `fast`, `denyoom`, `admin`, `blocking`, `no_auth`, `no_multi`,
///   `noscript`, `loading`, `stale`, `skip_monitor`, `skip_slowlog`, `allow_busy`, `all_keys`,
///   `pubsub`, `pipelined`, `constant`. Every call is timed for the slow log, unless the command is
///   `constant`, which declares the same cost for every call: then one of 128 is timed, after the
///   first 10,000.
/// * `summary = ".."`, if it is not the first paragraph of the doc comment; `since = ".."`;
///   `complexity = ".."`; `group = "string"`.
#[proc_macro_derive(Args, attributes(args, arg))]
pub fn args(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    answer(args::derive(&input, &Root(quote!(::respire))))
}

/// The same macro for users of `respire-engine` without `respire`. `respire-engine` re-exports it
/// as `Args`.
#[doc(hidden)]
#[proc_macro_derive(EngineArgs, attributes(args, arg))]
pub fn engine_args(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    answer(args::derive(&input, &Root(quote!(::respire_engine))))
}

/// Makes an enum a choice of words that exclude each other: each variant is its name in upper case,
/// or `#[arg(word = "..")]`, followed by one argument for each of its fields.
///
/// An enum whose variants have no fields can also be the type of an argument.
///
/// ```
/// use respire_engine::{Args, FromArg, Words};
///
/// #[derive(Debug, PartialEq, Words)]
/// enum Unit {
///     #[arg(word = "M")]
///     Metres,
///     Km,
/// }
/// assert_eq!(Unit::from_arg(b"km"), Ok(Unit::Km));
///
/// #[derive(Args)]
/// struct Distance {
///     length: f64,
///     unit: Unit,
/// }
/// assert_eq!(Distance::SPEC.args[1].parts.len(), 2);
/// ```
///
/// A variant's attributes are `word` and `name`; those of its fields `name`, `min` and `max`; see
/// [`Args`](macro@Args).
#[proc_macro_derive(Words, attributes(arg))]
pub fn words(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    answer(words::derive(&input, &Root(quote!(::respire))))
}

/// The same macro for users of `respire-engine` without `respire`. `respire-engine` re-exports it
/// as `Words`.
#[doc(hidden)]
#[proc_macro_derive(EngineWords, attributes(arg))]
pub fn engine_words(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    answer(words::derive(&input, &Root(quote!(::respire_engine))))
}

fn answer(derived: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    derived
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
