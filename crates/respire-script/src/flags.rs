//! The first line of a script (`#!lua flags=no-writes`), and the flags of functions.

/// What a script may do and needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Flags {
    /// It does not write, and must not.
    pub(crate) no_writes: bool,
    /// It may run when memory is used up.
    pub(crate) allow_oom: bool,
    /// It may run on stale data.
    pub(crate) allow_stale: bool,
    /// It must not run in a cluster.
    pub(crate) no_cluster: bool,
    /// Its keys may be in several slots of a cluster.
    pub(crate) allow_cross_slot_keys: bool,
}

impl Flags {
    /// The names of the flags that are set.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let all = [
            (self.no_writes, "no-writes"),
            (self.allow_oom, "allow-oom"),
            (self.allow_stale, "allow-stale"),
            (self.no_cluster, "no-cluster"),
            (self.allow_cross_slot_keys, "allow-cross-slot-keys"),
        ];
        let set = all.iter().filter(|(is_set, _)| *is_set);
        set.map(|(_, name)| *name).collect()
    }

    /// Sets a flag by its name. Returns `false` if there is none of that name.
    pub(crate) fn set(&mut self, name: &[u8]) -> bool {
        let flag = match name {
            b"no-writes" => &mut self.no_writes,
            b"allow-oom" => &mut self.allow_oom,
            b"allow-stale" => &mut self.allow_stale,
            b"no-cluster" => &mut self.no_cluster,
            b"allow-cross-slot-keys" => &mut self.allow_cross_slot_keys,
            _ => return false,
        };
        *flag = true;
        true
    }
}

/// The first line of a script that begins with `#!`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flags: Flags,
}

impl Header {
    /// Reads the first line; `None` if it is no header.
    ///
    /// # Errors
    /// The text of the error for the client, without its code.
    pub(crate) fn read(body: &[u8]) -> Result<Option<Self>, String> {
        if !body.starts_with(b"#!") {
            return Ok(None);
        }
        let end = body.iter().position(|byte| *byte == b'\n');
        let Some(end) = end else {
            return Err("Invalid script shebang".to_owned());
        };
        let mut words = body[..end]
            .split(|byte| *byte == b' ')
            .filter(|word| !word.is_empty());
        let engine = words.next().unwrap_or_default();
        if engine != b"#!lua" {
            let name = String::from_utf8_lossy(engine);
            return Err(format!("Unexpected engine in script shebang: {name}"));
        }
        let mut flags = Flags::default();
        for word in words {
            let text = String::from_utf8_lossy(word);
            let Some(names) = word.strip_prefix(b"flags=") else {
                return Err(format!("Unknown lua shebang option: {text}"));
            };
            for name in names.split(|byte| *byte == b',') {
                if !name.is_empty() && !flags.set(name) {
                    let text = String::from_utf8_lossy(name);
                    return Err(format!("Unexpected flag in script shebang: {text}"));
                }
            }
        }
        Ok(Some(Self { flags }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_flags() {
        let header = Header::read(b"#!lua flags=no-writes,allow-oom\nreturn 1").unwrap();
        let flags = header.unwrap().flags;
        assert!(flags.no_writes && flags.allow_oom && !flags.allow_stale);
        assert_eq!(Header::read(b"return 1"), Ok(None));
        let plain = Header::read(b"#!lua\nreturn 1").unwrap().unwrap();
        assert_eq!(plain.flags, Flags::default());
    }

    #[test]
    fn wrong_header_is_refused() {
        let error = |body: &[u8]| Header::read(body).unwrap_err();
        assert_eq!(
            error(b"#!lua flags=no-reads\n"),
            "Unexpected flag in script shebang: no-reads"
        );
        assert_eq!(
            error(b"#!lua name=x\n"),
            "Unknown lua shebang option: name=x"
        );
        assert_eq!(
            error(b"#!python\n"),
            "Unexpected engine in script shebang: #!python"
        );
        assert_eq!(error(b"#!lua"), "Invalid script shebang");
    }
}
