//! Checks whether the service and the keyspace allow a command to run now.

use crate::{App, Engine, Error, Keyspace, Now, Spec};

/// Returns the error with which the service or the keyspace refuses the command now.
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
