//! The changes of a repair, in an order that is safe at every crash.
//!
//! The manifest comes first: without it, a file that ends earlier than before would be followed by changes that build
//! upon what was cut off. Until the file itself is replaced, a start finds a longer prefix of the changes, or refuses.

use super::time::stamp;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

/// One change. Names have no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Copy the first bytes of a file to a new one, and sync it.
    Copy {
        from: String,
        to: String,
        bytes: u64,
    },
    /// Write a new file with the owner and the rights of another one, and sync it.
    Write {
        name: String,
        like: String,
        text: Vec<u8>,
    },
    /// Give a file a second name.
    Link {
        from: String,
        to: String,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Sync the folder.
    Sync,
}

/// What is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// A file and how many of its bytes are kept.
    pub(super) cut: Option<(String, u64)>,
    /// Files of which nothing is kept.
    pub(super) drops: Vec<String>,
    /// The manifest and its new text.
    pub(super) manifest: Option<(String, Vec<u8>)>,
}

impl Plan {
    /// The names under which the present files stay, in the order of [`Plan::touched`].
    fn touched(&self) -> impl Iterator<Item = &String> {
        let manifest = self.manifest.iter().map(|(name, _)| name);
        let cut = self.cut.iter().map(|(name, _)| name);
        manifest.chain(&self.drops).chain(cut)
    }

    /// What is put behind the names of the originals, so that no name is taken.
    pub(super) fn suffix(&self, folder: &Path, now_s: u64) -> String {
        let first = format!(".corrupt-{}", stamp(now_s));
        let mut suffix = first.clone();
        let mut number = 1;
        let is_taken = |suffix: &str| {
            self.touched().any(|name| {
                folder
                    .join(format!("{name}{suffix}"))
                    .symlink_metadata()
                    .is_ok()
            })
        };
        while is_taken(&suffix) {
            number += 1;
            suffix = format!("{first}-{number}");
        }
        suffix
    }

    /// The steps.
    pub(super) fn steps(&self, suffix: &str) -> Vec<Step> {
        let aside = |name: &str| format!("{name}{suffix}");
        let temporary = |name: &str| format!("temp-{name}");
        let mut steps = Vec::new();
        if let Some((name, bytes)) = &self.cut {
            steps.push(Step::Copy {
                from: name.clone(),
                to: temporary(name),
                bytes: *bytes,
            });
        }
        if let Some((name, text)) = &self.manifest {
            steps.push(Step::Write {
                name: temporary(name),
                like: name.clone(),
                text: text.clone(),
            });
        }
        let manifest = self.manifest.iter().map(|(name, _)| name);
        let cut = self.cut.iter().map(|(name, _)| name);
        let replace = |name: &String| {
            [
                Step::Link {
                    from: name.clone(),
                    to: aside(name),
                },
                Step::Sync,
                Step::Rename {
                    from: temporary(name),
                    to: name.clone(),
                },
                Step::Sync,
            ]
        };
        steps.extend(manifest.flat_map(replace));
        steps.extend(self.drops.iter().map(|name| Step::Rename {
            from: name.clone(),
            to: aside(name),
        }));
        steps.extend((!self.drops.is_empty()).then_some(Step::Sync));
        steps.extend(cut.flat_map(replace));
        steps
    }

    /// The names that the originals get.
    pub(super) fn kept(&self, suffix: &str) -> Vec<String> {
        self.touched()
            .map(|name| format!("{name}{suffix}"))
            .collect()
    }
}

/// Makes one change.
pub(super) fn make(folder: &Path, step: &Step) -> io::Result<()> {
    let path = |name: &str| folder.join(name);
    match step {
        Step::Copy { from, to, bytes } => {
            let source = File::open(path(from))?;
            let mut copy = create(&path(to), &source)?;
            let copied = io::copy(&mut source.take(*bytes), &mut copy)?;
            if copied != *bytes {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            copy.sync_all()
        }
        Step::Write { name, like, text } => {
            let mut file = create(&path(name), &File::open(path(like))?)?;
            file.write_all(text)?;
            file.sync_all()
        }
        Step::Link { from, to } => match fs::hard_link(path(from), path(to)) {
            // Some file systems have no second names. There is then a moment without the file: a start refuses.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                fs::rename(path(from), path(to))
            }
            result => result,
        },
        Step::Rename { from, to } => fs::rename(path(from), path(to)),
        Step::Sync => File::open(folder)?.sync_all(),
    }
}

/// Creates a file with the rights of another one, and its owner if this process may.
fn create(path: &PathBuf, like: &File) -> io::Result<File> {
    let file = File::create(path)?;
    let metadata = like.metadata()?;
    file.set_permissions(metadata.permissions())?;
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
        // Without the right to do this the file belongs to whom the process runs for.
        let _ = fchown(&file, Some(metadata.uid()), Some(metadata.gid()));
    }
    Ok(file)
}
