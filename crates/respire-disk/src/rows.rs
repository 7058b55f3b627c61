//! `SAVE`, `BGSAVE`, `BGREWRITEAOF`: the commands on files.

use crate::disk::Disk;
use crate::keeper::Answer;
use respire_commands::HasKv;
use respire_engine::{
    Arg, ArgList, Arity, Command, Cx, Error, Flags, Flow, Group, Reply, Router, Spec,
};
use std::sync::Arc;

/// Adds the commands to a router.
pub(crate) fn add_to<A: HasKv>(router: Router<A>, disk: &Arc<Disk>) -> Router<A> {
    let row = |spec, run| Row {
        spec,
        disk: Arc::clone(disk),
        run,
    };
    router
        .add(row(&SAVE, Run::Later(save)))
        .add(row(&BGSAVE, Run::Now(bgsave)))
        .add(row(&BGREWRITEAOF, Run::Now(bgrewriteaof)))
}

/// The descriptions of the commands.
pub static SPECS: [&Spec; 3] = [&BGREWRITEAOF, &BGSAVE, &SAVE];

static SAVE: Spec = Spec {
    name: "save",
    summary: "Synchronously save the dataset to disk",
    since: "1.0.0",
    complexity: "O(N) where N is the total number of keys in all databases",
    group: Group::Server,
    arity: Arity::exactly(1),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::NO_ASYNC_LOADING)
        .with(Flags::NO_MULTI),
    ..Spec::EMPTY
};

static BGSAVE: Spec = Spec {
    name: "bgsave",
    summary: "Asynchronously save the dataset to disk",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::NO_ASYNC_LOADING),
    args: &[Arg::word("schedule", "SCHEDULE").since("3.2.2").optional()],
    history: &[("3.2.2", "Added the `SCHEDULE` option.")],
    ..Spec::EMPTY
};

static BGREWRITEAOF: Spec = Spec {
    name: "bgrewriteaof",
    summary: "Asynchronously rewrite the append-only file",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::exactly(1),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::NO_ASYNC_LOADING),
    ..Spec::EMPTY
};

/// A command that asks the keeper for something.
struct Row {
    spec: &'static Spec,
    disk: Arc<Disk>,
    run: Run,
}

#[derive(Clone, Copy)]
enum Run {
    /// It is answered at once.
    Now(fn(&Disk, ArgList<'_>) -> Result<&'static str, Error>),
    /// It is answered when the work is done.
    Later(fn(&Disk, Answer) -> Result<(), Error>),
}

impl<A: HasKv> Command<A> for Row {
    fn spec(&self) -> &Spec {
        self.spec
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        let error = match self.run {
            Run::Now(run) => match run(&self.disk, args) {
                Ok(text) => {
                    reply.simple(text);
                    return Flow::Replied;
                }
                Err(error) => error,
            },
            Run::Later(run) => {
                let later = cx.later();
                let answer = move |outcome: Result<(), Error>| {
                    match outcome {
                        Ok(()) => later.reply(()),
                        Err(error) => later.reply(error),
                    };
                };
                match run(&self.disk, Box::new(answer)) {
                    Ok(()) => return Flow::Pending,
                    Err(error) => error,
                }
            }
        };
        reply.error(error.text());
        Flow::Replied
    }
}

const SAVING: Error = Error::fixed("ERR Background save already in progress");

const REWRITING: Error = Error::fixed(
    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in \
     order to schedule a BGSAVE whenever possible.",
);

const REWRITING_ALREADY: Error =
    Error::fixed("ERR Background append only file rewriting already in progress");

const NO_LOG: Error = Error::fixed("ERR the append-only file is off (appendonly no)");

/// The reply to `BGSAVE` and `BGREWRITEAOF` before the files are open.
const NOT_OPEN: Error = Error::fixed("ERR this server has no directory for its data");

fn save(disk: &Disk, answer: Answer) -> Result<(), Error> {
    if disk.status().save.is_running() {
        return Err(SAVING);
    }
    let keeper = disk.keeper().ok_or(NOT_OPEN)?;
    keeper.save(answer);
    Ok(())
}

fn bgsave(disk: &Disk, args: ArgList<'_>) -> Result<&'static str, Error> {
    let is_scheduled = match args.get(0) {
        None => false,
        Some(word) if args.len() == 1 && word.eq_ignore_ascii_case(b"SCHEDULE") => true,
        Some(_) => return Err(Error::fixed("ERR syntax error")),
    };
    let status = disk.status();
    let keeper = disk.keeper().ok_or(NOT_OPEN)?;
    if status.save.is_running() {
        return Err(SAVING);
    }
    if status.rewrite.is_running() {
        if !is_scheduled {
            return Err(REWRITING);
        }
        status.schedule_save();
        return Ok("Background saving scheduled");
    }
    // It is in progress from here on: who asks next must not take it for over.
    if !status.save.begin() {
        return Err(SAVING);
    }
    keeper.look();
    Ok("Background saving started")
}

fn bgrewriteaof(disk: &Disk, _: ArgList<'_>) -> Result<&'static str, Error> {
    let status = disk.status();
    let keeper = disk.keeper().ok_or(NOT_OPEN)?;
    if status.rewrite.is_running() {
        return Err(REWRITING_ALREADY);
    }
    if !keeper.has_log() {
        return Err(NO_LOG);
    }
    if status.save.is_running() {
        status.schedule_rewrite();
        return Ok("Background append only file rewriting scheduled");
    }
    if !status.rewrite.begin() {
        return Err(REWRITING_ALREADY);
    }
    keeper.look();
    Ok("Background append only file rewriting started")
}
