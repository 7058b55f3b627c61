//! Reading strings for work that may take long: the key's lock is given back first.
//!
//! A large string is shared, so that writers change another copy, and a small one is copied. A string
//! that was edited in place becomes one that can be shared, under the write lock and without a copy;
//! whoever edits it while it is still shared copies it. That is worth it only from
//! [`EDITED_BYTES_MAX`] on.

use crate::Ctx;
use crate::value::string_if_any;
use respire_engine::Error;
use respire_store::{EntryRef, Owned, Slot, StringRef};
use std::ops::Range;

/// Up to this length a string that was edited in place is copied, or worked on, under its lock: a tenth
/// of a millisecond at most.
pub(crate) const EDITED_BYTES_MAX: usize = 1 << 20;

/// What a look at a string under its lock gave.
enum Look<R> {
    Done(Option<R>),
    /// The chosen part, to be worked on now.
    Shared(bytes::Bytes),
    /// It has to be made one that can be shared.
    Edited,
}

impl Ctx<'_> {
    /// Reads a key like [`Ctx::read`], without a lock once it returns: a large string is shared, all
    /// else copied.
    pub(crate) fn read_owned(&mut self, key: &[u8]) -> Option<Owned> {
        let found = self.read(key, |entry| match entry {
            Some(entry) if is_edited(entry) => Err(()),
            entry => Ok(entry.map(EntryRef::owned)),
        });
        found.unwrap_or_else(|()| self.view.update(key, share))
    }

    /// Reads a key as [`Ctx::read_owned`] does, with what `f` says of its entry, and without counting or
    /// noting it.
    pub(crate) fn peek_owned<R>(
        &mut self,
        key: &[u8],
        f: impl Fn(EntryRef<'_>) -> R,
    ) -> Option<(Owned, R)> {
        let found = self.view.peek(key, |entry| match entry {
            Some(entry) if is_edited(entry) => Err(()),
            entry => Ok(entry.map(|entry| (entry.owned(), f(entry)))),
        });
        found.unwrap_or_else(|()| {
            self.view.update(key, |slot| {
                let said = slot.get().map(f);
                share(slot).zip(said)
            })
        })
    }

    /// Reads several keys at one moment, in order, as [`Ctx::read_owned`] reads one.
    pub(crate) fn read_many_owned<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]> + Clone,
    ) -> Vec<Option<Owned>> {
        let mut found = Vec::with_capacity(keys.len());
        let mut is_complete = true;
        self.read_many(keys.clone(), |entry| {
            is_complete &= !entry.is_some_and(is_edited);
            found.push(entry.filter(|_| is_complete).map(EntryRef::owned));
        });
        if !is_complete {
            let edited = &mut found;
            self.view
                .update_many(keys, |at, slot| edited[at] = share(slot));
        }
        found
    }

    /// Runs `f` on the part of a string that `part` chooses by its length, and counts whether the key
    /// was there. `f` runs under the key's lock only if the part is short. `None` if there is no such
    /// key, or nothing of it is chosen.
    pub(crate) fn read_part<R>(
        &mut self,
        key: &[u8],
        part: impl Fn(usize) -> Result<Option<Range<usize>>, Error>,
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, Error> {
        let mut f = Some(f);
        let mut run = |bytes: &[u8]| f.take().map(|f| f(bytes));
        let mut look = |entry: Option<EntryRef<'_>>| -> Result<Look<R>, Error> {
            let Some(string) = string_if_any(entry)? else {
                return Ok(Look::Done(None));
            };
            Ok(match (part(string.len())?, string) {
                (None, _) => Look::Done(None),
                (Some(part), StringRef::Shared(bytes)) => Look::Shared(bytes.slice(part)),
                (Some(part), StringRef::Bytes(_)) if part.len() > EDITED_BYTES_MAX => Look::Edited,
                (Some(part), string) => Look::Done(run(&string.as_bytes(&mut [0; 20])[part])),
            })
        };
        let mut found = self.read(key, &mut look)?;
        if matches!(found, Look::Edited) {
            found = self.view.update(key, |slot| {
                slot.share_string();
                look(slot.get())
            })?;
        }
        Ok(match found {
            Look::Done(answer) => answer,
            Look::Shared(bytes) => run(&bytes),
            Look::Edited => unreachable!("invariant: it was made one that can be shared"),
        })
    }
}

/// Whether a string must be made one that can be shared before it is read for long.
pub(crate) fn is_edited(entry: EntryRef<'_>) -> bool {
    matches!(entry.value().as_string(), Some(StringRef::Bytes(bytes)) if bytes.len() > EDITED_BYTES_MAX)
}

/// What a key holds; a large string is shared with it from now on.
pub(crate) fn share(slot: &mut Slot<'_>) -> Option<Owned> {
    slot.share_string();
    slot.get().map(EntryRef::owned)
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::key::testing::Client;
    use std::cell::RefCell;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    thread_local! {
        /// What to do where work begins.
        static LOOK: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    pub(crate) fn look() {
        LOOK.with_borrow_mut(|look| {
            if let Some(look) = look {
                look();
            }
        });
    }

    /// Sends `request`; wherever its work begins, another client sends what `write` says. The reply, and
    /// whether each of those was answered then, which is whether its key was free.
    pub(crate) fn send_and_write_meanwhile(
        client: &mut Client,
        request: &str,
        mut write: impl FnMut() -> String + 'static,
    ) -> (String, Vec<bool>) {
        let (answered, answers) = mpsc::channel();
        let writer = client.other();
        LOOK.set(Some(Box::new(move || {
            let (done, is_done) = mpsc::channel();
            let (mut writer, write) = (writer.other(), write());
            thread::spawn(move || {
                writer.send(&write);
                // Nobody may wait for it any more.
                let _ = done.send(());
            });
            let is_answered = is_done.recv_timeout(Duration::from_secs(10)).is_ok();
            answered.send(is_answered).expect("the test collects them");
        })));
        let reply = client.send(request);
        LOOK.take();
        (reply, answers.iter().collect())
    }

    #[test]
    fn key_is_free_while_its_large_value_is_worked_on() {
        const EDIT: &str = "SETRANGE k 2097151 x";
        for is_shared in [false, true] {
            for request in [
                "DUMP k",
                "LCS k other",
                "LCS other k IDX",
                "LCS k other LEN",
                "BITCOUNT k",
                "BITCOUNT k 8 -9 BIT",
                "BITPOS k 1",
                "BITOP NOT destination k",
                "BITOP XOR k k other",
                "DEBUG OBJECT k",
                "DEBUG DIGEST-VALUE k",
            ] {
                let mut client = Client::new();
                client.send("SET other 0123456789");
                client.send(EDIT);
                if is_shared {
                    client.send("GET k");
                }
                let write = || "PEXPIRE k 1000000".to_owned();
                let (reply, is_free) = send_and_write_meanwhile(&mut client, request, write);
                assert!(!reply.starts_with('-'), "{request}: {reply}");
                assert!(
                    !is_free.is_empty() && !is_free.contains(&false),
                    "{request}: {is_free:?}"
                );
            }
        }
    }

    #[test]
    fn part_of_a_large_value_is_shared_whether_it_was_edited_or_not() {
        let mut client = Client::new();
        client.send("SETRANGE k 3000000 \"the end\"");
        for _ in 0..2 {
            let part = client.send("GETRANGE k 1000000 -1");
            assert!(part.starts_with("$2000007\r\n") && part.ends_with("the end\r\n"));
            client.check(&[
                ("GETRANGE k -3 -1", "$3\r\nend\r\n"),
                ("BITCOUNT k -3 -1", ":12\r\n"),
                ("BITPOS k 1", ":24000001\r\n"),
                ("BITPOS k 0 2999999", ":23999992\r\n"),
                ("BITPOS k 1 0 2000000", ":-1\r\n"),
                ("SETRANGE k 3000000 T", ":3000007\r\n"),
                ("SETRANGE k 3000000 t", ":3000007\r\n"),
            ]);
        }
    }

    #[test]
    fn copy_of_a_large_edited_value_shares_it_until_either_changes() {
        Client::new().check(&[
            ("SETRANGE k 2000000 x", ":2000001\r\n"),
            ("COPY k copy", ":1\r\n"),
            ("SETRANGE k 2000000 y", ":2000001\r\n"),
            ("SETRANGE copy 1999999 z", ":2000001\r\n"),
            ("GETRANGE k -2 -1", "$2\r\n\0y\r\n"),
            ("GETRANGE copy -2 -1", "$2\r\nzx\r\n"),
        ]);
    }
}
