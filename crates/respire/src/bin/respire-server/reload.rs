//! Reloads the configuration file on SIGHUP, and sets the values that can change at run time.
//!
//! The signal never ends the server, because the data would be lost. A closed terminal sends it
//! too.

use crate::console;
use crate::file::{self, Given, Wrong};
use crate::flags::Flags;
use crate::rows::rows;
use respire::commands::Kv;
use respire::engine::{Engine, Setting};
use respire::net::process;
use signal_hook::consts::SIGHUP;
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

/// Catches the signal from now on; a signal stays pending until [`Hangups::follow`].
pub(crate) struct Hangups(Signals);

impl Hangups {
    /// Catches the signal.
    pub(crate) fn catch() -> io::Result<Self> {
        Signals::new([SIGHUP]).map(Self)
    }

    /// Starts the thread that waits for the signal, for as long as the process lives.
    pub(crate) fn follow(self, mut reload: Reload) -> io::Result<()> {
        let Self(mut signals) = self;
        let follow = move || {
            for _ in signals.forever() {
                reload.run();
            }
        };
        std::thread::Builder::new()
            .name("reload".to_owned())
            .spawn(follow)
            .map(drop)
    }
}

/// The state of reloading.
pub(crate) struct Reload {
    engine: Arc<Engine<Kv>>,
    arguments: Vec<OsString>,
    has_file: bool,
    /// The settings that the file had when it was last read.
    named: Vec<String>,
    /// The warnings about its other lines.
    warnings: Vec<String>,
}

/// The result of a reload.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    /// Changed values: name, old and new.
    changed: Vec<(&'static str, String, String)>,
    /// Values that differ in the file and apply only after a restart: name, current and new.
    fixed: Vec<(&'static str, String, String)>,
}

impl Reload {
    /// For a server that was started with these arguments, which resulted in `given`.
    pub(crate) fn new(engine: &Arc<Engine<Kv>>, arguments: Vec<OsString>, given: &Given) -> Self {
        Self {
            engine: Arc::clone(engine),
            arguments,
            has_file: given.file.is_some(),
            named: changeable(given).map(|(name, _)| name).collect(),
            warnings: given.warnings.clone(),
        }
    }

    /// Reads the file again, applies it and logs the result.
    fn run(&mut self) {
        if !self.has_file {
            tracing::info!("received SIGHUP: there is no configuration file, so nothing to reload");
            return;
        }
        tracing::info!("received SIGHUP, reading the configuration again");
        let given = match file::read(self.arguments.clone()) {
            Ok(given) => given,
            Err(Wrong::File(why)) => return refused(&why),
            Err(Wrong::Usage(error)) => return refused(&error.to_string()),
        };
        let is_news = |warning: &&String| !self.warnings.contains(warning);
        for warning in given.warnings.iter().filter(is_news) {
            tracing::warn!("{warning}");
        }
        match apply(self.engine.settings(), &given) {
            Ok(outcome) => outcome.log(),
            Err(why) => return refused(&why),
        }
        let named: Vec<String> = changeable(&given).map(|(name, _)| name).collect();
        for gone in self.named.iter().filter(|name| !named.contains(name)) {
            tracing::info!(
                "'{gone}' is no longer in the file: it stays as it is until the next start"
            );
        }
        self.named = named;
        self.warnings = given.warnings;
    }
}

fn refused(why: &str) {
    for line in why.lines() {
        tracing::error!("{line}");
    }
    tracing::error!("the configuration was not reloaded; nothing was changed");
}

impl Outcome {
    fn log(&self) {
        for (name, before, after) in &self.changed {
            if *name == "requirepass" {
                tracing::info!("changed '{name}'");
            } else {
                tracing::info!("changed '{name}' from '{before}' to '{after}'");
            }
        }
        for (name, now, then) in &self.fixed {
            tracing::warn!("'{name}' is '{now}'; the file's '{then}' needs a restart");
        }
        let count = self.changed.len();
        let settings = if count == 1 { "setting" } else { "settings" };
        tracing::info!("reloaded the configuration: {count} {settings} changed");
    }
}

/// The file's values that can change at run time, each once: the last line counts.
fn changeable(given: &Given) -> impl Iterator<Item = (String, String)> {
    let lines = given.flag_lines.iter().chain(&given.settings);
    let mut values: Vec<(String, String)> = Vec::new();
    for line in lines.filter(|line| line.number > 0) {
        values.retain(|(name, _)| *name != line.key);
        values.push((line.key.clone(), line.value.clone()));
    }
    values.into_iter()
}

/// Settings that can be set before the server has its data, and not later. The values of a file have been checked before.
const AT_START: [&str; 4] = ["appenddirname", "appendfilename", "dbfilename", "dir"];

/// Sets all values of the file, or none.
fn apply(settings: &[Setting], given: &Given) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for (name, value) in changeable(given) {
        let Some(setting) = console::find(settings, &name).filter(|row| row.is_mutable()) else {
            continue;
        };
        let before = setting.get();
        let value = match setting.name() {
            "maxclients" if before != value => {
                process::raise_descriptor_limit(given.flags.maxclients).to_string()
            }
            _ => value,
        };
        if let Err(error) = console::set(settings, &name, &value) {
            if AT_START.contains(&setting.name()) {
                outcome.fixed.push((setting.name(), before, value));
                continue;
            }
            for (name, before, _) in outcome.changed.iter().rev() {
                // The value was valid a moment ago; report only the first error.
                let _ = console::set(settings, name, before);
            }
            return Err(error.to_string());
        }
        let after = setting.get();
        if before != after {
            outcome.changed.push((setting.name(), before, after));
        }
    }
    outcome.fixed.extend(fixed(settings, &given.flags));
    Ok(outcome)
}

/// The values of the flags and the file that differ from the server's and apply only after a
/// restart.
fn fixed(settings: &[Setting], flags: &Flags) -> Vec<(&'static str, String, String)> {
    let databases = flags.databases.to_string();
    let mut wanted = rows(flags, &flags.to_config());
    wanted.push(Setting::read_only("databases", move || databases.clone()));
    let differing = wanted.iter().filter_map(|wanted| {
        let setting = console::find(settings, wanted.name())?;
        let (now, then) = (setting.get(), wanted.get());
        (!setting.is_mutable() && now != then).then_some((setting.name(), now, then))
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire::commands::add_to;
    use respire::disk::{Disk, Values};
    use respire::engine::{Options, Router};
    use respire::net::clock;
    use respire::store::{Config, Store};

    /// A server that was started with a file of this text and these arguments, and the file.
    struct Started {
        engine: Arc<Engine<Kv>>,
        disk: Arc<Disk>,
        arguments: Vec<OsString>,
        directory: tempfile::TempDir,
    }

    impl Started {
        fn with(text: &str, arguments: &[&str]) -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("respire.conf");
            std::fs::write(&path, text).expect("a file");
            let mut all = vec![path.into_os_string()];
            all.extend(arguments.iter().map(OsString::from));
            let given = file::read(all.clone()).expect("no mistakes");
            let store = Store::new(Config {
                shards: 2,
                ..Config::default()
            });
            let options = Options {
                settings: rows(&given.flags, &given.flags.to_config()),
                ..Options::default()
            };
            let disk = Disk::new(Values::default());
            let router = disk.add_to(add_to(Router::new(Kv::new(store))));
            let engine = Engine::new(router, options, clock::now());
            apply(engine.settings(), &given).expect("it starts");
            Self {
                engine,
                disk,
                arguments: all,
                directory,
            }
        }

        fn reload(&self, text: &str) -> Result<Outcome, String> {
            let path = self.directory.path().join("respire.conf");
            std::fs::write(path, text).expect("a file");
            match file::read(self.arguments.clone()) {
                Ok(given) => apply(self.engine.settings(), &given),
                Err(Wrong::File(why)) => Err(why),
                Err(Wrong::Usage(error)) => Err(error.to_string()),
            }
        }

        fn get(&self, name: &str) -> String {
            let setting = console::find(self.engine.settings(), name);
            setting.expect("a setting of this name").get()
        }
    }

    fn shown(changes: &[(&'static str, String, String)]) -> String {
        let one = |(name, from, to): &(&str, String, String)| format!("{name}: {from} > {to}");
        changes.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn reload_sets_changeable_values_and_reports_the_others() {
        let server = Started::with("timeout 5\nport 7000\nmaxmemory 1mb\n", &[]);
        let outcome = server
            .reload("timeout 6\nport 7001\ndatabases 4\nmaxmemory 1048576\nslowlog-max-len 9\n")
            .expect("it is right");
        assert_eq!(
            shown(&outcome.changed),
            "timeout: 5 > 6, slowlog-max-len: 128 > 9"
        );
        assert_eq!(
            shown(&outcome.fixed),
            "port: 7000 > 7001, databases: 16 > 4"
        );
        assert_eq!(server.get("timeout"), "6");
    }

    #[test]
    fn directory_of_the_data_stays_at_reload_and_is_reported() {
        let data = tempfile::tempdir().expect("a directory");
        let dir = data.path().canonicalize().expect("it is there");
        let server = Started::with(&format!("timeout 5\ndir {}\n", dir.display()), &[]);
        server.disk.open(&server.engine, None).expect("no data");
        let text = format!("dir {}/.\ntimeout 6\n", dir.display());
        let outcome = server.reload(&text).expect("it is right");
        assert_eq!(shown(&outcome.fixed), "");
        let outcome = server.reload("dir /\ntimeout 7\n").expect("it is right");
        assert_eq!(shown(&outcome.changed), "timeout: 6 > 7");
        let expected = format!("dir: {} > /", dir.display());
        assert_eq!(shown(&outcome.fixed), expected);
        server.disk.close();
    }

    #[test]
    fn file_with_a_mistake_changes_nothing() {
        let server = Started::with("timeout 5\n", &[]);
        let why = server.reload("timeout 6\nslowlog-max-len x\n");
        assert!(why.expect_err("a mistake").contains("respire.conf:2: "));
        assert_eq!(server.get("timeout"), "5");
    }

    #[test]
    fn arguments_override_the_file_at_reload() {
        let text = "timeout 5\nslowlog-max-len 5\n";
        let arguments = ["--timeout", "7", "--slowlog-max-len", "7"];
        let server = Started::with(text, &arguments);
        console::set(server.engine.settings(), "timeout", "8").expect("CONFIG SET");
        let outcome = server.reload("timeout 6\nslowlog-max-len 6\n");
        assert_eq!(outcome, Ok(Outcome::default()));
        assert_eq!(server.get("timeout"), "8");
    }

    #[test]
    fn reload_overrides_config_set_and_the_last_line_counts() {
        let server = Started::with("timeout 5\n", &[]);
        console::set(server.engine.settings(), "timeout", "8").expect("CONFIG SET");
        console::set(server.engine.settings(), "slowlog-max-len", "8").expect("CONFIG SET");
        let outcome = server
            .reload("timeout 4\ntimeout 5\n")
            .expect("it is right");
        assert_eq!(shown(&outcome.changed), "timeout: 8 > 5");
        // A setting that the file does not have stays.
        assert_eq!(server.get("slowlog-max-len"), "8");
    }
}
