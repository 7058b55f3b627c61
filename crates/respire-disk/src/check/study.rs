//! Judges what a path names, and says it in a report.

use super::path::{self, Target};
use super::report::{FileReport, FileVerdict, Kind, Loss, Report, Verdict, Wrong};
use super::view::{self, View};
use super::{Options, count};
use crate::load;
use respire_durable::checksum;
use respire_durable::manifest::{self, Entry, Manifest};
use respire_durable::recovery::{self, Files, Judgement, Outcome, Place, Refusal};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Checks what a path names: the folder of a log, the folder above it, a manifest, a file with commands, or a snapshot.
/// Changes nothing. O(bytes); files of a damaged log are read several times.
///
/// # Errors
/// If the path names none of these, or several, or cannot be read.
pub fn check(path: &Path, options: &Options<'_>) -> io::Result<Report> {
    match path::resolve(path)? {
        Target::Log { folder, name } => {
            let mut study = Study::of_log(&folder, &name)?;
            study.report(path, options)
        }
        Target::Commands { path: file, log } => {
            let mut study = Study::of_file(&file, log.as_deref())?;
            study.report(path, options)
        }
        Target::Snapshot { path: file } => of_snapshot(path, &file),
    }
}

/// A log, and what is wrong with it.
pub(super) struct Study {
    pub(super) kind: Kind,
    pub(super) folder: PathBuf,
    pub(super) view: View,
    pub(super) log: String,
    /// The judgement of all files.
    judgement: Judgement,
    /// The judgement of the files up to the wrong one.
    read: Judgement,
    /// The files that the manifest lists.
    pub(super) listed: Vec<Entry>,
    /// Where the files lie.
    pub(super) place: Place,
    pub(super) fault: Option<Fault>,
}

/// What is wrong.
pub(super) struct Fault {
    pub(super) refusal: Refusal,
    is_torn: bool,
    /// The file's place in the list; `None` if it is the manifest.
    pub(super) index: Option<usize>,
    /// Where the file can be cut; `None` if it cannot.
    pub(super) cut: Option<u64>,
}

impl Study {
    /// Judges a log.
    pub(super) fn of_log(folder: &Path, log: &str) -> io::Result<Self> {
        let view = View::new(folder, path::above(folder));
        Self::new(view, Kind::Log, folder, log)
    }

    /// Judges a file with commands. `log` is the name of the log to which it belongs.
    pub(super) fn of_file(path: &Path, log: Option<&str>) -> io::Result<Self> {
        let (name, folder) = (path::name(path)?, path::parent(path));
        let mut view = View::of_file(path, &name);
        let manifest = log.and_then(|log| path::manifest(&folder, log));
        let entry = manifest
            .as_ref()
            .and_then(|manifest| manifest.files().find(|entry| entry.name == name));
        let mut alone = Manifest {
            sealed: manifest.as_ref().is_some_and(|manifest| manifest.sealed),
            ..Manifest::default()
        };
        let entry = match entry {
            Some(entry) => entry.clone(),
            None => Entry {
                seq: number(path, &name)?,
                name,
                ..manifest::increment("", 1)
            },
        };
        match entry.kind {
            manifest::Kind::Base => alone.base = Some(entry),
            _ => alone.increments.push(entry),
        }
        // No file can have this name.
        let log = "/";
        view.set_manifest(&manifest::name(log), view::text(&alone));
        Self::new(view, Kind::Commands, &folder, log)
    }

    fn new(mut view: View, kind: Kind, folder: &Path, log: &str) -> io::Result<Self> {
        let judgement = judge(&mut view, log);
        let listed: Vec<_> = judgement.manifest.files().cloned().collect();
        let place = match judgement.upgrade {
            Some(_) => Place::Above,
            None => Place::Folder,
        };
        let mut study = Self {
            kind,
            folder: folder.to_owned(),
            view,
            log: log.to_owned(),
            read: judgement.clone(),
            judgement,
            listed,
            place,
            fault: None,
        };
        study.fault = study.find_fault()?;
        Ok(study)
    }

    fn find_fault(&mut self) -> io::Result<Option<Fault>> {
        let refusal = match &self.judgement.outcome {
            Outcome::Empty | Outcome::Clean => return Ok(None),
            Outcome::TornEnd { file, offset, .. } => {
                let index = self.index(file);
                let refusal = self.refusal(file, *offset, "its end is torn");
                return Ok(Some(Fault {
                    refusal,
                    is_torn: true,
                    index,
                    cut: Some(*offset),
                }));
            }
            Outcome::Refused(refusal) => refusal.clone(),
        };
        self.narrow(refusal).map(Some)
    }

    /// Finds the first wrong file, and where it can be cut.
    fn narrow(&mut self, refusal: Refusal) -> io::Result<Fault> {
        let mut fault = Fault {
            index: self.index(&refusal.file),
            refusal,
            is_torn: false,
            cut: None,
        };
        while let Some(index) = fault.index {
            let name = self.listed[index].name.clone();
            let is_there = self.view.len(self.place, &name)?.is_some();
            let read = self.judge_first(index + usize::from(is_there));
            self.read = read;
            match &self.read.outcome {
                Outcome::Refused(earlier) if self.index(&earlier.file) < Some(index) => {
                    fault.index = self.index(&earlier.file);
                    fault.refusal = earlier.clone();
                    continue;
                }
                Outcome::Refused(same) if same.file == name => fault.refusal = same.clone(),
                _ => {}
            }
            fault.cut = self.cut(index);
            fault.refusal.last_good_time_s = self.last_time(index, fault.cut)?;
            if let Some(what) = fault.refusal.what.strip_prefix("is damaged: ") {
                fault.refusal.what = what.to_owned();
            }
            break;
        }
        Ok(fault)
    }

    /// The last time before a place in a file.
    fn last_time(&mut self, index: usize, cut: Option<u64>) -> io::Result<Option<u64>> {
        let name = self.listed[index].name.clone();
        let begin = self.view.begin(self.place, &name);
        if let Some(cut) = cut.filter(|cut| *cut > begin) {
            let last = count::last_time(&mut self.view, (self.place, &name), begin..cut)?;
            if last.is_some() {
                return Ok(last);
            }
        }
        let before = self.read.files.iter().take(index);
        Ok(before.rev().find_map(|file| file.last_time_s))
    }

    /// Judges the first files as if they were all.
    fn judge_first(&mut self, count: usize) -> Judgement {
        let manifest = self.first(count);
        self.view
            .set_manifest(&manifest::name(&self.log), view::text(&manifest));
        let judgement = judge(&mut self.view, &self.log);
        if self.kind == Kind::Log {
            self.view.reset();
        }
        judgement
    }

    /// The manifest with the first files only. The last of them may grow.
    pub(super) fn first(&self, count: usize) -> Manifest {
        let mut manifest = self.judgement.manifest.clone();
        let bases = usize::from(manifest.base.is_some());
        manifest.increments.truncate(count.saturating_sub(bases));
        let last = manifest.increments.last_mut().or(manifest.base.as_mut());
        if let Some(last) = last {
            last.end = None;
        }
        manifest
    }

    /// Where the wrong file can be cut, so that what is left is a prefix of its changes.
    fn cut(&self, index: usize) -> Option<u64> {
        let entry = &self.listed[index];
        let is_base = entry.kind == manifest::Kind::Base;
        // A base that a server has written has its keys in no order: a part of it is no state of the past.
        let is_written = is_base && manifest::seq_of(&self.log, &entry.name).is_some();
        let Some(report) = self.read.files.get(index) else {
            return (!is_base).then_some(0);
        };
        let is_broken = matches!(self.view.snapshot(self.place, &entry.name), Some(Err(_)));
        let begin = self.view.begin(self.place, &entry.name);
        if is_broken || (report.is_rdb && begin == 0) || (is_written && !report.is_rdb) {
            return None;
        }
        // What lies between the last checksum line and the damage cannot be checked.
        Some(if report.checksums > 0 {
            report.covered_to
        } else {
            report.whole_to
        })
    }

    fn index(&self, file: &str) -> Option<usize> {
        self.listed.iter().position(|entry| entry.name == file)
    }

    fn refusal(&self, file: &str, offset: u64, what: &str) -> Refusal {
        let files = || self.judgement.files.iter().rev();
        Refusal {
            file: file.to_owned(),
            offset,
            what: what.to_owned(),
            last_good_ticket: files().find_map(|file| file.last_ticket),
            last_good_time_s: files().find_map(|file| file.last_time_s),
            command: String::new(),
        }
    }

    /// What is lost if a file is cut.
    pub(super) fn loss(&mut self, index: usize, offset: u64) -> io::Result<Loss> {
        let name = self.listed[index].name.clone();
        let mut loss = Loss {
            file: name.clone(),
            offset,
            ..Loss::default()
        };
        let names: Vec<_> = self.listed[index..]
            .iter()
            .map(|entry| entry.name.clone())
            .collect();
        for (nth, name) in names.into_iter().enumerate() {
            let from = if nth == 0 { offset } else { 0 };
            let Some(length) = self.view.len(self.place, &name)? else {
                continue;
            };
            let from = from.min(length);
            let range = from..length;
            let (commands, has_more) = count::commands(&mut self.view, (self.place, &name), range)?;
            loss.bytes += length - from;
            loss.commands += commands;
            loss.has_more |= has_more;
            if nth > 0 {
                loss.files.push(name);
            }
        }
        Ok(loss)
    }

    /// The names in the folder that the manifest does not list.
    fn unlisted(&mut self) -> io::Result<Vec<String>> {
        if self.kind != Kind::Log {
            return Ok(Vec::new());
        }
        let manifest = &self.judgement.manifest;
        let known: Vec<_> = manifest
            .files()
            .chain(&manifest.history)
            .map(|entry| entry.name.clone())
            .chain([manifest::name(&self.log)])
            .collect();
        let mut names = self.view.list()?;
        names.retain(|name| !known.contains(name));
        Ok(names)
    }

    fn files(&mut self) -> io::Result<Vec<FileReport>> {
        let mut reports = Vec::new();
        for (index, entry) in self.listed.clone().into_iter().enumerate() {
            let length = self.view.len(self.place, &entry.name)?;
            let snapshot = self.view.snapshot(self.place, &entry.name);
            let keys = snapshot.and_then(|result| Some(result.as_ref().ok()?.keys));
            let read = self.read.files.get(index);
            let is_base = entry.kind == manifest::Kind::Base;
            reports.push(FileReport {
                kind: match (self.kind, is_base) {
                    (Kind::Log, true) => "base",
                    (Kind::Log, false) => "increment",
                    _ => "commands",
                },
                bytes: length.unwrap_or(0),
                keys,
                commands: read.map_or(0, |read| read.commands),
                checksums: read.map_or(0, |read| read.checksums),
                last_seq: read.and_then(|read| read.last_ticket),
                last_time_s: read.and_then(|read| read.last_time_s),
                verdict: self.file_verdict(index, length),
                name: entry.name,
            });
        }
        Ok(reports)
    }

    fn file_verdict(&self, index: usize, length: Option<u64>) -> FileVerdict {
        let Some(length) = length else {
            return FileVerdict::Missing;
        };
        match &self.fault {
            Some(fault) if fault.index == Some(index) && fault.is_torn => FileVerdict::Torn {
                offset: fault.refusal.offset,
                bytes: length.saturating_sub(fault.refusal.offset),
            },
            Some(fault) if fault.index == Some(index) => FileVerdict::Damaged {
                offset: fault.refusal.offset,
                what: fault.refusal.what.clone(),
            },
            _ if self.read.files.get(index).is_some() => FileVerdict::Whole,
            _ => FileVerdict::Unread,
        }
    }

    fn unknown(&mut self, options: &Options<'_>) -> io::Result<Vec<super::Unknown>> {
        let mut unknown = Vec::new();
        let Some(knows) = options.knows else {
            return Ok(unknown);
        };
        for file in self.read.files.clone() {
            let begin = self.view.begin(self.place, &file.name);
            let range = begin..file.whole_to.max(begin);
            let found = count::unknown(&mut self.view, (self.place, &file.name), range, knows)?;
            unknown.extend(found);
        }
        Ok(unknown)
    }

    fn report(&mut self, path: &Path, options: &Options<'_>) -> io::Result<Report> {
        let is_in_use = is_in_use(&self.folder);
        let loss = match &self.fault {
            Some(Fault {
                index: Some(index),
                cut: Some(cut),
                ..
            }) => Some((*index, *cut)),
            _ => None,
        };
        let loss = loss.map(|(index, cut)| self.loss(index, cut)).transpose()?;
        let (files, unlisted) = (self.files()?, self.unlisted()?);
        let unknown = self.unknown(options)?;
        let verdict = match &self.fault {
            Some(fault) if fault.is_torn => Verdict::Torn,
            Some(_) => Verdict::Damaged,
            None if !unknown.is_empty() => Verdict::Unknown,
            None => Verdict::Whole,
        };
        let wrong = self.fault.as_ref().map(|fault| Wrong {
            file: fault.refusal.file.replace("/.manifest", "manifest"),
            offset: fault.refusal.offset,
            what: fault.refusal.what.clone(),
            last_good: fault.refusal.last_good_ticket,
            last_good_time_s: fault.refusal.last_good_time_s,
            loss,
        });
        let mut report = Report {
            path: path.to_owned(),
            kind: self.kind,
            folder: self.folder.clone(),
            is_in_use,
            files,
            unlisted,
            unknown,
            verdict,
            wrong,
            advice: String::new(),
            command: None,
        };
        advise(&mut report);
        Ok(report)
    }
}

fn judge(view: &mut View, log: &str) -> Judgement {
    let options = recovery::Options {
        name: log.to_owned(),
        ..recovery::Options::default()
    };
    recovery::judge(view, &options)
}

/// The number of a file: that in its name, or that in its first line.
fn number(path: &Path, name: &str) -> io::Result<u64> {
    use std::io::Read as _;

    let mut head = String::new();
    let file = File::open(path)?.take(40);
    let mut bytes = Vec::new();
    io::BufReader::new(file).read_to_end(&mut bytes)?;
    let line = bytes.strip_prefix(checksum::FILE);
    for byte in line.unwrap_or_default() {
        if !byte.is_ascii_digit() {
            break;
        }
        head.push(char::from(*byte));
    }
    let in_name = name.split('.').rev().find_map(|part| part.parse().ok());
    Ok(in_name.or_else(|| head.parse().ok()).unwrap_or(1).max(1))
}

/// Whether a server has locked the folder.
fn is_in_use(folder: &Path) -> bool {
    let Ok(folder) = File::open(folder) else {
        return false;
    };
    let locked = flock(&folder, FlockOperation::NonBlockingLockShared);
    locked == Err(rustix::io::Errno::WOULDBLOCK)
}

/// A path as it is typed in a shell.
fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "./_-+=:@%,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn advise(report: &mut Report) {
    let path = typed(&report.path);
    let has_repair = report
        .wrong
        .as_ref()
        .is_some_and(|wrong| wrong.loss.is_some());
    let is_listed = |name: &str| report.files.iter().any(|file| file.name == name);
    let is_manifest = report
        .wrong
        .as_ref()
        .is_some_and(|wrong| !is_listed(&wrong.file));
    let (advice, command) = match report.verdict {
        Verdict::Whole => ("There is nothing to do.", None),
        Verdict::Torn => (
            "A server cuts this off itself when it starts, unless aof-load-truncated is no. To cut it now:",
            Some("--fix"),
        ),
        Verdict::Damaged if has_repair => (
            "A server refuses to start. If there is no better copy, keep what lies before the damage:",
            Some("--fix"),
        ),
        Verdict::Damaged if report.kind == Kind::Snapshot => (
            "This cannot be repaired: keys are in no order, so a part of them is no state of the past. Load an older \
             copy of the file; the keys before the place can be read.",
            None,
        ),
        Verdict::Damaged if is_manifest => (
            "This cannot be repaired without knowing which files belong together: load an older copy of the manifest \
             with the files that it lists, or write it anew.",
            None,
        ),
        Verdict::Damaged => (
            "This cannot be repaired: all changes behind it build upon it. Load an older copy of the directory, or a \
             replica's; nothing here was changed.",
            None,
        ),
        Verdict::Unknown => (
            "The files are whole, but this server cannot load them. Load them with the server that wrote them, or cut \
             before the first such command, and lose all behind it:",
            None,
        ),
    };
    report.advice = advice.to_owned();
    report.command = command.map(|flag| format!("respire-server check {path} {flag}"));
    if let (Verdict::Unknown, Some(first)) = (report.verdict, report.unknown.first()) {
        let (file, offset) = (typed(&report.folder.join(&first.file)), first.offset);
        report.command = Some(format!(
            "respire-server check {file} --until-offset {offset}"
        ));
    }
}

fn of_snapshot(path: &Path, file: &Path) -> io::Result<Report> {
    let bytes = std::fs::metadata(file)?.len();
    let result = view::snapshot(file, false)?;
    let folder = path::parent(file);
    let name = path::name(file)?;
    let found: load::Report = result.as_ref().cloned().unwrap_or_default();
    let wrong = result.err().map(|fault| Wrong {
        file: name.clone(),
        offset: fault.offset,
        what: view::what(&fault),
        last_good: None,
        last_good_time_s: None,
        loss: None,
    });
    let verdict = match &wrong {
        None => FileVerdict::Whole,
        Some(wrong) => FileVerdict::Damaged {
            offset: wrong.offset,
            what: wrong.what.clone(),
        },
    };
    let mut report = Report {
        path: path.to_owned(),
        kind: Kind::Snapshot,
        is_in_use: is_in_use(&folder),
        folder,
        files: vec![FileReport {
            name,
            kind: "snapshot",
            bytes,
            keys: wrong.is_none().then_some(found.keys),
            commands: 0,
            checksums: u64::from(found.has_checksum),
            last_seq: None,
            last_time_s: found.created_s,
            verdict,
        }],
        unlisted: Vec::new(),
        unknown: Vec::new(),
        verdict: match wrong {
            None => Verdict::Whole,
            Some(_) => Verdict::Damaged,
        },
        wrong,
        advice: String::new(),
        command: None,
    };
    advise(&mut report);
    Ok(report)
}
