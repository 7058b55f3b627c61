//! Whether a command may run at present.

use crate::{App, Engine, Error, Keyspace, Now, Spec};

/// What service and keyspace have against a command at present.
#[inline(always)]
pub(crate) fn admit<A: App>(
    engine: &Engine<A>,
    spec: &Spec,
    needs_room: bool,
    now: Now,
) -> Result<(), Error> {
    engine.app().admit(spec, now)?;
    if needs_room {
        return A::Keys::make_room(engine.app(), now);
    }
    Ok(())
}
