//! Adds commands with typed arguments whose replies come later.

use crate::client::later::{Answering, Later, Spawn};
use crate::embed::typed::{named, with_parsed};
use crate::{App, ArgList, Args, Command, Cx, Flags, Flow, IntoReply, Reply, Router, Spec};
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

impl<A: App> Router<A> {
    /// Adds a command whose reply may come after its handler has returned, from any thread. It
    /// replaces a command of the same name.
    ///
    /// The connection's next request waits for the reply, unless the arguments are marked
    /// `#[args(pipelined)]`: then up to `pending_calls_max` calls run at a time, and replies are
    /// still sent in order. `#[args(blocking)]` marks a command that may wait for a long time, as
    /// Redis's `BLPOP` does. When the peer closes its side, such a call is cancelled at once; when
    /// the server stops, it is answered with the reply of its deadline.
    ///
    /// Inside `EXEC`, it must answer before the handler returns. Otherwise the client gets the
    /// reply of its deadline, or an error.
    ///
    /// ```
    /// use respire_engine::{App, Later, NoKeys, Router};
    /// use std::sync::Mutex;
    ///
    /// #[derive(Default)]
    /// struct Bus(Mutex<Vec<Later>>);
    /// impl App for Bus {
    ///     type Conn = ();
    ///     type Keys = NoKeys;
    /// }
    /// let router = Router::new(Bus::default())
    ///     .deferred("WAIT", |cx, (), later| cx.app().0.lock().unwrap().push(later))
    ///     .command("DEPART", |cx, ()| {
    ///         let waiting = std::mem::take(&mut *cx.app().0.lock().unwrap());
    ///         waiting.into_iter().map(|later| i64::from(later.reply("off"))).sum::<i64>()
    ///     });
    /// ```
    ///
    /// # Panics
    /// See [`Router::add`].
    #[must_use]
    #[track_caller]
    pub fn deferred<T: Args + 'static>(
        self,
        name: &'static str,
        handler: impl Fn(&mut Cx<'_, A>, T, Later) + Send + Sync + 'static,
    ) -> Self {
        self.add(Deferred {
            spec: named::<T>(name),
            handler,
            args: PhantomData,
        })
    }

    /// Adds a command that is an async function. It replaces a command of the same name.
    ///
    /// The next request waits for it, unless the arguments are marked `#[args(pipelined)]`, as with
    /// [`Router::deferred`]. The server chooses where it runs: on Tokio as a task of the runtime,
    /// on mio in a small pool of threads. Without a server it runs where the session is polled.
    /// [`Router::spawn_on`] overrides this choice. A future that needs the timers or sockets of a
    /// runtime must run on that runtime. It is dropped when the client disconnects. `MULTI` refuses
    /// it.
    ///
    /// ```
    /// use respire_engine::Router;
    ///
    /// let router = Router::new(()).future("LOOKUP", |_app, ()| async { "found" });
    /// ```
    ///
    /// # Panics
    /// See [`Router::add`].
    #[must_use]
    #[track_caller]
    pub fn future<T, F, R>(
        self,
        name: &'static str,
        handler: impl Fn(Arc<A>, T) -> F + Send + Sync + 'static,
    ) -> Self
    where
        T: Args + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoReply + 'static,
    {
        let spec = named::<T>(name);
        // A future polled inside a section could wait for a lock that the section holds.
        let flags = spec.flags.with(Flags::NO_MULTI);
        self.add(Async {
            spec: Spec { flags, ..spec },
            handler,
            types: PhantomData,
        })
    }

    /// Runs the futures of [`Router::future`] with `spawn`, not with the server's choice.
    ///
    /// ```
    /// use respire_engine::{BoxFuture, Router};
    ///
    /// # fn handle() -> impl Fn(BoxFuture) + Send + Sync + 'static { drop }
    /// let spawn = handle(); // such as `move |task| { tokio_handle.spawn(task); }`
    /// let router = Router::new(()).spawn_on(spawn);
    /// ```
    #[must_use]
    pub fn spawn_on(mut self, spawn: impl Spawn) -> Self {
        self.setup.spawn = Some(Arc::new(spawn));
        self
    }
}

/// A handler that replies later.
struct Deferred<F, T> {
    spec: Spec,
    handler: F,
    args: PhantomData<fn(T)>,
}

impl<A, F, T> Command<A> for Deferred<F, T>
where
    A: App,
    F: Fn(&mut Cx<'_, A>, T, Later) + Send + Sync + 'static,
    T: Args + 'static,
{
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        with_parsed(args, reply, |args, _| {
            let later = cx.later();
            (self.handler)(cx, args, later);
            Flow::Pending
        })
    }
}

/// An async handler.
struct Async<F, T> {
    spec: Spec,
    handler: F,
    types: PhantomData<fn(T)>,
}

impl<A, H, T, F> Command<A> for Async<H, T>
where
    A: App,
    H: Fn(Arc<A>, T) -> F + Send + Sync + 'static,
    T: Args + 'static,
    F: Future<Output: IntoReply> + Send + 'static,
{
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        with_parsed(args, reply, |args, _| {
            let future = (self.handler)(cx.app_shared(), args);
            let later = cx.later();
            cx.spawn(Answering::new(future, later));
            Flow::Pending
        })
    }
}
