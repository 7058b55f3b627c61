//! Reads strings for long work: the key's lock is released before the work starts.
//!
//! A large string is shared, so writers change another copy; a small one is copied. A string that
//! was edited in place is made shareable under the write lock, without a copy; the next edit copies
//! it while it is still shared. That pays off only above [`EDITED_BYTES_MAX`].

use crate::Ctx;
use crate::value::string_if_any;
use bytes::Bytes;
use respire_engine::Error;
use respire_store::{EntryRef, Owned, Slot, StringRef};
use std::ops::Range;

/// Up to this length, a string that was edited in place is copied or processed under its lock. That
/// takes a tenth of a millisecond at most.
pub(crate) const EDITED_BYTES_MAX: usize = 1 << 20;

/// The result of the first step, under the lock.
enum Access<R> {
    Done(Option<R>),
    /// The chosen part, to be processed without the lock.
    Shared(Bytes),
    /// The string must be made shareable first.
    Edited,
}

impl Ctx<'_> {
    /// Reads a key like [`Ctx::read`], but returns a value that needs no lock: a large string is
    /// shared, any other value is copied.
    pub(crate) fn read_owned(&mut self, key: &[u8]) -> Option<Owned> {
        let found = self.read(key, |entry| match entry {
            Some(entry) if is_edited(entry) => Err(()),
            entry => Ok(entry.map(EntryRef::owned)),
        });
        found.unwrap_or_else(|()| self.view.update(key, share))
    }

    /// Reads a key like [`Ctx::read_owned`], together with the result of `f` on its entry, without
    /// counting the look-up or recording the use.
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
                let result = slot.get().map(f);
                share(slot).zip(result)
            })
        })
    }

    /// Reads several keys atomically, in order, like [`Ctx::read_owned`].
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

    /// Runs `f` on the part of a string that `part` chooses from its length, and counts the hit or
    /// miss. `f` runs under the key's lock only if the part is short. `None` if there is no such
    /// key, or nothing is chosen.
    pub(crate) fn read_part<R>(
        &mut self,
        key: &[u8],
        part: impl Fn(usize) -> Result<Option<Range<usize>>, Error>,
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, Error> {
        let mut f = Some(f);
        let mut run = |bytes: &[u8]| f.take().map(|f| f(bytes));
        let mut access = |entry: Option<EntryRef<'_>>| -> Result<Access<R>, Error> {
            let Some(string) = string_if_any(entry)? else {
                return Ok(Access::Done(None));
            };
            Ok(match (part(string.len())?, string) {
                (None, _) => Access::Done(None),
                (Some(part), StringRef::Shared(bytes)) => Access::Shared(bytes.slice(part)),
                (Some(part), StringRef::Bytes(_)) if part.len() > EDITED_BYTES_MAX => {
                    Access::Edited
                }
                (Some(part), string) => Access::Done(run(&string.as_bytes(&mut [0; 20])[part])),
            })
        };
        let mut found = self.read(key, &mut access)?;
        if matches!(found, Access::Edited) {
            found = self.view.update(key, |slot| {
                slot.share_string();
                access(slot.get())
            })?;
        }
        Ok(match found {
            Access::Done(answer) => answer,
            Access::Shared(bytes) => run(&bytes),
            Access::Edited => unreachable!("invariant: it was made shareable"),
        })
    }
}

/// Whether a string must be made shareable before long work on it.
pub(crate) fn is_edited(entry: EntryRef<'_>) -> bool {
    matches!(entry.value().as_string(), Some(StringRef::Bytes(bytes)) if bytes.len() > EDITED_BYTES_MAX)
}

/// The value of a key; a large string is shared with it from now on.
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
        /// The function to call when long work starts.
        static HOOK: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    pub(crate) fn call_hook() {
        HOOK.with_borrow_mut(|hook| {
            if let Some(hook) = hook {
                hook();
            }
        });
    }

    /// Runs `f`, and calls `hook` each time long work starts.
    #[cfg(feature = "toy")]
    pub(crate) fn with_hook<R>(hook: impl FnMut() + 'static, f: impl FnOnce() -> R) -> R {
        HOOK.set(Some(Box::new(hook)));
        let result = f();
        HOOK.take();
        result
    }

    /// Sends `request`. Each time its work starts, another client sends the request that `write`
    /// returns. Returns the reply, and for each of those requests whether it was answered
    /// meanwhile, that is, whether its key was not locked.
    pub(crate) fn send_and_write_meanwhile(
        client: &mut Client,
        request: &str,
        mut write: impl FnMut() -> String + 'static,
    ) -> (String, Vec<bool>) {
        let (answered, answers) = mpsc::channel();
        let writer = client.other();
        HOOK.set(Some(Box::new(move || {
            let (done, is_done) = mpsc::channel();
            let (mut writer, write) = (writer.other(), write());
            thread::spawn(move || {
                writer.send(&write);
                // The receiver may have timed out.
                let _ = done.send(());
            });
            let is_answered = is_done.recv_timeout(Duration::from_secs(10)).is_ok();
            answered.send(is_answered).expect("the test collects them");
        })));
        let reply = client.send(request);
        HOOK.take();
        (reply, answers.iter().collect())
    }

    #[test]
    fn key_is_not_locked_during_long_work_on_its_large_value() {
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
                let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, write);
                assert!(!reply.starts_with('-'), "{request}: {reply}");
                assert!(
                    !is_unlocked.is_empty() && !is_unlocked.contains(&false),
                    "{request}: {is_unlocked:?}"
                );
            }
        }
    }

    #[test]
    fn part_of_a_large_value_is_read_whether_or_not_it_was_edited() {
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
    fn copy_of_a_large_edited_value_changes_independently() {
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
