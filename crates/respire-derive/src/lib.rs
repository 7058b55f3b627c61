//! The derive macros of Respire: a struct as the arguments of a command, and an enum as words that
//! exclude each other.
//!
//! They are re-exported by `respire` and by `respire-engine` (feature `derive`) beside the traits
//! they implement; nobody needs this crate by itself.
//!
//! What they deliberately do not do: they know no protocol and no server. They write the
//! description that `COMMAND` tells and the parser that goes with it, from one declaration.

mod args;
mod attrs;
mod field;
mod value;
mod words;

use attrs::Root;
use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct the arguments of a command: its fields are taken in the order they stand.
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
///     /// Only if the key is there, or is not.
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
/// | `T` | one argument, which must be there |
/// | `Option<T>`, `T` with `default` | one argument, if there is one left |
/// | `Option<T>`, `T` with `default`, and `word` | the word and one argument, if the word comes |
/// | `bool` with `word` | the word, if it comes |
/// | `Vec<T>`, `Rest<T>` | all arguments that are left |
/// | `Vec<T>` with `word` | the word and one argument, as often as the word comes |
/// | `Option<E>` with `words` | one of the words of `E` and what belongs to it, if one comes |
/// | `E` with `words` | the same, and it must be there |
///
/// `T` is any type that implements `FromArg` (`Vec<u8>` is one argument), or a tuple of such types,
/// which takes as many arguments. Neighbouring fields with a word come in any order, each once.
///
/// # Attributes of a field: `#[arg(..)]`
/// * `key`, `key = "OW insert"`: the argument is a key, of these flags in Redis's spelling; as a rule
///   read, and in a `write` command changed.
/// * `word = "BURST"`, `words`: see above; a word is matched in any case.
/// * `min = 1`, `max = 10`: the bounds of a number, both included.
/// * `default`, `default = 5`: what an argument is that is left out.
/// * `at_least = 1`: the fewest values of a `Vec` or `Rest`.
/// * `name = "n"`: what replies and `COMMAND DOCS` call it, if not by the field's name; the parts of
///   a tuple are named one by one, as in `name = "field value"`.
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

/// The same for users of `respire-engine` without `respire`, which re-exports it as `Args`.
#[doc(hidden)]
#[proc_macro_derive(EngineArgs, attributes(args, arg))]
pub fn engine_args(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    answer(args::derive(&input, &Root(quote!(::respire_engine))))
}

/// Makes an enum words that exclude each other: each variant is its name in upper case, or
/// `#[arg(word = "..")]`, followed by one argument for each of its fields.
///
/// An enum whose variants have no fields is a type of argument as well.
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

/// The same for users of `respire-engine` without `respire`, which re-exports it as `Words`.
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

/// Holds the README's example to what compiles and passes.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
