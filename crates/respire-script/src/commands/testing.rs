//! A client for tests, on a service with a command that writes.

use super::add_sharing;
use crate::scripts::Scripts;
use respire_engine::{ArgList, Arity, Command, Cx, Flags, Flow, Reply, Router, Spec, TestClient};
use std::sync::Arc;

/// `PUT`, which says that it writes and does nothing.
struct Put;

static PUT: Spec = Spec {
    name: "put",
    arity: Arity::exactly(2),
    flags: Flags::WRITE,
    ..Spec::EMPTY
};

impl Command<()> for Put {
    fn spec(&self) -> &Spec {
        &PUT
    }

    fn call(&self, _: &mut Cx<'_, ()>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        reply.ok();
        Flow::Replied
    }
}

/// A client of a new service.
pub(crate) fn client() -> TestClient<()> {
    client_of().0
}

/// The same, with what the service knows of scripts.
pub(super) fn client_of() -> (TestClient<()>, Arc<Scripts>) {
    let scripts = Arc::new(Scripts::default());
    let router = add_sharing(Router::new(()).add(Put), Arc::clone(&scripts));
    (router.client(), scripts)
}

/// Loads, or replaces, the library `l` with this code behind its first line.
pub(crate) fn load(client: &mut TestClient<()>, code: &str) {
    let library = format!("#!lua name=l\n{code}");
    let reply = client.call(["FUNCTION", "LOAD", "REPLACE", &*library]);
    assert_eq!(reply, "l");
}
