//! Finds out what a path names.

use respire_durable::manifest::{self, Manifest};
use std::fs::{self, File};
use std::io::{self, Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A log.
    Log { folder: PathBuf, name: String },
    /// A file with commands.
    Commands {
        path: PathBuf,
        /// The name of the log whose manifest lists the file.
        log: Option<String>,
    },
    /// A snapshot.
    Snapshot { path: PathBuf },
}

const MANIFEST: &str = ".manifest";

/// Finds out what a path names.
pub(super) fn resolve(path: &Path) -> io::Result<Target> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return folder(path);
    }
    if !metadata.is_file() {
        return Err(wrong("is neither a file nor a directory"));
    }
    file(path)
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, what)
}

/// The folder of a file.
pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The folder above a folder.
pub(super) fn above(folder: &Path) -> PathBuf {
    match folder.canonicalize() {
        Ok(whole) => parent(&whole),
        Err(_) => folder.join(".."),
    }
}

/// The name of a file, which must be UTF-8.
pub(super) fn name(path: &Path) -> io::Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name
        .ok_or_else(|| wrong("the name of the file is not UTF-8"))?
        .to_owned())
}

/// The names in a folder, in order, without those that are not UTF-8.
pub(super) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// The names of the logs in a folder.
fn logs(names: &[String]) -> Vec<String> {
    let is_temporary = |name: &str| name.starts_with("temp-");
    let manifests = names
        .iter()
        .filter(|name| !is_temporary(name))
        .filter_map(|name| name.strip_suffix(MANIFEST));
    let mut logs: Vec<_> = manifests.map(str::to_owned).collect();
    if logs.is_empty() {
        // The manifest may be lost.
        let data = names.iter().filter(|name| !is_temporary(name));
        logs.extend(data.filter_map(|name| log_of(name)).map(str::to_owned));
        logs.dedup();
    }
    logs
}

/// The name of the log to which a file belongs, as its name says.
fn log_of(name: &str) -> Option<&str> {
    let rest = ["incr.aof", "base.rdb", "base.aof"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))?;
    let (log, _) = rest.strip_suffix('.')?.rsplit_once('.')?;
    manifest::seq_of(log, name).map(|_| log)
}

fn one(mut found: Vec<Target>, paths: &[String]) -> io::Result<Option<Target>> {
    if found.len() > 1 {
        let what = format!("has several: name one of {}", paths.join(", "));
        return Err(wrong(&what));
    }
    Ok(found.pop())
}

fn folder(path: &Path) -> io::Result<Target> {
    let own = names(path)?;
    let found = log_in(path, &own)?;
    if let Some(target) = found {
        return Ok(target);
    }
    let (mut found, mut paths) = (Vec::new(), Vec::new());
    for name in &own {
        let below = path.join(name);
        if below.is_dir()
            && let Ok(names) = names(&below)
            && let Some(target) = log_in(&below, &names)?
        {
            found.push(target);
            paths.push(name.clone());
        }
    }
    if let Some(target) = one(found, &paths)? {
        return Ok(target);
    }
    for suffix in [".aof", ".rdb"] {
        let paths: Vec<_> = own
            .iter()
            .filter(|name| name.ends_with(suffix) && !name.starts_with("temp-"))
            .cloned()
            .collect();
        let found: io::Result<Vec<_>> = paths.iter().map(|name| file(&path.join(name))).collect();
        if let Some(target) = one(found?, &paths)? {
            return Ok(target);
        }
    }
    Err(wrong("has no manifest, no log and no snapshot"))
}

fn log_in(folder: &Path, names: &[String]) -> io::Result<Option<Target>> {
    let logs = logs(names);
    let targets = logs.iter().map(|name| Target::Log {
        folder: folder.to_owned(),
        name: name.clone(),
    });
    let paths: Vec<_> = logs.iter().map(|log| format!("{log}{MANIFEST}")).collect();
    one(targets.collect(), &paths)
}

fn file(path: &Path) -> io::Result<Target> {
    let (name, folder) = (name(path)?, parent(path));
    if let Some(log) = name.strip_suffix(MANIFEST) {
        let name = log.to_owned();
        return Ok(Target::Log { folder, name });
    }
    let log = logs(&names(&folder)?)
        .into_iter()
        .find(|log| manifest(&folder, log).is_some_and(|manifest| lists(&manifest, &name)));
    let mut head = Vec::new();
    File::open(path)?.take(5).read_to_end(&mut head)?;
    let path = path.to_owned();
    let is_snapshot = head == b"VALKE" || head == b"REDIS";
    if name.ends_with(".rdb") || (is_snapshot && !name.contains(".aof")) {
        return Ok(Target::Snapshot { path });
    }
    let is_log = log.is_some() || name.contains(".aof") || is_snapshot;
    let begins_well = head.is_empty() || matches!(head[0], b'*' | b'#');
    if !is_log && !begins_well {
        return Err(wrong("is neither a manifest, nor a log, nor a snapshot"));
    }
    Ok(Target::Commands { path, log })
}

fn lists(manifest: &Manifest, name: &str) -> bool {
    manifest.files().any(|entry| entry.name == name)
}

/// The manifest of a log, if it can be read.
pub(super) fn manifest(folder: &Path, log: &str) -> Option<Manifest> {
    let path = folder.join(manifest::name(log));
    let length = fs::metadata(&path).ok()?.len();
    if length > manifest::BYTES_MAX as u64 {
        return None;
    }
    Manifest::parse(&fs::read(path).ok()?).ok()
}
