//! Runs a command of a log again, without what a client's call has: statistics, times, layers.

use super::run::call_caught;
use crate::{App, ArgList, Cx, Engine, Flow, Output, Proto};
use resp_codec::Encoder;

impl<A: App> Engine<A> {
    /// Runs the command of an entry, and drops its reply. A command that would wait does not. The
    /// error is the text of an error reply, without its sign.
    #[inline]
    pub(crate) fn run_replayed(
        &self,
        (at, name_len): (u32, usize),
        cx: &mut Cx<'_, A>,
        request: ArgList<'_>,
        out: &mut Output,
    ) -> Result<(), String> {
        let (entry, mark) = (self.table.entry(at), out.mark());
        let mut reply = Encoder::new(out, Proto::Resp2);
        let called = call_caught(entry.spec(), (&mut reply, mark), |reply| {
            entry.command().call(cx, request.skip(name_len), reply)
        });
        let flow = called.unwrap_or_else(|panic| self.panicked(entry, &*panic, &mut reply));
        if flow == Flow::Pending {
            cx.client.task = None;
            if let Some(call) = cx.client.call.take() {
                call.cancel();
            }
        }
        let is_error = reply.error_count() > 0;
        let result = if is_error {
            Err(error_text(out.put_since(mark.len())))
        } else {
            Ok(())
        };
        out.cut(mark);
        result
    }
}

/// The text of the first error in a reply.
#[cold]
fn error_text(reply: &[u8]) -> String {
    let mut lines = reply.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"-"));
    let line = line.unwrap_or_default().trim_ascii_end();
    String::from_utf8_lossy(line).into_owned()
}
