//! Writes the effects of units as Redis's commands.
