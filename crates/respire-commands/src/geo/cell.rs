//! Cells of the earth, as Redis numbers them: halving longitudes and latitudes in turn, a bit of a number for each half.
//!
//! A score of a member is the number of its cell of 26 steps. Everything is computed in Redis's order, for its rounding.

/// The steps of the cells of members.
pub(super) const STEPS_MAX: u32 = 26;

const LATITUDE_MAX: f64 = 85.051_128_78;
const LONGITUDE_MAX: f64 = 180.0;

/// The odd bits of a number, which are those of the longitude.
const LONGITUDE_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
const LATITUDE_BITS: u64 = 0x5555_5555_5555_5555;

/// A longitude and a latitude, in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) longitude: f64,
    pub(super) latitude: f64,
}

impl Point {
    /// Whether the point is in one of the cells, which end some degrees before the poles.
    pub(super) fn is_in_range(self) -> bool {
        (-LONGITUDE_MAX..=LONGITUDE_MAX).contains(&self.longitude)
            && (-LATITUDE_MAX..=LATITUDE_MAX).contains(&self.latitude)
    }

    /// The middle of the cell that a score stands for. Any number stands for one.
    pub(super) fn of_score(score: f64) -> Self {
        let cell = Cell {
            bits: bits_of_score(score),
            steps: STEPS_MAX,
        };
        let Corners { min, max } = cell.corners();
        let middle = |min: f64, max: f64, limit: f64| ((min + max) / 2.0).min(limit).max(-limit);
        Self {
            longitude: middle(min.longitude, max.longitude, LONGITUDE_MAX),
            latitude: middle(min.latitude, max.latitude, LATITUDE_MAX),
        }
    }

    /// The score of a member that is here.
    pub(super) fn score(self) -> f64 {
        Cell::of(self, STEPS_MAX).bits as f64
    }

    /// The geohash that other programs use too, with 11 letters, of which the last is always 0.
    pub(super) fn geohash(self) -> [u8; 11] {
        const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
        let cell = Cell::within(self, 90.0, STEPS_MAX);
        let mut text = [b'0'; 11];
        for (at, letter) in text.iter_mut().enumerate().take(10) {
            let five = cell.bits >> (52 - (at + 1) * 5) & 0x1f;
            *letter = LETTERS[five as usize];
        }
        text
    }
}

/// The number in a score, as x86-64 converts one that is no number of a cell.
fn bits_of_score(score: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    let signed = |number: f64| {
        if (-HALF..HALF).contains(&number) {
            number as i64
        } else {
            i64::MIN
        }
    };
    if score < HALF {
        signed(score).cast_unsigned()
    } else {
        signed(score - HALF).cast_unsigned() ^ 1 << 63
    }
}

/// The corners of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corners {
    pub(super) min: Point,
    pub(super) max: Point,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its number: a bit of the longitude and one of the latitude for each step, the last step lowest.
    pub(super) bits: u64,
    /// The number of times that the longitudes and the latitudes were halved.
    pub(super) steps: u32,
}

impl Cell {
    /// The cell of a point.
    pub(super) fn of(point: Point, steps: u32) -> Self {
        Self::within(point, LATITUDE_MAX, steps)
    }

    /// The cell of a point, if the cells end at this latitude.
    fn within(point: Point, latitude_max: f64, steps: u32) -> Self {
        let offset = |degrees: f64, max: f64| {
            let offset = (degrees + max) / (max + max);
            (offset * (1_u64 << steps) as f64) as u32
        };
        let longitude = offset(point.longitude, LONGITUDE_MAX);
        let latitude = offset(point.latitude, latitude_max);
        Self {
            bits: spread(latitude) | spread(longitude) << 1,
            steps,
        }
    }

    pub(super) fn corners(self) -> Corners {
        let at = |number: u32, max: f64| {
            -max + (f64::from(number) / (1_u64 << self.steps) as f64) * (max + max)
        };
        let (longitude, latitude) = (gather(self.bits >> 1), gather(self.bits));
        let corner = |more: u32| Point {
            longitude: at(longitude.wrapping_add(more), LONGITUDE_MAX),
            latitude: at(latitude.wrapping_add(more), LATITUDE_MAX),
        };
        Corners {
            min: corner(0),
            max: corner(1),
        }
    }

    /// The cell so many cells to the east and to the north, each -1, 0 or 1. Behind the last comes the first.
    pub(super) fn neighbor(self, east: i32, north: i32) -> Self {
        let within = u64::MAX >> (64 - 2 * self.steps);
        let moved = |mine: u64, by: i32| {
            // The bits between those of the number carry from each to the next.
            let (number, between) = (self.bits & mine, !mine & within);
            let number = match by {
                0 => return number,
                1 => number.wrapping_add(between + 1),
                _ => (number | between).wrapping_sub(between + 1),
            };
            number & mine & within
        };
        Self {
            bits: moved(LONGITUDE_BITS, east) | moved(LATITUDE_BITS, north),
            ..self
        }
    }

    /// The scores of the members in this cell: from the first up to the second, which is not one.
    pub(super) fn scores(self) -> (f64, f64) {
        let aligned = |bits: u64| (bits << (2 * (STEPS_MAX - self.steps))) as f64;
        (aligned(self.bits), aligned(self.bits + 1))
    }
}

/// Moves the bits of a number to the even bits of another.
fn spread(number: u32) -> u64 {
    let mut bits = u64::from(number);
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & LATITUDE_BITS
}

/// Returns the even bits of a number.
fn gather(bits: u64) -> u32 {
    let mut number = bits & LATITUDE_BITS;
    number = (number | number >> 1) & 0x3333_3333_3333_3333;
    number = (number | number >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    number = (number | number >> 4) & 0x00ff_00ff_00ff_00ff;
    number = (number | number >> 8) & 0x0000_ffff_0000_ffff;
    number = (number | number >> 16) & 0x0000_0000_ffff_ffff;
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_number_has_the_bits_of_both_coordinates() {
        for number in [0, 1, 2, 0x0123_4567, 0x89ab_cdef, u32::MAX] {
            assert_eq!(gather(spread(number)), number);
            assert_eq!(gather(spread(number) << 1), 0);
        }
    }

    #[test]
    fn neighbors_share_an_edge_and_the_last_cell_is_beside_the_first() {
        for steps in 1..=STEPS_MAX {
            let cell = Cell::of(
                Point {
                    longitude: 13.4,
                    latitude: 52.5,
                },
                steps,
            );
            assert_eq!(cell.neighbor(0, 0), cell);
            assert_eq!(cell.neighbor(1, -1).neighbor(-1, 1), cell);
            let number = gather(cell.bits >> 1);
            let beside = gather(cell.neighbor(1, 0).bits >> 1);
            assert_eq!(beside, (number + 1) % (1 << steps));
        }
    }

    #[test]
    fn scores_that_are_no_cells_give_points_in_range() {
        for score in [
            -1.0,
            1e300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1e19,
            1e19,
            0.5,
        ] {
            assert!(Point::of_score(score).is_in_range(), "{score}");
        }
    }

    #[test]
    fn geohash_is_the_one_of_other_programs() {
        let point = Point {
            longitude: -5.6,
            latitude: 42.6,
        };
        assert_eq!(&point.geohash(), b"ezs42e44yx0");
    }
}
