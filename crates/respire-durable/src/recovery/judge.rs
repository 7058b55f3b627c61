//! Judges the manifest and all files of a log.

use super::files::{Files, Place};
use super::report::{FileReport, Judgement, Outcome, Refusal, Upgrade, Verdict};
use super::tail;
use super::walk::{Found, Walker};
use crate::checksum::{self, Sum};
use crate::log::LastFile;
use crate::manifest::{self, Entry, Kind, Manifest};
use std::io;

/// How a log is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The first part of all files' names: `appendfilename`.
    pub name: String,
    /// Whether a torn end may be cut: `aof-load-truncated`.
    pub load_truncated: bool,
    /// How much of a file is read at once, in bytes.
    pub window: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "appendonly.aof".to_owned(),
            load_truncated: true,
            window: 1 << 20,
        }
    }
}

/// Judges a log. Reads all its files once, a torn end more often; changes nothing. O(bytes).
///
/// Failures of reading are refusals.
pub fn judge(files: &mut impl Files, options: &Options) -> Judgement {
    let mut judge = Judge {
        files,
        options,
        names: Vec::new(),
        judgement: Judgement {
            outcome: Outcome::Empty,
            manifest: Manifest::default(),
            files: Vec::new(),
            upgrade: None,
            leftovers: Vec::new(),
            next_seq: 1,
            last: None,
            last_ticket: 0,
        },
    };
    if let Err(refusal) = judge.all() {
        judge.judgement.outcome = Outcome::Refused(*refusal);
    }
    judge.judgement
}

/// A refusal as an error; boxed, since it is large.
type Refused<T> = Result<T, Box<Refusal>>;

struct Judge<'a, F> {
    files: &'a mut F,
    options: &'a Options,
    names: Vec<String>,
    judgement: Judgement,
}

impl<F: Files> Judge<'_, F> {
    fn all(&mut self) -> Refused<()> {
        let manifest_name = manifest::name(&self.options.name);
        self.names = self
            .files
            .list()
            .map_err(|error| self.unreadable(&manifest_name, 0, &error))?;
        // Also of a log that is refused no name is used twice.
        self.note_names(&Manifest::default());
        let len = self.len(Place::Folder, &manifest_name)?;
        let Some(len) = len else {
            return self.without_manifest();
        };
        let manifest = self.read_manifest(&manifest_name, len)?;
        self.note_names(&manifest);
        self.judgement.manifest = manifest;
        let listed: Vec<_> = self.judgement.manifest.files().cloned().collect();
        if let [only] = listed.as_slice()
            && only.kind == Kind::Base
            && only.name == self.options.name
            && !self.names.contains(&only.name)
            && self.len(Place::Above, &only.name)?.is_some()
        {
            return self.upgrade(None);
        }
        for entry in &listed {
            match self.len(Place::Folder, &entry.name)? {
                None => {
                    return Err(self.refusal(
                        &entry.name,
                        0,
                        "the manifest lists it, and it is missing",
                    ));
                }
                Some(len) => self.fits_seal(entry, len)?,
            }
        }
        self.judge_files(Place::Folder, &listed)
    }

    /// There may be a log of an older Redis, or none; never one whose manifest is lost.
    fn without_manifest(&mut self) -> Refused<()> {
        let name = &self.options.name;
        let data = self
            .names
            .iter()
            .find(|file| manifest::seq_of(name, file).is_some());
        if let Some(data) = data {
            let what = "it belongs to a log whose manifest is missing";
            return Err(self.refusal(&data.clone(), 0, what));
        }
        let name = name.clone();
        if self.len(Place::Above, &name)?.is_some() {
            let entry = Entry {
                name,
                seq: 1,
                kind: Kind::Base,
                end: None,
            };
            self.judgement.manifest.base = Some(entry);
            return self.upgrade(Some(self.judgement.manifest.clone()));
        }
        Ok(())
    }

    fn upgrade(&mut self, manifest: Option<Manifest>) -> Refused<()> {
        self.judgement.upgrade = Some(Upgrade {
            manifest,
            file: self.options.name.clone(),
        });
        let listed: Vec<_> = self.judgement.manifest.files().cloned().collect();
        self.judge_files(Place::Above, &listed)
    }

    fn read_manifest(&mut self, name: &str, len: u64) -> Refused<Manifest> {
        let len = usize::try_from(len)
            .ok()
            .filter(|len| *len <= manifest::BYTES_MAX);
        let Some(len) = len else {
            return Err(self.refusal(name, 0, "is too large for a manifest"));
        };
        let text = tail::read(self.files, Place::Folder, name, 0..len as u64)
            .map_err(|error| self.unreadable(name, 0, &error))?;
        Manifest::parse(&text).map_err(|error| {
            let lines = text.split_inclusive(|byte| *byte == b'\n');
            let offset: usize = lines
                .take(error.line.saturating_sub(1))
                .map(<[u8]>::len)
                .sum();
            self.refusal(name, offset as u64, &error.to_string())
        })
    }

    /// Finds leftovers, and the first number that no file uses.
    fn note_names(&mut self, manifest: &Manifest) {
        let name = &self.options.name;
        let listed = |file: &str| {
            let mut entries = manifest.files().chain(&manifest.history);
            entries.any(|entry| entry.name == file)
        };
        let is_ours =
            |file: &str| file.starts_with("temp-") || manifest::seq_of(name, file).is_some();
        let leftovers = self
            .names
            .iter()
            .filter(|file| is_ours(file) && !listed(file));
        self.judgement.leftovers = leftovers.cloned().collect();
        self.judgement.leftovers.sort();
        let in_folder = self
            .names
            .iter()
            .filter_map(|file| manifest::seq_of(name, file));
        let in_manifest = manifest
            .files()
            .chain(&manifest.history)
            .map(|entry| entry.seq);
        let highest = in_folder.map(|(_, seq)| seq).chain(in_manifest).max();
        self.judgement.next_seq = highest.unwrap_or(0).saturating_add(1);
    }

    fn fits_seal(&self, entry: &Entry, len: u64) -> Refused<()> {
        match entry.end {
            Some(end) if end.len != len => {
                let what = format!("has {len} bytes; the manifest says {}", end.len);
                Err(self.refusal(&entry.name, end.len.min(len), &what))
            }
            _ => Ok(()),
        }
    }

    fn judge_files(&mut self, place: Place, listed: &[Entry]) -> Refused<()> {
        let mut torn = None;
        for (index, entry) in listed.iter().enumerate() {
            let is_last = index + 1 == listed.len();
            let len = self.len(place, &entry.name)?.unwrap_or(0);
            let report = self.judge_file(place, entry, len, is_last)?;
            let verdict = report.verdict.clone();
            self.judgement.files.push(report);
            match verdict {
                Verdict::Whole => {}
                Verdict::Torn(offset) => torn = Some((entry.name.clone(), offset, len - offset)),
                Verdict::Damaged { offset, what } => {
                    return Err(self.refusal(&entry.name, offset, &what));
                }
            }
        }
        self.judgement.outcome = match torn {
            Some((file, offset, bytes)) => Outcome::TornEnd {
                file,
                offset,
                bytes,
            },
            None if listed.is_empty() => Outcome::Empty,
            None => Outcome::Clean,
        };
        Ok(())
    }

    fn judge_file(
        &mut self,
        place: Place,
        entry: &Entry,
        len: u64,
        is_last: bool,
    ) -> Refused<FileReport> {
        let mut report = FileReport::new(entry, len);
        let mut begin = 0;
        let head = tail::read(self.files, place, &entry.name, 0..len.min(5))
            .map_err(|error| self.unreadable(&entry.name, 0, &error))?;
        if head == b"REDIS" {
            report.is_rdb = true;
            match self.files.rdb(place, &entry.name, len) {
                Ok(end) => begin = end.min(len),
                Err(problem) => {
                    report.verdict = Verdict::Damaged {
                        offset: problem.offset,
                        what: problem.what,
                    };
                    return Ok(report);
                }
            }
        }
        report.covered_to = begin;
        report.whole_to = begin;
        let walker = Walker::new(place, &entry.name, begin..len, self.options.window);
        let mut walk = Walk {
            place,
            seq: entry.seq,
            walker,
            report,
            last_ticket: self.judgement.last_ticket,
            in_multi: false,
            is_sealed: self.judgement.manifest.sealed,
            is_ours: false,
            has_tail: false,
            is_foreign: false,
            tail_units: 0,
            durable_to: None,
        };
        let result = walk.judge(self.files, self.options, is_last);
        result.map_err(|error| self.unreadable(&entry.name, walk.walker.at(), &error))?;
        let last_ticket = entry.end.map(|end| end.ticket);
        walk.report.last_ticket = last_ticket.or(walk.report.last_ticket);
        let ticket = last_ticket.unwrap_or(walk.last_ticket + walk.tail_units);
        self.judgement.last_ticket = self.judgement.last_ticket.max(ticket);
        if is_last && entry.kind == Kind::Increment && walk.report.verdict == Verdict::Whole {
            self.judgement.last = Some(LastFile {
                len,
                uncovered_from: walk.report.covered_to,
                // Redis's own bytes are taken as they are.
                undeclared_from: walk.durable_to.filter(|_| !walk.is_foreign).unwrap_or(len),
                uncovered_crc: walk.walker.block_crc(),
            });
        }
        Ok(walk.report)
    }

    fn len(&mut self, place: Place, name: &str) -> Refused<Option<u64>> {
        self.files
            .len(place, name)
            .map_err(|error| self.unreadable(name, 0, &error))
    }

    fn unreadable(&self, file: &str, offset: u64, error: &io::Error) -> Box<Refusal> {
        self.refusal(file, offset, &format!("cannot be read: {error}"))
    }

    fn refusal(&self, file: &str, offset: u64, what: &str) -> Box<Refusal> {
        let reports = || self.judgement.files.iter().rev();
        Box::new(Refusal {
            file: file.to_owned(),
            offset,
            what: what.to_owned(),
            last_good_ticket: reports().find_map(|report| report.last_ticket),
            last_good_time_s: reports().find_map(|report| report.last_time_s),
            command: "respire-server check PATH --fix".to_owned(),
        })
    }
}

impl FileReport {
    fn new(entry: &Entry, bytes: u64) -> Self {
        Self {
            name: entry.name.clone(),
            kind: entry.kind,
            is_rdb: false,
            bytes,
            commands: 0,
            checksums: 0,
            covered_to: 0,
            whole_to: 0,
            last_ticket: None,
            last_time_s: None,
            replication: None,
            verdict: Verdict::Whole,
        }
    }
}

/// One file while it is judged.
struct Walk {
    place: Place,
    seq: u64,
    walker: Walker,
    report: FileReport,
    last_ticket: u64,
    in_multi: bool,
    /// Whether the manifest is one of ours.
    is_sealed: bool,
    /// Whether the file has annotations of ours.
    is_ours: bool,
    /// Whether there is an item behind the last checksum line.
    has_tail: bool,
    /// Whether what lies behind the last checksum line is Redis's.
    is_foreign: bool,
    /// Units behind the last checksum line.
    tail_units: u64,
    /// How much of the file the last checksum line says is durable.
    durable_to: Option<u64>,
}

const OTHER: &str = "begins as another file of the log does";

/// Why a file is not whole.
enum Problem {
    /// It ends within a command, an annotation or a transaction.
    Short,
    /// Neither a command nor an annotation of ours.
    Bad(&'static str),
    /// It says that it is another file.
    Other,
    /// A checksum line does not fit the block before it.
    Sum(&'static str),
}

impl Walk {
    fn judge(
        &mut self,
        files: &mut impl Files,
        options: &Options,
        is_last: bool,
    ) -> io::Result<()> {
        let problem = loop {
            let found = match self.walker.next(files)? {
                Found::Command => self.command(),
                Found::Annotation => self.annotation(),
                Found::End if self.in_multi => Err(Problem::Short),
                Found::End => break None,
                Found::Short => Err(Problem::Short),
                Found::Bad(what) => Err(Problem::Bad(what)),
            };
            if let Err(problem) = found {
                break Some(problem);
            }
        };
        if is_last {
            return self.settle(files, options, problem);
        }
        if let Some(problem) = problem {
            let what = match problem {
                Problem::Short => "ends within a unit, and is not the last file",
                Problem::Bad(what) | Problem::Sum(what) => what,
                Problem::Other => OTHER,
            };
            self.damaged(what.to_owned());
        }
        Ok(())
    }

    fn damaged(&mut self, what: String) {
        self.report.verdict = Verdict::Damaged {
            offset: self.report.whole_to,
            what,
        };
    }

    fn command(&mut self) -> Result<(), Problem> {
        let name = self.walker.arg(0).unwrap_or_default();
        if !self.has_tail {
            self.has_tail = true;
            self.is_foreign = name.eq_ignore_ascii_case(b"SELECT");
        }
        let is_multi = name.eq_ignore_ascii_case(b"MULTI");
        let is_exec = name.eq_ignore_ascii_case(b"EXEC");
        if is_multi && self.in_multi {
            return Err(Problem::Bad("MULTI within MULTI"));
        }
        if is_exec && !self.in_multi {
            return Err(Problem::Bad("EXEC without MULTI"));
        }
        self.in_multi = is_multi || (self.in_multi && !is_exec);
        self.report.commands += 1;
        if !self.in_multi {
            self.report.whole_to = self.walker.end();
            self.tail_units += 1;
        }
        Ok(())
    }

    fn annotation(&mut self) -> Result<(), Problem> {
        let text = self.walker.item();
        if text.starts_with(checksum::PREFIX) {
            return self.checksum();
        }
        self.has_tail = true;
        if let Some(time) = checksum::parse_time(text) {
            self.report.last_time_s = Some(time);
        } else if let Some(number) = text.strip_prefix(checksum::FILE) {
            self.is_ours = true;
            self.durable_to = Some(0);
            if self.walker.at() != 0 || number != format!("{}\r\n", self.seq).as_bytes() {
                return Err(Problem::Other);
            }
        } else if text.starts_with(checksum::ANNOTATION) && text != checksum::DATABASE {
            return Err(Problem::Sum(
                "an annotation that this version does not write",
            ));
        }
        if !self.in_multi {
            self.report.whole_to = self.walker.end();
        }
        Ok(())
    }

    fn checksum(&mut self) -> Result<(), Problem> {
        self.is_ours = true;
        let (at, from) = (self.walker.at(), self.report.covered_to);
        let crc = self.walker.block_crc();
        let Some(line) = checksum::parse(self.walker.item()) else {
            return Err(Problem::Sum("a checksum line is not well formed"));
        };
        if self.in_multi {
            return Err(Problem::Sum("a checksum line stands within a transaction"));
        }
        if line.at != from || line.len != at - from {
            return Err(Problem::Sum(
                "a checksum line belongs to a block of another place or length",
            ));
        }
        let mut sum = Sum::new(self.seq, from);
        sum.skip(crc, line.len);
        if !checksum::holds(self.walker.item(), &line, sum) {
            return Err(Problem::Sum("the checksum of a block is wrong"));
        }
        if line.seq < self.last_ticket || line.durable > at {
            return Err(Problem::Sum("a checksum line says what cannot be"));
        }
        self.walker.begin_block();
        self.last_ticket = line.seq;
        self.durable_to = Some(line.durable);
        self.tail_units = 0;
        self.has_tail = false;
        self.is_foreign = false;
        self.report.checksums += 1;
        self.report.covered_to = self.walker.end();
        self.report.whole_to = self.walker.end();
        self.report.last_ticket = Some(line.seq);
        self.report.replication = Some((line.id, line.offset));
        Ok(())
    }

    /// The verdict on the last file, whose end may be torn.
    fn settle(
        &mut self,
        files: &mut impl Files,
        options: &Options,
        problem: Option<Problem>,
    ) -> io::Result<()> {
        let place = self.place;
        let (name, len) = (self.report.name.clone(), self.report.bytes);
        // A file of ours whose first sector is lost begins with zeros.
        let is_lost_from_start = matches!(problem, Some(Problem::Bad(_))) && self.walker.at() == 0;
        self.is_ours |= self.is_sealed && is_lost_from_start;
        let by_our_rules = self.is_ours && !self.is_foreign;
        if by_our_rules {
            // A killed process leaves units without a checksum line, and then the file's end. All
            // else comes from a power cut, or is worse.
            let tail = self.report.covered_to..self.report.whole_to;
            let is_end = matches!(problem, None | Some(Problem::Short));
            if !is_end || tail::has_hole(files, place, &name, tail)? {
                self.report.whole_to = self.report.covered_to;
            }
        }
        let whole_to = self.report.whole_to;
        if matches!(problem, Some(Problem::Other)) {
            self.damaged(OTHER.to_owned());
            return Ok(());
        }
        if whole_to == len {
            return Ok(());
        }
        let what = match problem {
            _ if by_our_rules => {
                let search = tail::Search {
                    place,
                    name: &name,
                    seq: self.seq,
                    from: whole_to,
                    block_from: self.report.covered_to,
                    len,
                };
                search.evidence(files)?
            }
            Some(Problem::Bad(what) | Problem::Sum(what)) => {
                let zeros = tail::is_zero(files, place, &name, self.walker.at()..len)?;
                (!zeros).then(|| what.to_owned())
            }
            _ => None,
        };
        match what {
            Some(what) => self.damaged(what),
            None if options.load_truncated => self.report.verdict = Verdict::Torn(whole_to),
            None => self.damaged("its end is torn, and aof-load-truncated is off".to_owned()),
        }
        Ok(())
    }
}
