//! An error begins with a word in upper case.
use respire_engine::Error;

const EMPTY: Error = Error::fixed("no such queue");

fn main() {
    let _ = EMPTY;
}
