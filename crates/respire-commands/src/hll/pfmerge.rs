//! `PFMERGE destkey [sourcekey [sourcekey ...]]`: makes a `HyperLogLog` that has seen what the
//! destination and the sources have seen, in one atomic step.
//!
//! The result is dense if the destination or a source is. Otherwise the registers are raised one by
//! one as if by `PFADD`, so that the bytes are Redis's.

use super::registers::Registers;
use super::value::{
    Form, corrupt, empty, forget_estimate, hll_if_any, make_dense, raise_all, write_all,
};
use crate::Ctx;
use crate::notify;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::{Scope, View};

pub(super) static PFMERGE: Spec = Spec {
    name: "pfmerge",
    summary: "Merge N different HyperLogLogs into a single one.",
    since: "2.8.9",
    complexity: "O(N) to merge N HyperLogLogs, but with high constant times.",
    group: Group::HyperLogLog,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Insert]),
        KeySpec::range(2, -1, 1),
    ],
    args: &[Arg::key("destkey", 0), Arg::key("sourcekey", 1).multiple()],
    examples: &[
        ("PFADD a foo bar zap a", ":1\r\n"),
        ("PFADD b a b c foo", ":1\r\n"),
        ("PFMERGE c a b", "+OK\r\n"),
        ("PFCOUNT c", ":6\r\n"),
        ("PFMERGE empty none", "+OK\r\n"),
        ("PFCOUNT empty", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn pfmerge(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (db, sparse_bytes_max) = (ctx.view.db(), ctx.kv.hll_sparse_bytes_max());
    let keys: Vec<(u32, &[u8])> = args.iter().map(|key| (db, key)).collect();
    ctx.locked(&Scope::Keys(&keys), |view, stats| {
        let mut merged = Merged::new();
        for key in args.iter() {
            merged.add(view, key, |found| stats.looked_up(found))?;
        }
        merged.store(view, &args[0], sparse_bytes_max)
    })?;
    reply.ok();
    Ok(())
}

/// Several `HyperLogLogs`, merged.
struct Merged {
    registers: Registers,
    /// Whether any of them is dense.
    is_dense: bool,
}

impl Merged {
    fn new() -> Self {
        Self {
            registers: Registers::new(),
            is_dense: false,
        }
    }

    /// Merges a locked key.
    fn add(
        &mut self,
        view: &mut View<'_>,
        key: &[u8],
        count: impl FnOnce(bool),
    ) -> Result<(), Error> {
        view.read(key, |entry| {
            count(entry.is_some());
            if let Some(hll) = hll_if_any(entry)? {
                self.is_dense |= matches!(hll.form(), Form::Dense(_));
                hll.merge(&mut self.registers).map_err(corrupt)?;
            }
            Ok(())
        })
    }

    /// Stores the result in a locked key, which has been merged too.
    fn store(&self, view: &mut View<'_>, key: &[u8], sparse_bytes_max: usize) -> Result<(), Error> {
        view.update(key, |slot| {
            let is_new = !slot.exists();
            slot.edit_string(|bytes| {
                if is_new {
                    *bytes = empty();
                }
                if self.is_dense {
                    make_dense(bytes).map_err(corrupt)?;
                    write_all(bytes, &self.registers);
                } else {
                    raise_all(bytes, &self.registers, sparse_bytes_max).map_err(corrupt)?;
                }
                forget_estimate(bytes);
                Ok::<(), Error>(())
            })?;
            slot.event(notify::PFADD);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn destination_is_one_of_the_sources_and_keeps_its_expiry() {
        Client::new().check(&[
            ("PFADD d a b", ":1\r\n"),
            ("EXPIRE d 100", ":1\r\n"),
            ("PFADD s b c", ":1\r\n"),
            ("PFMERGE d s", "+OK\r\n"),
            ("PFCOUNT d", ":3\r\n"),
            ("TTL d", ":100\r\n"),
            ("PFMERGE d", "+OK\r\n"),
            ("GETRANGE d 15 15", "$1\r\n\u{fffd}\r\n"),
            ("PFDEBUG ENCODING d", "+sparse\r\n"),
        ]);
    }

    #[test]
    fn one_dense_source_makes_the_result_dense() {
        Client::new().check(&[
            ("PFADD dense a", ":1\r\n"),
            ("PFDEBUG TODENSE dense", ":1\r\n"),
            ("PFADD sparse b", ":1\r\n"),
            ("PFMERGE d sparse dense", "+OK\r\n"),
            ("PFDEBUG ENCODING d", "+dense\r\n"),
            ("PFCOUNT d", ":2\r\n"),
            ("PFCOUNT sparse dense", ":2\r\n"),
            ("STRLEN d", ":12304\r\n"),
        ]);
    }

    #[test]
    fn wrong_source_changes_nothing() {
        Client::new().check(&[
            ("PFADD k a", ":1\r\n"),
            ("SET s text", "+OK\r\n"),
            (
                "PFMERGE d k s",
                "-WRONGTYPE Key is not a valid HyperLogLog string value.\r\n",
            ),
            (
                "PFMERGE s k",
                "-WRONGTYPE Key is not a valid HyperLogLog string value.\r\n",
            ),
            ("EXISTS d", ":0\r\n"),
            ("GET s", "$4\r\ntext\r\n"),
        ]);
    }
}
