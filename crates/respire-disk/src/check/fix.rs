//! Cuts off what is damaged, or what lies behind a place or a time.

use super::apply::{Plan, make};
use super::path::{self, Target};
use super::report::{Kind, Loss, Report};
use super::study::{Study, check};
use super::{Options, time};
use respire_durable::manifest;
use respire_durable::recovery::{self, Files, Found, Outcome, Place, Until, Walker, cut_for};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{self, Error, ErrorKind};
use std::path::Path;

/// What is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// What is torn or damaged, and what lies behind it.
    Damage,
    /// All behind the last whole unit that ends at or before this offset of the file that the path names, or of the
    /// last file of a log.
    Offset(u64),
    /// All from the first unit on that is later than this time, in unix seconds.
    Time(u64),
}

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// What was found before.
    pub before: Report,
    /// What was changed; `None` if nothing was.
    pub done: Option<Done>,
    /// Why nothing was changed, though something is wrong.
    pub refused: Option<String>,
}

/// What a repair has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What was cut off.
    pub loss: Loss,
    /// The names of the originals, in the folder of the files.
    pub originals: Vec<String>,
    /// What a check says now.
    pub after: Report,
}

/// Cuts files. The originals stay, under names that end with the time `now_s`, in unix seconds. What is kept is never
/// behind damage, whatever offset or time is asked for. O(bytes).
///
/// If the process ends within this, a start of a server works or refuses, and this can be called again.
///
/// # Errors
/// If the path cannot be read, a server uses the folder, the offset or the time does not lie in the files, or a change
/// cannot be made.
pub fn fix(path: &Path, cut: Cut, options: &Options<'_>, now_s: u64) -> io::Result<Fixed> {
    let target = path::resolve(path)?;
    let folder = match &target {
        Target::Log { folder, .. } => folder.clone(),
        Target::Commands { path, .. } | Target::Snapshot { path } => path::parent(path),
    };
    // Dropped, and so given back, when all is done.
    let _lock = lock(&folder)?;
    let look = || -> io::Result<Report> {
        // The lock that is seen is this one.
        let is_in_use = false;
        let report = check(path, options)?;
        Ok(Report {
            is_in_use,
            ..report
        })
    };
    let before = look()?;
    let (mut study, focus) = match &target {
        Target::Snapshot { .. } => return Ok(refuse(before, cut)),
        Target::Commands {
            path: file,
            log: None,
        } => (Study::of_file(file, None)?, Some(path::name(file)?)),
        Target::Commands {
            path: file,
            log: Some(log),
        } => (Study::of_log(&folder, log)?, Some(path::name(file)?)),
        Target::Log { folder, name } => (Study::of_log(folder, name)?, None),
    };
    if study.place == Place::Above {
        let text = format!(
            "the log is a single file: name {}",
            study.view.path(Place::Above, &study.log).display()
        );
        return Err(wrong(&text));
    }
    let Some((index, offset)) = find(&mut study, cut, focus.as_deref())? else {
        let is_wrong = study.fault.is_some();
        return Ok(Fixed {
            refused: is_wrong.then(|| before.advice.clone()),
            before,
            done: None,
        });
    };
    let loss = study.loss(index, offset)?;
    let plan = plan(&mut study, index, offset, &loss);
    if let Some(refused) = rehearse(&mut study, &plan) {
        return Ok(Fixed {
            before,
            done: None,
            refused: Some(refused),
        });
    }
    let suffix = plan.suffix(&folder, now_s);
    for step in plan.steps(&suffix) {
        make(&folder, &step)?;
    }
    let done = Done {
        loss,
        originals: plan.kept(&suffix),
        after: look()?,
    };
    Ok(Fixed {
        before,
        done: Some(done),
        refused: None,
    })
}

/// Keeps servers away from a folder.
fn lock(folder: &Path) -> io::Result<File> {
    let lock = File::open(folder)?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
        let text = format!(
            "a server uses {}: stop it first ({error})",
            folder.display()
        );
        Error::new(ErrorKind::WouldBlock, text)
    })?;
    Ok(lock)
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, what)
}

fn refuse(before: Report, cut: Cut) -> Fixed {
    let is_whole = before.wrong.is_none();
    let text = if is_whole {
        "A snapshot cannot be cut: it is the state of one moment."
    } else {
        &before.advice
    };
    let is_fine = is_whole && cut == Cut::Damage;
    Fixed {
        refused: (!is_fine).then(|| text.to_owned()),
        before,
        done: None,
    }
}

/// Where to cut; `None` if nothing is to be cut, or cannot be.
fn find(study: &mut Study, cut: Cut, focus: Option<&str>) -> io::Result<Option<(usize, u64)>> {
    let damage = match &study.fault {
        None => None,
        Some(fault) => match (fault.index, fault.cut) {
            (Some(index), Some(offset)) => Some((index, offset)),
            _ => return Ok(None),
        },
    };
    let asked = match cut {
        Cut::Damage => None,
        Cut::Offset(limit) => at_offset(study, limit, focus)?,
        Cut::Time(limit) => at_time(study, limit, damage)?,
    };
    Ok(match (asked, damage) {
        (Some(asked), Some(damage)) => Some(asked.min(damage)),
        (asked, damage) => asked.or(damage),
    })
}

fn at_offset(
    study: &mut Study,
    limit: u64,
    focus: Option<&str>,
) -> io::Result<Option<(usize, u64)>> {
    let found = match focus {
        Some(name) => study.listed.iter().position(|entry| entry.name == name),
        None => study.listed.len().checked_sub(1),
    };
    let Some(index) = found else {
        return Ok(None);
    };
    let name = study.listed[index].name.clone();
    let begin = study.view.begin(Place::Folder, &name);
    if limit < begin {
        let text = format!("{name}: a snapshot ends at byte {begin}; it cannot be cut before that");
        return Err(wrong(&text));
    }
    if study
        .view
        .len(Place::Folder, &name)?
        .is_some_and(|length| limit > length)
    {
        return Err(wrong(&format!("{name}: byte {limit} is behind its end")));
    }
    let offset = cut_for(&mut study.view, &name, begin, Until::Offset(limit))?;
    let is_last = index + 1 == study.listed.len();
    Ok(match offset {
        Some(offset) => Some((index, offset)),
        // All of it is kept, and nothing behind it.
        None if !is_last => {
            let length = study.view.len(Place::Folder, &name)?;
            length.map(|length| (index, length))
        }
        None => None,
    })
}

fn at_time(
    study: &mut Study,
    limit: u64,
    damage: Option<(usize, u64)>,
) -> io::Result<Option<(usize, u64)>> {
    let mut has_times = false;
    for (index, entry) in study.listed.clone().into_iter().enumerate() {
        let begin = study.view.begin(Place::Folder, &entry.name);
        if let Some(Ok(base)) = study.view.snapshot(Place::Folder, &entry.name)
            && let Some(created_s) = base.created_s
            && created_s > limit
        {
            let text = format!(
                "{}: was written at {}, which is later: load an older copy",
                entry.name,
                time::utc(created_s)
            );
            return Err(wrong(&text));
        }
        let end = match damage {
            Some((damaged, _)) if index > damaged => break,
            Some((damaged, end)) if index == damaged => end,
            _ => study.view.len(Place::Folder, &entry.name)?.unwrap_or(0),
        };
        let (first, has_some) = first_later(&mut study.view, &entry.name, begin..end, limit)?;
        has_times |= has_some;
        if first {
            let offset = cut_for(&mut study.view, &entry.name, begin, Until::Time(limit))?;
            return Ok(offset.map(|offset| (index, offset)));
        }
    }
    if !has_times {
        return Err(wrong(
            "the files have no times (lines that begin with #TS:): a server writes them with \
             aof-timestamp-enabled yes. Use --until-offset instead",
        ));
    }
    Ok(None)
}

/// Whether a range of a file has a time later than a limit, and whether it has any.
fn first_later(
    files: &mut impl Files,
    name: &str,
    range: std::ops::Range<u64>,
    limit: u64,
) -> io::Result<(bool, bool)> {
    let mut walker = Walker::new(Place::Folder, name, range, 1 << 20);
    let mut has_times = false;
    loop {
        match walker.next(files)? {
            Found::Command => {}
            Found::Annotation => {
                let time = respire_durable::checksum::parse_time(walker.item());
                has_times |= time.is_some();
                if time > Some(limit) {
                    return Ok((true, true));
                }
            }
            Found::End | Found::Short | Found::Bad(_) => return Ok((false, has_times)),
        }
    }
}

/// The changes that cut a file and drop those behind it.
fn plan(study: &mut Study, index: usize, offset: u64, loss: &Loss) -> Plan {
    let name = study.listed[index].name.clone();
    let is_log = study.kind == Kind::Log;
    // A file of which nothing is left goes as a whole, if there is another one.
    let is_dropped = is_log && offset == 0 && index > 0;
    // A file whose length cannot be had fails when it is copied.
    let length = study.view.len(Place::Folder, &name).ok().flatten();
    let is_shorter = length != Some(offset);
    let has_file = length.is_some();
    let mut plan = Plan {
        cut: (is_shorter && !is_dropped).then(|| (name.clone(), offset)),
        drops: loss.files.clone(),
        manifest: None,
    };
    if is_dropped && has_file {
        plan.drops.insert(0, name);
    }
    let count = if is_dropped { index } else { index + 1 };
    let is_sealed = study.listed[index].end.is_some();
    if is_log && (count < study.listed.len() || is_sealed) {
        let text = study.first(count).to_bytes();
        plan.manifest = Some((manifest::name(&study.log), text));
    }
    plan
}

/// Judges what the changes would leave. Returns what is wrong with that.
fn rehearse(study: &mut Study, plan: &Plan) -> Option<String> {
    if let Some((name, text)) = &plan.manifest {
        study.view.set_manifest(name, text.clone());
    }
    if let Some((name, bytes)) = &plan.cut {
        study.view.set_limit(name, *bytes);
    }
    let options = recovery::Options {
        name: study.log.clone(),
        ..recovery::Options::default()
    };
    match recovery::judge(&mut study.view, &options).outcome {
        Outcome::Clean | Outcome::Empty => None,
        Outcome::TornEnd { file, offset, .. } => Some(format!(
            "Nothing was changed: {file} would still be torn at byte {offset}."
        )),
        Outcome::Refused(refusal) => Some(format!(
            "Nothing was changed: {} would still be damaged at byte {}: {}.",
            refusal.file, refusal.offset, refusal.what
        )),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The changes of a repair, which are not made.
    pub(crate) fn steps_of(folder: &Path, log: &str) -> Vec<super::super::apply::Step> {
        let mut study = Study::of_log(folder, log).unwrap();
        let (index, offset) = find(&mut study, Cut::Damage, None).unwrap().unwrap();
        let loss = study.loss(index, offset).unwrap();
        let plan = plan(&mut study, index, offset, &loss);
        plan.steps(&plan.suffix(folder, 0))
    }
}
