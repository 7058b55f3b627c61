//! `XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID id]`: sets what a stream knows of its entries.

use super::ids::strict_id;
use crate::Ctx;
use crate::errors::{NO_SUCH_KEY, SYNTAX, wrong_type};
use crate::notify;
use crate::options::{Options, is_word};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Kind, Stream, StreamId, StreamMarks};

pub(super) static XSETID: Spec = Spec {
    name: "xsetid",
    summary: "An internal command for replicating stream values",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::at_least(3),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("last-id", ArgKind::String),
        Arg::new("entries_added", ArgKind::Integer)
            .token("ENTRIESADDED")
            .since("7.0.0")
            .optional(),
        Arg::new("max_deleted_entry_id", ArgKind::String)
            .token("MAXDELETEDID")
            .since("7.0.0")
            .optional(),
    ],
    history: &[(
        "7.0.0",
        "Added the `entries_added` and `max_deleted_entry_id` arguments.",
    )],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XSETID s 5-5", "+OK\r\n"),
        ("XADD s 5-* name Bob", "$3\r\n5-6\r\n"),
        ("XSETID nothing 1", "-ERR no such key\r\n"),
    ],
    ..Spec::EMPTY
};

const NEGATIVE: Error = Error::fixed("ERR entries_added must be positive");
const BELOW_DELETED: Error = Error::fixed(
    "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
);
const BELOW_TOP: Error =
    Error::fixed("ERR The ID specified in XSETID is smaller than the target stream top item");
const BELOW_LENGTH: Error = Error::fixed(
    "ERR The entries_added specified in XSETID is smaller than the target stream length",
);

struct Request {
    last_id: StreamId,
    entries_added: Option<u64>,
    max_deleted_id: StreamId,
}

fn parse(args: ArgList<'_>) -> Result<Request, Error> {
    let mut request = Request {
        last_id: strict_id(&args[0], 0)?,
        entries_added: None,
        max_deleted_id: StreamId::MIN,
    };
    let mut options = Options::new(args.skip(1));
    while let Some(word) = options.next() {
        if options.len() > 0 && is_word(word, "ENTRIESADDED") {
            let added = options.integer()?;
            request.entries_added = Some(u64::try_from(added).map_err(|_| NEGATIVE)?);
        } else if options.len() > 0 && is_word(word, "MAXDELETEDID") {
            request.max_deleted_id = strict_id(options.value()?, 0)?;
            if request.last_id < request.max_deleted_id {
                return Err(BELOW_DELETED);
            }
        } else {
            return Err(SYNTAX);
        }
    }
    Ok(request)
}

impl Request {
    /// The stream's marks as the request wants them.
    fn marks(&self, stream: &Stream) -> Result<StreamMarks, Error> {
        let marks = *stream.marks();
        if let Some(top) = stream.read().last_entry_id() {
            if self.last_id < top {
                return Err(BELOW_TOP);
            }
            if self.entries_added.is_some_and(|added| added < marks.length) {
                return Err(BELOW_LENGTH);
            }
        }
        Ok(StreamMarks {
            last_id: self.last_id,
            entries_added: self.entries_added.unwrap_or(marks.entries_added),
            max_deleted_id: match self.max_deleted_id {
                StreamId::MIN => marks.max_deleted_id,
                id => id,
            },
            ..marks
        })
    }
}

pub(super) fn xsetid(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = parse(args.skip(1))?;
    let set = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(notify::XSETID, |stream: &mut Stream| {
            match request.marks(stream) {
                Ok(marks) => {
                    stream.set_marks(marks);
                    Edited::Unwatched(Ok(()))
                }
                Err(error) => Edited::Unchanged(Err(error)),
            }
        })
    });
    set.map_err(wrong_type)?.ok_or(NO_SUCH_KEY)??;
    reply.ok();
    Ok(())
}
