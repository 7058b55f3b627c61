//! The `CONFIG` settings that show the values of flags.

use crate::flags::{Flags, flag_of};
use respire::engine::Setting;
use respire::net::{Config, Limits, process};

/// The `CONFIG` settings that the flags decide and that never change.
pub(crate) fn rows(flags: &Flags, config: &Config) -> Vec<Setting> {
    let fixed = |name, value: String| Setting::read_only(name, move || value.clone());
    let mut rows = process::settings(config);
    let limits = Limits::ROWS
        .iter()
        .filter(|row| flag_of(row.name).is_some());
    rows.extend(limits.map(|row| fixed(row.name, (row.get)(&config.limits).to_string())));
    rows.push(fixed("flavour", flags.flavour().name().to_owned()));
    rows.push(fixed("shards", flags.shards.to_string()));
    rows.push(fixed("capacity", flags.capacity.to_string()));
    #[cfg(feature = "metrics")]
    rows.push(fixed("metrics", flags.metrics.clone().unwrap_or_default()));
    #[cfg(feature = "explorer")]
    {
        rows.push(fixed(
            "explorer",
            flags.explorer.clone().unwrap_or_default(),
        ));
        let has_tap = if flags.has_explorer_tap() {
            "yes"
        } else {
            "no"
        };
        rows.push(fixed("explorer-tap", has_tap.to_owned()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_the_flags_decide_reads_back_from_a_file() {
        let flags = Flags::defaults();
        for row in rows(&flags, &flags.to_config()) {
            assert!(flag_of(row.name()).is_some(), "{}", row.name());
        }
    }
}
