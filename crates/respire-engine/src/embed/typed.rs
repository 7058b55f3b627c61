//! Adds commands with typed arguments and replies.

use crate::{App, ArgIter, ArgList, Args, Command, Cx, Flow, IntoReply, Reply, Router, Spec};
use std::marker::PhantomData;

impl<A: App> Router<A> {
    /// Adds a command. Its arguments are parsed into a `T` before `handler` is called, and the
    /// value that `handler` returns is the reply. It replaces a command of the same name.
    ///
    /// `COMMAND` describes it from `T`. The name is matched in any case.
    ///
    /// The handler runs on the thread that serves the connection, and the connection waits for it.
    /// For slow work use [`Router::deferred`] or [`Router::future`].
    ///
    /// ```
    /// use respire_engine::{App, NoKeys, Router};
    ///
    /// struct Nothing;
    /// impl App for Nothing {
    ///     type Conn = u32;
    ///     type Keys = NoKeys;
    /// }
    /// let router = Router::new(Nothing).command("CALLS", |cx, ()| {
    ///     *cx.conn() += 1;
    ///     i64::from(*cx.conn())
    /// });
    /// ```
    ///
    /// # Panics
    /// See [`Router::add`].
    #[must_use]
    #[track_caller]
    pub fn command<T: Args + 'static, R: IntoReply + 'static>(
        self,
        name: &'static str,
        handler: impl Fn(&mut Cx<'_, A>, T) -> R + Send + Sync + 'static,
    ) -> Self {
        self.add(Typed {
            spec: named::<T>(name),
            handler,
            types: PhantomData,
        })
    }
}

/// The description of a command with this name and these arguments.
///
/// A name that is not in lower case is copied and never freed, once per command and router, because
/// descriptions are static.
pub(crate) fn named<T: Args>(name: &'static str) -> Spec {
    let has_upper = name.bytes().any(|byte| byte.is_ascii_uppercase());
    let name = if has_upper {
        Box::leak(name.to_ascii_lowercase().into_boxed_str())
    } else {
        name
    };
    Spec { name, ..T::SPEC }
}

/// Parses all of a request's arguments and passes them on. Invalid or surplus arguments are
/// answered with an error.
#[inline]
pub(crate) fn with_parsed<T: Args>(
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    then: impl FnOnce(T, &mut Reply<'_>) -> Flow,
) -> Flow {
    match parse(args) {
        Ok(args) => then(args, reply),
        Err(error) => {
            reply.error(error.text());
            Flow::Replied
        }
    }
}

/// Parses all of a request's arguments.
///
/// # Errors
/// The reply to arguments that are not a `T`, or are more than a `T` takes.
#[inline]
fn parse<T: Args>(args: ArgList<'_>) -> Result<T, crate::Error> {
    let mut left = ArgIter::new(args);
    let parsed = T::parse(&mut left)?;
    left.finish()?;
    Ok(parsed)
}

/// A handler with its argument and reply types.
struct Typed<F, T, R> {
    spec: Spec,
    handler: F,
    types: PhantomData<fn(T) -> R>,
}

impl<A, F, T, R> Command<A> for Typed<F, T, R>
where
    A: App,
    F: Fn(&mut Cx<'_, A>, T) -> R + Send + Sync + 'static,
    T: Args + 'static,
    R: IntoReply + 'static,
{
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        with_parsed(args, reply, |args, reply| {
            (self.handler)(cx, args).into_reply(reply);
            Flow::Replied
        })
    }
}
