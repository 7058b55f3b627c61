//! Parts of a server that are neither the service nor its keyspace, such as scripts.

use crate::{InfoWriter, Metrics, Now, Setting};
use std::sync::Arc;

/// What a set of commands adds to a server besides the commands: lines of `INFO`, rows of `CONFIG`,
/// metrics. A router gets it with [`Router::extension`](crate::Router::extension).
///
/// ```
/// use respire_engine::{Extension, InfoWriter, Now, Router};
///
/// struct Build;
/// impl Extension for Build {
///     fn info(&self, section: &str, _: Now, out: &mut InfoWriter) {
///         if section == "server" {
///             out.field("build", "nightly");
///         }
///     }
/// }
/// let router = Router::new(()).extension(Build);
/// # let mut client = router.client();
/// # assert!(client.call("INFO server").text().contains("build:nightly"));
/// ```
pub trait Extension: Send + Sync + 'static {
    /// Writes its own lines of an `INFO` section; `section` is lower case. Fields of `persistence` replace
    /// those of the same names that the engine, the application and the keyspace write.
    fn info(&self, section: &str, now: Now, out: &mut InfoWriter) {
        let _ = (section, now, out);
    }

    /// Writes its own metrics for monitoring. Called at each scrape, from any thread.
    fn metrics(&self, now: Now, out: &mut Metrics) {
        let _ = (now, out);
    }

    /// Its rows for `CONFIG`, which replace those of the engine and the application with the same names.
    /// Called once, when the engine is built.
    fn settings(self: Arc<Self>) -> Vec<Setting> {
        Vec::new()
    }

    /// `CONFIG RESETSTAT`: sets its counters back to zero.
    fn reset_stats(&self) {}
}
