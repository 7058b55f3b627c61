//! Explains the error of a frame: the text, the expected bytes, and suggested fixes.

use super::Document;
use resp_codec::annotate::{Mode, diagnose};
use resp_codec::{ErrorKind, Limits};
use serde::Serialize;

/// The bytes after an error that are passed to the diagnosis, beyond those it tries its fixes on.
const AFTER_MAX: usize = 128 * 1024;

/// The error of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DocError {
    /// The number of the frame.
    pub frame: u32,
    /// Offset of the wrong byte.
    pub offset: u32,
    /// The kind of error, by number.
    pub kind: u32,
    /// What is wrong, in words.
    pub text: String,
    /// The line that a server sends before it closes the connection.
    pub reply: String,
    /// The violated rule.
    pub rule: &'static str,
    /// The error and the rule with the bytes around, in a few lines.
    pub rendered: String,
    /// The bytes that are valid there, in words.
    pub expected: String,
    /// The bytes that are valid there.
    pub expected_bytes: Vec<u8>,
    /// Offset at which decoding continues.
    pub resync: u32,
    /// Changes that get past the error, the likeliest first.
    pub fixes: Vec<FixInfo>,
}

/// A change to the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct FixInfo {
    /// Offset of the first byte to remove.
    pub at: u32,
    /// The number of bytes to remove.
    pub len: u32,
    /// The bytes to insert in their place.
    pub with: Vec<u8>,
    /// What the sender probably meant, as the end of a sentence that begins with "perhaps".
    pub why: &'static str,
}

/// A server's reply to a frame under some limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The number of the preset.
    pub limits: u32,
    /// The name of the preset.
    pub label: &'static str,
    /// The error it replies with; none if the frame has no error.
    pub reply: Option<String>,
    /// Whether it then closes the connection.
    pub closes: bool,
}

impl Document {
    /// The error of a frame; `None` if it has none.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn error(&self, index: usize) -> Result<Option<DocError>, String> {
        let frame = *self.frame(index)?;
        if !frame.is_bad() {
            return Ok(None);
        }
        let stop = self.bytes.len().min(frame.end().saturating_add(AFTER_MAX));
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
            // The lines give offsets from the frame; the page gives offsets from the document's
            // start.
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

    /// Applies a fix that [`Document::error`] offers; see [`Document::replace`].
    ///
    /// # Errors
    /// If there is no such frame or fix.
    pub fn fix(&mut self, frame: usize, index: usize) -> Result<usize, String> {
        let error = self.error(frame)?.ok_or("nothing is wrong there")?;
        let fix = error.fixes.get(index).ok_or("there is no such fix")?;
        self.replace(fix.at as usize, fix.len as usize, &fix.with)
    }

    /// The reply to a frame of a server with each preset of limits.
    ///
    /// # Errors
    /// If there is no such frame.
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
                // A client that cannot decode a reply sends no error.
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
