//! Reads the configuration file and merges it with the flags.
//!
//! It finds all mistakes before the server starts or changes, and reports them at once.

use crate::console::{self, TrialServer};
use crate::flags::{self, Flags, flag_of};
use crate::redis_conf::{self, Verdict};
use respire::engine::Setting;
use respire::net::{ConfigFile, Line, Mistake, Parsed};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

/// The merged flags and file.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) flags: Flags,
    pub(crate) file: Option<ConfigFile>,
    /// Lines of the file that set flags and were not overridden, with their `CONFIG` names.
    pub(crate) flag_lines: Vec<Line>,
    /// `CONFIG` values that are not flags, to be set once the engine exists. Lines with the number
    /// 0 come from the command line, and override the file's.
    pub(crate) settings: Vec<Line>,
    /// Warnings about lines without effect.
    pub(crate) warnings: Vec<String>,
}

/// Why the server cannot start with this configuration.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The flags are wrong, or ask for help.
    Usage(clap::Error),
    /// The configuration is wrong: one line per mistake.
    File(String),
}

/// Reads the arguments (without the program's name) and the file that they name.
pub(crate) fn read(arguments: Vec<OsString>) -> Result<Given, Wrong> {
    let trial_server = TrialServer::new();
    let (arguments, spelt) = split_off_settings(arguments, &trial_server);
    let (flags, given) = flags::parse(&arguments).map_err(Wrong::Usage)?;
    let (file, text) = match flags.config() {
        Some(path) => load(path).map_err(Wrong::File)?,
        None => (None, Parsed::default()),
    };
    let shown = match &file {
        Some(file) => file.path().display().to_string(),
        None => "standard input".to_owned(),
    };
    let mut reader = Reader {
        trial_server: &trial_server,
        given,
        merged: Vec::new(),
        flag_lines: Vec::new(),
        settings: Vec::new(),
        notes: Vec::new(),
        ignored: Vec::new(),
    };
    let mut mistakes = text.mistakes;
    mistakes.extend(reader.take(text.lines));
    mistakes.sort_by_key(|mistake| mistake.number);
    let from_file = std::mem::take(&mut reader.settings);
    let mut misspelt = spelt.mistakes;
    misspelt.extend(reader.take(spelt.lines));
    if !mistakes.is_empty() || !misspelt.is_empty() {
        let in_file = mistakes.iter().map(|mistake| format!("{shown}:{mistake}"));
        let on_line = misspelt.into_iter().map(|mistake| mistake.why);
        return Err(Wrong::File(all(in_file.chain(on_line).collect())));
    }
    let is_overruled = |line: &Line| reader.settings.iter().any(|own| own.key == line.key);
    let mut settings: Vec<_> = from_file
        .into_iter()
        .filter(|line| !is_overruled(line))
        .collect();
    settings.append(&mut reader.settings);
    reader.merged.extend(arguments);
    let (flags, _) = flags::parse(&reader.merged).map_err(Wrong::Usage)?;
    Ok(Given {
        flags,
        file,
        warnings: reader.warnings(),
        flag_lines: reader.flag_lines,
        settings,
    })
}

/// One text with all mistakes.
fn all(mistakes: Vec<String>) -> String {
    if let [one] = &*mistakes {
        return one.clone();
    }
    let count = mistakes.len();
    format!(
        "the configuration has {count} mistakes:\n{}",
        mistakes.join("\n")
    )
}

/// Reads the file, or standard input, which cannot be read again or rewritten.
fn load(path: &Path) -> Result<(Option<ConfigFile>, Parsed), String> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        let read = std::io::stdin().read_to_end(&mut text);
        read.map_err(|error| format!("cannot read standard input: {error}"))?;
        return Ok((None, ConfigFile::parse(&text)));
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let file = ConfigFile::new(path).with_aliases(flags::aliases());
    let parsed = file.read().map_err(|error| error.to_string())?;
    Ok((Some(file), parsed))
}

/// Takes `--name value ...` out of the arguments if the name is not a flag but a known setting. So
/// scripts and service files for Redis can start this server.
fn split_off_settings(
    arguments: Vec<OsString>,
    trial_server: &TrialServer,
) -> (Vec<OsString>, Parsed) {
    let is_setting = |name: &str| {
        flag_of(name).is_none()
            && (trial_server.has(name) || redis_conf::names().any(|known| known == name))
    };
    let mut rest = Vec::new();
    let mut spelt: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_open = false;
    for argument in arguments {
        let text = argument.to_string_lossy();
        if let Some(name) = text.strip_prefix("--") {
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            is_open = is_setting(name);
            if is_open {
                spelt.push((name.to_owned(), value.into_iter().collect()));
                continue;
            }
        }
        match spelt.last_mut().filter(|_| is_open) {
            Some((_, values)) => values.push(text.into_owned()),
            None => rest.push(argument),
        }
    }
    let mut parsed = Parsed::default();
    for (key, values) in spelt {
        if values.is_empty() {
            let why = format!("'--{key}' has no value");
            parsed.mistakes.push(Mistake::new(0, why));
        } else {
            parsed.lines.push(Line {
                number: 0,
                key,
                value: values.join(" "),
            });
        }
    }
    (rest, parsed)
}

/// Collects the results of the lines.
struct Reader<'r> {
    trial_server: &'r TrialServer,
    /// The flags of the command line and the environment; they override the file.
    given: Vec<String>,
    /// The lines as flags.
    merged: Vec<OsString>,
    flag_lines: Vec<Line>,
    settings: Vec<Line>,
    /// Each warning, with the lines that it is about.
    notes: Vec<(&'static str, Vec<String>)>,
    /// The settings without effect that need no warning of their own.
    ignored: Vec<String>,
}

impl Reader<'_> {
    /// Takes lines; returns their mistakes.
    fn take(&mut self, lines: Vec<Line>) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for line in lines {
            let number = line.number;
            if let Err(why) = self.take_one(line) {
                mistakes.push(Mistake::new(number, why));
            }
        }
        mistakes
    }

    fn take_one(&mut self, line: Line) -> Result<(), String> {
        if let Some(flag) = flag_of(&line.key) {
            return self.take_flag(line, &flag);
        }
        match redis_conf::verdict(&line.key, &line.value) {
            Some(Verdict::Refused(why)) => Err(format!("'{}': {why}", line.key)),
            Some(Verdict::Warned(text)) => {
                self.note(text, &line);
                Ok(())
            }
            Some(Verdict::Ignored) => {
                if !self.ignored.contains(&line.key) {
                    self.ignored.push(line.key);
                }
                Ok(())
            }
            Some(Verdict::Granted) => Ok(()),
            None if self.trial_server.has(&line.key) => {
                let tried = console::set(self.trial_server.settings(), &line.key, &line.value);
                tried.map_err(|error| error.to_string())?;
                self.settings.push(line);
                Ok(())
            }
            None => Err(self.unknown(&line.key)),
        }
    }

    /// Turns a line into its flag, after a check that can still name the line.
    fn take_flag(&mut self, mut line: Line, flag: &str) -> Result<(), String> {
        if matches!(flag, "check-script" | "config" | "help" | "version") {
            return Err(format!("'{flag}' is a flag, not a setting"));
        }
        let argument = OsString::from(format!("--{flag}={}", line.value));
        if let Err(error) = flags::parse(std::slice::from_ref(&argument)) {
            let text = error.to_string();
            let text = text.lines().next().unwrap_or_default();
            return Err(text.trim_start_matches("error: ").to_owned());
        }
        if self.given.iter().any(|given| given == flag) {
            return Ok(());
        }
        if let Some((_, setting)) = flags::aliases().iter().find(|(own, _)| own == flag) {
            (*setting).clone_into(&mut line.key);
        } else {
            flag.clone_into(&mut line.key);
        }
        if flag != "save" || line.value.is_empty() || !self.add_save_points(&line) {
            self.merged.push(argument);
            self.flag_lines.push(line);
        }
        Ok(())
    }

    /// Adds the rules of a further line of `save` to those of an earlier one, as Redis does. Returns false if there is
    /// none.
    fn add_save_points(&mut self, line: &Line) -> bool {
        let mut lines = self.flag_lines.iter_mut().rev();
        let earlier = lines.find(|earlier| earlier.key == "save");
        let Some(earlier) = earlier.filter(|earlier| !earlier.value.is_empty()) else {
            return false;
        };
        earlier.value = format!("{} {}", earlier.value, line.value);
        self.merged
            .push(OsString::from(format!("--save={}", earlier.value)));
        true
    }

    fn note(&mut self, text: &'static str, line: &Line) {
        let shown = match line.number {
            0 => format!("--{}", line.key),
            number => format!("{} (line {number})", line.key),
        };
        match self.notes.iter_mut().find(|(known, _)| *known == text) {
            Some((_, lines)) => lines.push(shown),
            None => self.notes.push((text, vec![shown])),
        }
    }

    /// One line of the log per warning.
    fn warnings(&self) -> Vec<String> {
        let line = |(text, lines): &(&str, Vec<String>)| format!("{}: {text}", lines.join(", "));
        let mut warnings: Vec<String> = self.notes.iter().map(line).collect();
        if !self.ignored.is_empty() {
            let ignored = self.ignored.join(", ");
            warnings.push(format!(
                "settings of Redis's without effect here: {ignored}"
            ));
        }
        warnings
    }

    fn unknown(&self, name: &str) -> String {
        let mut why = format!("unknown setting '{}'", name.escape_debug());
        let settings = self.trial_server.settings().iter().map(Setting::name);
        let mut known = flags::names();
        known.extend(settings.chain(redis_conf::names()).map(str::to_owned));
        let likeness = |known: &String| (strsim::jaro_winkler(known, name) * 1000.0) as u32;
        let best = known.into_iter().max_by_key(likeness);
        if let Some(meant) = best.filter(|best| likeness(best) >= SIMILARITY_MIN) {
            // Writing to a String cannot fail.
            let _ = write!(why, "; did you mean '{meant}'?");
        }
        why
    }
}

/// The least similarity of two names, in thousandths, for a suggestion.
const SIMILARITY_MIN: u32 = 850;

#[cfg(test)]
mod tests;
