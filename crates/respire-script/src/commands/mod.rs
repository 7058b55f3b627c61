//! The commands of scripts, a table row each.

mod declared;
mod eval;
mod fcall;
mod function;
mod invoke;
mod script;
#[cfg(test)]
pub(crate) mod testing;

use crate::scripts::Scripts;
use respire_engine::{App, ArgList, Command, Cx, Error, Flags, Flow, Reply, Router, Spec};
use std::sync::Arc;

/// Adds `EVAL`, `EVALSHA`, `FCALL`, their read-only forms, `SCRIPT` and `FUNCTION` to a router. The server's other
/// commands can be called from scripts, and so can those of the service itself.
///
/// ```
/// use respire_engine::Router;
/// use respire_script::add_to;
///
/// let router = add_to(Router::new(()).command("GREET", |_, ()| "hello"));
/// let mut client = router.client();
/// let script = "return redis.call('GREET') .. ', ' .. ARGV[1]";
/// assert_eq!(client.call(["EVAL", script, "0", "world"]), "hello, world");
/// ```
#[must_use]
pub fn add_to<A: App>(router: Router<A>) -> Router<A> {
    add_sharing(router, Arc::new(Scripts::default()))
}

pub(crate) fn add_sharing<A: App>(router: Router<A>, scripts: Arc<Scripts>) -> Router<A> {
    let extension = Arc::clone(&scripts);
    let router = router.shared_extension(extension);
    let router = eval::add_to(router, &scripts);
    let router = fcall::add_to(router, &scripts);
    let router = function::add_to(router, &scripts);
    script::add_to(router, &scripts)
}

/// A command that uses the scripts of the server.
struct ScriptRow<A: App> {
    spec: &'static Spec,
    scripts: Arc<Scripts>,
    run: Run<A>,
}

type Run<A> = fn(&Arc<Scripts>, &mut Cx<'_, A>, ArgList<'_>, &mut Reply<'_>) -> Result<(), Error>;

impl<A: App> Command<A> for ScriptRow<A> {
    fn spec(&self) -> &Spec {
        self.spec
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        if let Err(error) = (self.run)(&self.scripts, cx, args, reply) {
            reply.error(error.text());
        }
        Flow::Replied
    }

    fn may_write(&self, request: ArgList<'_>) -> bool {
        let flags = self.spec.flags;
        let declared = declared::flags(&self.scripts, self.spec, request);
        declared.map_or(flags.any(Flags::WRITE | Flags::MAY_WRITE), |declared| {
            !declared.no_writes
        })
    }
}
