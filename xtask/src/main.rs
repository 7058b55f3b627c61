//! The project's chores, as `cargo xtask <chore>`.
fn main() {}
