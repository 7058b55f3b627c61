//! The libraries of functions, for those who keep them beside the server.

use crate::commands::add_sharing;
use crate::library::LibraryObserver;
use crate::scripts::Scripts;
use core::fmt;
use respire_engine::{App, Router};
use std::sync::Arc;

/// The libraries of functions of a server. Clones are the same libraries.
///
/// ```
/// use respire_engine::Router;
/// use respire_script::{Libraries, LibraryObserver};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Log(Mutex<Vec<Vec<u8>>>);
///
/// impl LibraryObserver for Log {
///     fn changed(&self, payload: &[u8]) {
///         self.0.lock().unwrap().push(payload.to_vec());
///     }
/// }
///
/// let (libraries, log) = (Libraries::default(), Arc::new(Log::default()));
/// libraries.observe(log.clone());
/// let mut client = libraries.add_to(Router::new(())).client();
/// let code = "#!lua name=one\nredis.register_function('f', function() return 1 end)";
/// assert_eq!(client.call(["FUNCTION", "LOAD", code]), "one");
/// assert_eq!(libraries.sources(), [code.as_bytes()]);
/// assert_eq!(log.0.lock().unwrap().len(), 1);
/// ```
#[derive(Clone, Default)]
pub struct Libraries(Arc<Scripts>);

impl Libraries {
    /// Adds the commands of scripts to a router, as [`add_to`](crate::add_to) does, with these libraries.
    #[must_use]
    pub fn add_to<A: App>(&self, router: Router<A>) -> Router<A> {
        add_sharing(router, Arc::clone(&self.0))
    }

    /// Returns the code of each library, in the order of their names.
    #[must_use]
    pub fn sources(&self) -> Vec<Vec<u8>> {
        let table = self.0.libraries.table();
        table.libraries().map(|it| it.code.to_vec()).collect()
    }

    /// Tells an observer of all changes from now on. It replaces the one before.
    pub fn observe(&self, observer: Arc<dyn LibraryObserver>) {
        self.0.libraries.observe(observer);
    }
}

impl fmt::Debug for Libraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Libraries").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Log(Mutex<Vec<Vec<u8>>>);

    impl LibraryObserver for Log {
        fn changed(&self, payload: &[u8]) {
            self.0.lock().unwrap().push(payload.to_vec());
        }
    }

    #[test]
    fn last_payload_restores_the_libraries_after_each_change() {
        let (libraries, log) = (Libraries::default(), Arc::new(Log::default()));
        libraries.observe(Arc::clone(&log) as _);
        let mut client = libraries.add_to(Router::new(())).client();
        let code = |name: &str| {
            format!("#!lua name={name}\nredis.register_function('{name}', function() end)")
        };
        let (one, two) = (code("one"), code("two"));
        let requests: [(&[&str], usize); 6] = [
            (&["FUNCTION", "LOAD", &one], 1),
            (&["FUNCTION", "LOAD", &one], 1),
            (&["FUNCTION", "LOAD", &two], 2),
            (&["FUNCTION", "LOAD", "REPLACE", &one], 2),
            (&["FUNCTION", "DELETE", "one"], 1),
            (&["FUNCTION", "FLUSH"], 0),
        ];
        for (request, expected) in requests {
            client.call(request.to_vec());
            let copy = Libraries::default();
            let mut other = copy.add_to(Router::new(())).client();
            let payload = log.0.lock().unwrap().last().cloned().unwrap();
            let restored = other.call([&b"FUNCTION"[..], b"RESTORE", &payload, b"FLUSH"]);
            assert_eq!(restored, "OK");
            assert_eq!(copy.sources(), libraries.sources());
            assert_eq!(copy.sources().len(), expected);
        }
        // The second one failed.
        assert_eq!(log.0.lock().unwrap().len(), 5);
    }
}
