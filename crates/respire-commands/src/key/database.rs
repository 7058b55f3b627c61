//! Parses integers of 32 bits and database numbers.

use crate::errors::{DB_INDEX, INT_RANGE};
use crate::options::integer;
use respire_engine::Error;
use respire_store::Store;

/// Parses an argument that must be an integer of 32 bits.
pub(crate) fn int(argument: &[u8]) -> Result<i32, Error> {
    i32::try_from(integer(argument)?).map_err(|_| INT_RANGE)
}

/// The index of the database with this number.
pub(crate) fn db_index(store: &Store, number: i32) -> Result<u32, Error> {
    u32::try_from(number)
        .ok()
        .filter(|db| *db < store.databases())
        .ok_or(DB_INDEX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::NOT_AN_INTEGER;

    #[test]
    fn int_beyond_32_bits_and_invalid_int_have_different_errors() {
        assert_eq!(int(b"-2147483648"), Ok(i32::MIN));
        assert_eq!(int(b"2147483648"), Err(INT_RANGE));
        assert_eq!(int(b"9223372036854775808"), Err(NOT_AN_INTEGER));
        assert_eq!(int(b"x"), Err(NOT_AN_INTEGER));
    }

    #[test]
    fn db_index_out_of_range_is_refused() {
        let store = Store::new(respire_store::Config {
            databases: 2,
            ..Default::default()
        });
        assert_eq!(db_index(&store, 1), Ok(1));
        for number in [-1, 2, i32::MAX] {
            assert_eq!(db_index(&store, number), Err(DB_INDEX));
        }
    }
}
