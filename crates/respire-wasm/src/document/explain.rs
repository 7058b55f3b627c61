//! An error, what would have been right, and what mends it.

use super::Document;
use resp_codec::annotate::{Mode, diagnose};
use resp_codec::{ErrorKind, Limits};
use serde::Serialize;

/// Bytes of context shown to the diagnosis behind an error, beyond those it tries its fixes on.
const BEHIND_MAX: usize = 128 * 1024;

/// What is wrong with a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DocError {
    /// The frame.
    pub frame: u32,
    /// The byte that is wrong.
    pub offset: u32,
    /// The kind of error, by number.
    pub kind: u32,
    /// What is wrong.
    pub text: String,
    /// The line a server sends before it closes the connection.
    pub reply: String,
    /// The rule that was broken.
    pub rule: &'static str,
    /// Both with the bytes around, in a few lines.
    pub rendered: String,
    /// What could stand there, in words.
    pub expected: String,
    /// The bytes that could stand there.
    pub expected_bytes: Vec<u8>,
    /// Where reading goes on.
    pub resync: u32,
    /// Changes that get past the error, the likeliest first.
    pub fixes: Vec<FixInfo>,
}

/// A change of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct FixInfo {
    /// The first byte that goes.
    pub at: u32,
    /// How many go.
    pub len: u32,
    /// What comes in their place.
    pub with: Vec<u8>,
    /// What was meant, as the end of a sentence that begins with "perhaps".
    pub why: &'static str,
}

/// What a server says to a frame under some limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The preset, by number.
    pub limits: u32,
    /// The preset, by name.
    pub label: &'static str,
    /// The error it answers; none if the frame is read without one.
    pub reply: Option<String>,
    /// Whether it then closes the connection.
    pub closes: bool,
}

impl Document {
    /// What is wrong with a frame; `None` if nothing is.
    ///
    /// # Errors
    /// When there is no such frame.
    pub fn error(&self, index: usize) -> Result<Option<DocError>, String> {
        let frame = *self.frame(index)?;
        if !frame.is_bad() {
            return Ok(None);
        }
        let stop = self.bytes.len().min(frame.end().saturating_add(BEHIND_MAX));
        let base = frame.start();
        let found = diagnose(&self.bytes[base..stop], self.mode, &self.limits);
        Ok(found.map(|found| {
            let kind = found.error.kind;
            let fixes = found.fixes.iter().map(|fix| FixInfo {
                at: (base + fix.at) as u32,
                len: fix.len as u32,
                with: fix.with.clone(),
                why: fix.why,
            });
            let rendered = found.to_string();
            // The lines count from the frame; the page counts from the document's start.
            let (_, lines) = rendered.split_once('\n').unwrap_or_default();
            let offset = base + found.error.offset;
            DocError {
                frame: index as u32,
                offset: offset as u32,
                kind: crate::tables::error_number(kind),
                text: kind.to_string(),
                reply: reply(kind),
                rule: kind.help(),
                rendered: format!("{kind} at byte {offset}\n{lines}"),
                expected: found.expected.to_string(),
                expected_bytes: found.expected.iter().collect(),
                resync: frame.end() as u32,
                fixes: fixes.collect(),
            }
        }))
    }

    /// Makes a change that [`Document::error`] offers; see [`Document::replace`].
    ///
    /// # Errors
    /// When there is no such frame or fix.
    pub fn fix(&mut self, frame: usize, index: usize) -> Result<usize, String> {
        let error = self.error(frame)?.ok_or("nothing is wrong there")?;
        let fix = error.fixes.get(index).ok_or("there is no such fix")?;
        self.replace(fix.at as usize, fix.len as usize, &fix.with)
    }

    /// What a server with each preset of limits says to a frame.
    ///
    /// # Errors
    /// When there is no such frame.
    pub fn verdicts(&self, index: usize) -> Result<Vec<Verdict>, String> {
        let frame = *self.frame(index)?;
        let bytes = &self.bytes[frame.start()..frame.end()];
        let presets = [
            (0, "server", Limits::SERVER),
            (1, "before AUTH", Limits::UNAUTHENTICATED),
            (2, "client", Limits::CLIENT),
        ];
        let verdicts = presets.into_iter().map(|(number, label, limits)| {
            let mut decoder = super::index::Decoder::new(self.mode, limits);
            let error = decoder.next(bytes).err();
            let is_request = matches!(self.mode, Mode::Requests | Mode::BinaryRequests);
            Verdict {
                limits: number,
                label,
                // A client that cannot read a reply says so to nobody.
                reply: error.map(|error| match is_request {
                    true => reply(error.kind),
                    false => error.kind.to_string(),
                }),
                closes: error.is_some(),
            }
        });
        Ok(verdicts.collect())
    }
}

fn reply(kind: ErrorKind) -> String {
    let mut reply = Vec::new();
    kind.reply(&mut reply);
    String::from_utf8_lossy(&reply).into_owned()
}
