//! The flags that a script or function declares, found before it runs.

use crate::flags::{Flags, Header};
use crate::script::Sha;
use crate::scripts::Scripts;
use respire_engine::{ArgList, Spec};

/// The flags of the script or function that a request would run; `None` if it declares none, is not
/// known, or the request runs none.
pub(super) fn flags(scripts: &Scripts, spec: &Spec, request: ArgList<'_>) -> Option<Flags> {
    let what = request.get(1)?;
    match spec.name {
        "eval" | "eval_ro" => Some(Header::read(what).ok()??.flags),
        "evalsha" | "evalsha_ro" => scripts.get(Sha::parse(what)?)?.flags,
        "fcall" | "fcall_ro" => {
            let name = std::str::from_utf8(what).ok()?.to_ascii_lowercase();
            let table = scripts.libraries.table();
            let mut functions = table.with_function(&name)?.functions.iter();
            let info = functions.find(|info| info.name.eq_ignore_ascii_case(&name));
            info.map(|info| info.flags)
        }
        _ => None,
    }
}
