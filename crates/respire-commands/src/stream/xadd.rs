//! `XADD key [NOMKSTREAM] [MAXLEN | MINID [= | ~] threshold [LIMIT count]] * | id field value [field value ...]`: adds an
//! entry to a stream.

use super::ids::{new_id, reply_id};
use super::references::CONDITION;
use super::trim_options::{TrimOptions, TrimRequest};
use super::trimming::{finish, lookups_max};
use crate::Ctx;
use crate::errors::{wrong_arity, wrong_type};
use crate::notify;
use crate::options::{Options, is_word};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Slot, Stream, StreamId, Trimmed, Trimming};

pub(super) static XADD: Spec = Spec {
    name: "xadd",
    summary: "Appends a new entry to a stream",
    since: "5.0.0",
    complexity: "O(1) when adding a new entry, O(N) when trimming where N being the number of entries evicted.",
    group: Group::Stream,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    keys: &[KeySpec::at(1)
        .flags(&[KeyFlag::Rw, KeyFlag::Update])
        .notes("UPDATE instead of INSERT because of the optional trimming feature")],
    args: &[
        Arg::key("key", 0),
        Arg::word("nomkstream", "NOMKSTREAM")
            .since("6.2.0")
            .optional(),
        CONDITION.since("8.2.0"),
        Arg::block(
            "trim",
            &[
                Arg::one_of(
                    "strategy",
                    &[
                        Arg::word("maxlen", "MAXLEN"),
                        Arg::word("minid", "MINID").since("6.2.0"),
                    ],
                ),
                Arg::one_of(
                    "operator",
                    &[Arg::word("equal", "="), Arg::word("approximately", "~")],
                )
                .optional(),
                Arg::new("threshold", ArgKind::String),
                Arg::new("count", ArgKind::Integer)
                    .token("LIMIT")
                    .since("6.2.0")
                    .optional(),
            ],
        )
        .optional(),
        Arg::one_of(
            "id_or_auto",
            &[Arg::word("auto_id", "*"), Arg::new("id", ArgKind::String)],
        ),
        Arg::block(
            "field_value",
            &[
                Arg::new("field", ArgKind::String),
                Arg::new("value", ArgKind::String),
            ],
        )
        .multiple(),
    ],
    tips: &["nondeterministic_output"],
    history: &[
        (
            "6.2.0",
            "Added the `NOMKSTREAM` option, `MINID` trimming strategy and the `LIMIT` option.",
        ),
        ("7.0.0", "Added support for the `<ms>-*` explicit ID form."),
        (
            "8.2.0",
            "Added the `KEEPREF`, `DELREF` and `ACKED` options.",
        ),
    ],
    examples: &[
        ("XADD s 5-1 name Ada", "$3\r\n5-1\r\n"),
        ("XADD s MAXLEN 1 5-* name Bob", "$3\r\n5-2\r\n"),
        ("XLEN s", ":1\r\n"),
        (
            "XADD s 5-2 name Cid",
            "-ERR The ID specified in XADD is equal or smaller than the target stream top item\r\n",
        ),
        ("XADD nothing NOMKSTREAM * name Ada", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

const ZERO: Error = Error::fixed("ERR The ID specified in XADD must be greater than 0-0");
const EXHAUSTED: Error =
    Error::fixed("ERR The stream has exhausted the last possible ID, unable to add more items");
const TOO_SMALL: Error = Error::fixed(
    "ERR The ID specified in XADD is equal or smaller than the target stream top item",
);
const TOO_LARGE: Error = Error::fixed("ERR Elements are too large to be stored");

/// The largest number of bytes of the fields and values of an entry.
const ENTRY_BYTES_MAX: usize = 1 << 30;

/// The ID that a request wants.
#[derive(Clone, Copy, Debug)]
enum NewId {
    /// `*`: the time.
    Auto,
    /// `ms-*`: this time.
    At(u64),
    Given(StreamId),
}

impl NewId {
    fn parse(text: &[u8]) -> Result<Self, Error> {
        Ok(match new_id(text)? {
            (id, true) => Self::Given(id),
            (id, false) => Self::At(id.ms),
        })
    }

    /// The ID of an entry behind this one.
    fn after(self, last: StreamId, now_ms: u64) -> Result<StreamId, Error> {
        let id = match self {
            Self::Auto if now_ms > last.ms => Some(StreamId { ms: now_ms, seq: 0 }),
            Self::Auto => last.next(),
            Self::At(ms) if ms == last.ms => {
                last.seq.checked_add(1).map(|seq| StreamId { ms, seq })
            }
            Self::At(ms) => Some(StreamId { ms, seq: 0 }),
            Self::Given(id) => Some(id),
        };
        id.filter(|id| *id > last).ok_or(TOO_SMALL)
    }
}

/// The options of a request.
struct Request<'a> {
    trim: Option<TrimRequest>,
    creates: bool,
    id: NewId,
    /// Fields and values in turn.
    pairs: ArgList<'a>,
}

fn parse(args: ArgList<'_>) -> Result<Request<'_>, Error> {
    let (mut options, mut trim, mut creates) = (Options::new(args), TrimOptions::default(), true);
    let mut id = None;
    while let Some(word) = options.next() {
        if word == b"*" {
            id = Some(NewId::Auto);
            break;
        }
        if trim.parse(word, &mut options)? {
            continue;
        }
        if is_word(word, "NOMKSTREAM") {
            creates = false;
            continue;
        }
        id = Some(NewId::parse(word)?);
        break;
    }
    let trim = trim.finish()?;
    let pairs = args.skip(args.len() - options.len());
    let Some(id) = id.filter(|_| pairs.len() >= 2 && pairs.len().is_multiple_of(2)) else {
        return Err(wrong_arity(XADD.name));
    };
    if matches!(id, NewId::Given(StreamId::MIN)) {
        return Err(ZERO);
    }
    Ok(Request {
        trim,
        creates,
        id,
        pairs,
    })
}

pub(super) fn xadd(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = parse(args.skip(1))?;
    let now_ms = ctx.now.unix_ms();
    let lookups_max = lookups_max(ctx);
    let added = ctx.view.update(&args[0], |slot| {
        if !request.creates && !slot.exists() {
            return Ok(None);
        }
        add(slot, &request, now_ms, lookups_max).map(Some)
    })?;
    let Some((id, begun)) = added else {
        reply.null();
        return Ok(());
    };
    if let Some(begun) = begun {
        finish(ctx, &args[0], begun);
    }
    reply_id(reply, id);
    Ok(())
}

/// A trim after its first step.
type Begun = (Trimming, Trimmed);

fn add(
    slot: &mut Slot<'_>,
    request: &Request<'_>,
    now_ms: u64,
    lookups_max: u64,
) -> Result<(StreamId, Option<Begun>), Error> {
    let (pairs, limits) = (request.pairs, slot.limits::<Stream>());
    let mut begun = None;
    let added = slot.edit(notify::XADD, |stream: &mut Stream| {
        let last = stream.marks().last_id;
        if last == StreamId::MAX {
            return Edited::Unchanged(Err(EXHAUSTED));
        }
        let id = match request.id.after(last, now_ms) {
            Ok(id) => id,
            Err(error) => return Edited::Unchanged(Err(error)),
        };
        if pairs.iter().map(<[u8]>::len).sum::<usize>() > ENTRY_BYTES_MAX {
            return Edited::Unchanged(Err(TOO_LARGE));
        }
        let fields = (0..pairs.len() / 2).map(|at| (&pairs[2 * at], &pairs[2 * at + 1]));
        stream.add(id, fields, &limits);
        if let Some(trim) = &request.trim {
            let mut trimming = Trimming::new(trim.of(&limits));
            let trimmed = stream.trim_some(&mut trimming, lookups_max);
            begun = Some((trimming, trimmed));
        }
        Edited::Changed(Ok(id))
    });
    let id = added.map_err(wrong_type)??;
    if begun.as_ref().is_some_and(|(_, first)| first.entries > 0) {
        slot.event(notify::XTRIM);
    }
    Ok((id, begun))
}
