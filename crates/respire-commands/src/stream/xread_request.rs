//! What `XREAD` and `XREADGROUP` ask for.

use super::access::{no_group_to_read, stream_if_any};
use super::ids::strict_id;
use crate::Ctx;
use crate::errors::{SYNTAX, block_in_script};
use crate::options::{Options, is_word};
use respire_engine::{ArgList, Error};
use respire_store::{EntryRef, StreamId, StreamRange, StreamRef, StreamSlice};
use std::time::Duration;

const TIMEOUT: Error = Error::fixed("ERR timeout is not an integer or out of range");
const TIMEOUT_NEGATIVE: Error = Error::fixed("ERR timeout is negative");
const UNBALANCED: Error = Error::fixed(
    "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
);
const GROUP_OF_XREAD: Error =
    Error::fixed("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.");
const NOACK_OF_XREAD: Error =
    Error::fixed("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.");
const CLAIM_OF_XREAD: Error =
    Error::fixed("ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.");
const MIN_IDLE: Error = Error::fixed("ERR min-idle-time is not an integer or out of range");
const MIN_IDLE_NEGATIVE: Error = Error::fixed("ERR min-idle-time must be a positive integer");
const NO_GROUP: Error = Error::fixed("ERR Missing GROUP option for XREADGROUP");
const NEW_OF_XREAD: Error = Error::fixed(
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
);
const LAST_OF_GROUP: Error = Error::fixed(
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.",
);

/// The number of entries that a command which has waited gets if it does not say how many.
const COUNT_AFTER_WAITING: usize = 1_000;

/// A request of `XREAD` or `XREADGROUP`.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    /// Whether it may wait, and how long; `Some(None)` is for ever.
    pub(super) block: Option<Option<Duration>>,
    /// The largest number of entries of each stream; 0 if it is not limited.
    count: usize,
    /// The group and the consumer of `XREADGROUP`.
    pub(super) group: Option<(&'a [u8], &'a [u8])>,
    pub(super) no_ack: bool,
    /// Entries that are pending for so many milliseconds are claimed first.
    pub(super) claim_idle_ms: Option<u64>,
    /// Keys, and as many IDs.
    streams: ArgList<'a>,
}

impl<'a> Request<'a> {
    /// Parses the arguments of `XREAD`, or of `XREADGROUP`. Unlike other commands that wait, they refuse to in a script.
    pub(super) fn of_call(
        ctx: &Ctx<'_>,
        args: ArgList<'a>,
        is_of_group: bool,
    ) -> Result<Self, Error> {
        let request = Self::parse(args, is_of_group)?;
        if request.block.is_some() && ctx.client.is_in_script() {
            return Err(block_in_script(&ctx.request[0]));
        }
        Ok(request)
    }

    /// Parses the arguments of `XREAD`, or of `XREADGROUP`.
    pub(super) fn parse(args: ArgList<'a>, is_of_group: bool) -> Result<Self, Error> {
        let (mut options, mut request) = (Options::new(args), Self::new(args));
        let mut is_complete = false;
        while let Some(word) = options.next() {
            if is_word(word, "BLOCK") && options.len() > 0 {
                request.block = Some(timeout(options.value()?)?);
            } else if is_word(word, "COUNT") && options.len() > 0 {
                let count = options.integer()?.max(0);
                request.count = usize::try_from(count).unwrap_or(usize::MAX);
            } else if is_word(word, "STREAMS") && options.len() > 0 {
                if !options.len().is_multiple_of(2) {
                    return Err(UNBALANCED);
                }
                request.streams = args.skip(args.len() - options.len());
                is_complete = true;
                break;
            } else if is_word(word, "GROUP") && options.len() > 1 {
                if !is_of_group {
                    return Err(GROUP_OF_XREAD);
                }
                request.group = Some((options.value()?, options.value()?));
            } else if is_word(word, "NOACK") {
                if !is_of_group {
                    return Err(NOACK_OF_XREAD);
                }
                request.no_ack = true;
            } else if is_word(word, "CLAIM") && options.len() > 0 {
                if !is_of_group {
                    return Err(CLAIM_OF_XREAD);
                }
                request.claim_idle_ms = Some(min_idle(options.value()?)?);
            } else {
                return Err(SYNTAX);
            }
        }
        match request.group {
            _ if !is_complete => Err(SYNTAX),
            None if is_of_group => Err(NO_GROUP),
            _ => Ok(request),
        }
    }

    fn new(args: ArgList<'a>) -> Self {
        Self {
            block: None,
            count: 0,
            group: None,
            no_ack: false,
            claim_idle_ms: None,
            streams: args,
        }
    }

    pub(super) fn keys(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let streams = self.streams;
        (0..streams.len() / 2).map(move |at| streams.get(at).unwrap_or_default())
    }

    /// The ID of a stream.
    fn id(&self, at: usize) -> &'a [u8] {
        let keys = self.streams.len() / 2;
        self.streams.get(keys + at).unwrap_or_default()
    }

    /// Where to read a stream of `XREAD`: behind this ID.
    pub(super) fn after(
        &self,
        at: usize,
        entry: Option<EntryRef<'_>>,
    ) -> Result<(Option<StreamId>, StreamSlice), Error> {
        let stream = stream_if_any(entry)?;
        let after = match self.id(at) {
            b"$" => stream.map_or(StreamId::MIN, |stream| stream.marks().last_id),
            b"+" => before_last(stream),
            b">" => return Err(NEW_OF_XREAD),
            id => strict_id(id, 0)?,
        };
        let slice = stream.map(|stream| self.entries_after(stream, after));
        Ok((Some(after), slice.unwrap_or_default()))
    }

    /// The entries behind an ID, as many as the request wants.
    pub(super) fn entries_after(&self, stream: StreamRef<'_>, after: StreamId) -> StreamSlice {
        slice_after(stream, after, self.count_max())
    }

    /// The largest number of entries of each stream.
    pub(super) fn count_max(&self) -> usize {
        match self.count {
            0 => usize::MAX,
            count => count,
        }
    }

    /// The same for a command that has waited.
    pub(super) fn count_after_waiting(&self) -> usize {
        match self.count {
            0 => COUNT_AFTER_WAITING,
            count => count,
        }
    }

    /// What to read of a stream of `XREADGROUP`, whose group must exist.
    pub(super) fn of_group(
        &self,
        (at, key): (usize, &[u8]),
        group: &[u8],
        entry: Option<EntryRef<'_>>,
    ) -> Result<GroupRead, Error> {
        let stream = stream_if_any(entry)?;
        if stream.and_then(|stream| stream.group(group)).is_none() {
            return Err(no_group_to_read(key, group));
        }
        match self.id(at) {
            b"$" => Err(LAST_OF_GROUP),
            b">" => Ok(GroupRead::New),
            id => Ok(match strict_id(id, 0)? {
                StreamId::MAX => GroupRead::New,
                id => GroupRead::History(id),
            }),
        }
    }
}

/// The ID behind which only the last entry is; the smallest one if there are no entries.
fn before_last(stream: Option<StreamRef<'_>>) -> StreamId {
    let last = stream.and_then(StreamRef::last_entry_id);
    last.and_then(StreamId::before).unwrap_or(StreamId::MIN)
}

/// What `XREADGROUP` reads of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupRead {
    /// `>`: entries that no consumer of the group has got.
    New,
    /// Entries that the consumer has got and not acknowledged, behind this ID.
    History(StreamId),
}

/// Up to `count` entries behind an ID.
pub(super) fn slice_after(stream: StreamRef<'_>, after: StreamId, count: usize) -> StreamSlice {
    let Some(from) = after.next() else {
        return StreamSlice::default();
    };
    stream.slice(&StreamRange {
        from,
        count,
        ..StreamRange::default()
    })
}

/// A time in milliseconds; `None` is for ever.
fn timeout(text: &[u8]) -> Result<Option<Duration>, Error> {
    let ms = resp_codec::number::parse_i64(text).ok_or(TIMEOUT)?;
    let ms = u64::try_from(ms).map_err(|_| TIMEOUT_NEGATIVE)?;
    Ok((ms > 0).then(|| Duration::from_millis(ms)))
}

/// The time for which an entry must be pending, in milliseconds.
fn min_idle(text: &[u8]) -> Result<u64, Error> {
    let ms = resp_codec::number::parse_i64(text).ok_or(MIN_IDLE)?;
    u64::try_from(ms).map_err(|_| MIN_IDLE_NEGATIVE)
}

/// Finds the keys of a request: half of the words behind `STREAMS`.
pub(super) fn keys(request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
    let mut at = 1;
    while let Some(word) = request.get(at) {
        at += match word {
            _ if ["BLOCK", "COUNT", "CLAIM"]
                .iter()
                .any(|it| is_word(word, it)) =>
            {
                2
            }
            _ if is_word(word, "GROUP") => 3,
            _ if is_word(word, "NOACK") => 1,
            _ if is_word(word, "STREAMS") => {
                let streams = request.len() - at - 1;
                if streams.is_multiple_of(2) {
                    (at + 1..at + 1 + streams / 2).for_each(found);
                }
                break;
            }
            _ => break,
        };
    }
    Ok(())
}
