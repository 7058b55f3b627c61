//! `KEEPREF`, `DELREF` and `ACKED`: what becomes of the references that groups have to deleted entries.

use super::access::stream_if_any;
use super::ids::strict_id;
use crate::Ctx;
use crate::errors::{SYNTAX, wrong_type};
use crate::notify;
use crate::options::{Options, is_word, positive};
use respire_engine::{Arg, ArgKind, ArgList, Error, Reply};
use respire_store::{Edited, References, Stream, StreamId};

const NUMIDS: Error = Error::fixed("ERR Number of IDs must be a positive integer");
const NUMIDS_MISMATCH: Error =
    Error::fixed("ERR The `numids` parameter must match the number of arguments");
const NO_IDS: Error = Error::fixed("ERR syntax error, IDS option is required");

/// The three words.
pub(super) const WORDS: [Arg; 3] = [
    Arg::word("keepref", "KEEPREF"),
    Arg::word("delref", "DELREF"),
    Arg::word("acked", "ACKED"),
];

/// The choice among them.
pub(super) const CONDITION: Arg = Arg::one_of("condition", &WORDS).optional();

/// The IDs behind their number.
pub(super) const IDS: Arg = Arg::block(
    "ids",
    &[
        Arg::new("numids", ArgKind::Integer),
        Arg::new("id", ArgKind::String).multiple(),
    ],
)
.token("IDS");

/// Reads one of the words.
pub(super) fn parse_word(word: &[u8]) -> Option<References> {
    const REFERENCES: [(&str, References); 3] = [
        ("KEEPREF", References::Keep),
        ("DELREF", References::Delete),
        ("ACKED", References::Respect),
    ];
    let mut all = REFERENCES.iter();
    let found = all.find(|(name, _)| is_word(word, name));
    found.map(|(_, references)| *references)
}

/// What was done with an ID.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    /// The entry is deleted.
    Deleted,
    /// It counts as deleted, but the stream had no such entry. Something else has changed.
    Absent,
    /// References to an entry that does not exist are deleted.
    Unreferenced,
    /// The entry stays, because a group needs it.
    Stays {
        is_changed: bool,
    },
}

impl Done {
    fn reply(self) -> i64 {
        match self {
            Self::Nothing | Self::Unreferenced => -1,
            Self::Deleted | Self::Absent => 1,
            Self::Stays { .. } => 2,
        }
    }

    fn is_change(self) -> bool {
        !matches!(self, Self::Nothing | Self::Stays { is_changed: false })
    }
}

/// Calls `f` with each ID of a request of `XDELEX` or `XACKDEL`, and replies with what was done.
pub(super) fn delete_each(
    ctx: &mut Ctx<'_>,
    (key, options): (&[u8], ArgList<'_>),
    reply: &mut Reply<'_>,
    mut f: impl FnMut(&mut Stream, StreamId, References) -> Done,
) -> Result<(), Error> {
    let (len, done) = ctx.view.update(key, |slot| {
        stream_if_any(slot.get())?;
        let request = Request::parse(options)?;
        let done = slot.edit_without_event(|stream: &mut Stream| {
            let each = |id: &StreamId| f(stream, *id, request.references);
            let done: Vec<Done> = request.ids.iter().map(each).collect();
            if done.contains(&Done::Deleted) {
                Edited::Changed(done)
            } else if done.iter().any(|done| done.is_change()) {
                Edited::Unwatched(done)
            } else {
                Edited::Unchanged(done)
            }
        });
        let done = done.map_err(wrong_type)?.unwrap_or_default();
        if done.contains(&Done::Deleted) {
            slot.event(notify::XDEL);
        }
        Ok::<_, Error>((request.ids.len(), done))
    })?;
    reply.array(len);
    for at in 0..len {
        let done = done.get(at).copied().unwrap_or(Done::Nothing);
        reply.int(done.reply());
    }
    Ok(())
}

/// What `XDELEX` and `XACKDEL` ask for.
struct Request {
    references: References,
    ids: Vec<StreamId>,
}

impl Request {
    fn parse(args: ArgList<'_>) -> Result<Self, Error> {
        let (mut options, mut references, mut ids) = (Options::new(args), None, None);
        while let Some(word) = options.next() {
            if let Some(chosen) = parse_word(word) {
                if references.replace(chosen).is_some() {
                    return Err(SYNTAX);
                }
            } else if is_word(word, "IDS") && options.len() > 0 {
                let count = positive(options.value()?, NUMIDS)?;
                if count > options.len() {
                    return Err(NUMIDS_MISMATCH);
                }
                ids = Some((args.len() - options.len(), count));
                (0..count).for_each(|_| _ = options.next());
            } else {
                return Err(SYNTAX);
            }
        }
        let (start, count) = ids.ok_or(NO_IDS)?;
        let ids = args.skip(start).iter().take(count);
        Ok(Self {
            references: references.unwrap_or_default(),
            ids: ids
                .map(|id| strict_id(id, 0))
                .collect::<Result<_, Error>>()?,
        })
    }
}
