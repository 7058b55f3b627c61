//! The area of a search, and the cells that cover it.

use super::cell::{Cell, Point, STEPS_MAX};

/// The radius of the earth that Redis computes with, in meters.
const EARTH_RADIUS: f64 = 6_372_797.560_856;
/// Half the length of the equator on a map, in meters.
const MERCATOR_MAX: f64 = 20_037_726.37;

fn radians(degrees: f64) -> f64 {
    degrees * (core::f64::consts::PI / 180.0)
}

fn degrees(radians: f64) -> f64 {
    radians / (core::f64::consts::PI / 180.0)
}

/// The distance of two points, in meters.
pub(super) fn distance(from: Point, to: Point) -> f64 {
    let half = ((radians(to.longitude) - radians(from.longitude)) / 2.0).sin();
    if half == 0.0 {
        return latitude_distance(from.latitude, to.latitude);
    }
    let (from, to) = (radians(from.latitude), radians(to.latitude));
    let other_half = ((to - from) / 2.0).sin();
    let square = other_half * other_half + from.cos() * to.cos() * half * half;
    2.0 * EARTH_RADIUS * square.sqrt().asin()
}

/// The distance of a place, or that of the opposite place if it is so near to that one that it is not a number.
pub(super) fn opposite_if_none(distance: f64) -> f64 {
    if distance.is_nan() {
        core::f64::consts::PI * EARTH_RADIUS
    } else {
        distance
    }
}

fn latitude_distance(from: f64, to: f64) -> f64 {
    EARTH_RADIUS * (radians(to) - radians(from)).abs()
}

/// The lengths of an area around a point, in the unit of the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Area {
    Circle { radius: f64 },
    Box { width: f64, height: f64 },
}

impl Area {
    pub(super) const CIRCLE: Self = Self::Circle { radius: 0.0 };
    pub(super) const BOX: Self = Self::Box {
        width: 0.0,
        height: 0.0,
    };
}

impl Default for Area {
    fn default() -> Self {
        Self::CIRCLE
    }
}

/// The place, form and size of a search.
#[derive(Default, Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) center: Point,
    pub(super) area: Area,
    /// The meters of a unit.
    pub(super) unit: f64,
}

impl Shape {
    /// The distance of a point from the center in meters, if the point is in the area.
    pub(super) fn distance_within(&self, point: Point) -> Option<f64> {
        match self.area {
            Area::Circle { radius } => {
                let distance = distance(self.center, point);
                // Of points opposite to each other the distance may not be a number; those are found.
                let is_within = distance <= radius * self.unit || distance.is_nan();
                is_within.then_some(distance)
            }
            Area::Box { width, height } => {
                let (width, height) = (width * self.unit, height * self.unit);
                let center = self.center;
                if latitude_distance(point.latitude, center.latitude) > height / 2.0 {
                    return None;
                }
                let beside = Point {
                    latitude: point.latitude,
                    ..center
                };
                if distance(point, beside) > width / 2.0 {
                    return None;
                }
                Some(distance(center, point))
            }
        }
    }

    /// The corners of a box around the area. Its longitudes may be none.
    fn bounds(&self) -> (Point, Point) {
        let Point {
            longitude,
            latitude,
        } = self.center;
        let (width, height) = match self.area {
            Area::Circle { radius } => (self.unit * radius, self.unit * radius),
            Area::Box { width, height } => (self.unit * (width / 2.0), self.unit * (height / 2.0)),
        };
        let latitude_delta = degrees(height / EARTH_RADIUS);
        let towards_equator = if latitude < 0.0 {
            latitude - latitude_delta
        } else {
            latitude + latitude_delta
        };
        let longitude_delta = degrees(width / EARTH_RADIUS / radians(towards_equator).cos());
        let corner = |longitude_delta: f64, latitude_delta: f64| Point {
            longitude: longitude + longitude_delta,
            latitude: latitude + latitude_delta,
        };
        (
            corner(-longitude_delta, -latitude_delta),
            corner(longitude_delta, latitude_delta),
        )
    }

    /// The distance of the farthest point from the center, in meters.
    fn radius(&self) -> f64 {
        let radius = match self.area {
            Area::Circle { radius } => radius,
            Area::Box { width, height } => {
                ((width / 2.0) * (width / 2.0) + (height / 2.0) * (height / 2.0)).sqrt()
            }
        };
        radius * self.unit
    }

    /// The cells in which points of the area may be, in the order in which Redis searches them: the cell of the center
    /// and those beside it, but for those that the area does not reach.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        const BESIDE: [(i32, i32); 9] = [
            (0, 0),
            (0, 1),
            (0, -1),
            (1, 0),
            (-1, 0),
            (1, 1),
            (-1, 1),
            (1, -1),
            (-1, -1),
        ];
        let (min, max) = self.bounds();
        let mut cell = Cell::of(self.center, steps(self.radius(), self.center.latitude));
        let beside = |east, north| cell.neighbor(east, north).corners();
        let is_too_small = beside(0, 1).max.latitude < max.latitude
            || beside(0, -1).min.latitude > min.latitude
            || beside(1, 0).max.longitude < max.longitude
            || beside(-1, 0).min.longitude > min.longitude;
        if cell.steps > 1 && is_too_small {
            cell = Cell::of(self.center, cell.steps - 1);
        }
        let bounds = cell.corners();
        let is_reached = move |(east, north): (i32, i32)| {
            cell.steps < 2
                || !(north < 0 && bounds.min.latitude < min.latitude
                    || north > 0 && bounds.max.latitude > max.latitude
                    || east < 0 && bounds.min.longitude < min.longitude
                    || east > 0 && bounds.max.longitude > max.longitude)
        };
        // Beside a cell of one step the same cell lies on both sides. As in Redis, one is left out only if it is the
        // same as the last one, and that was not the one in the middle.
        let mut last = None;
        let reached = BESIDE.into_iter().filter(move |way| is_reached(*way));
        let cells = reached.map(move |(east, north)| {
            let is_middle = (east, north) == (0, 0);
            (cell.neighbor(east, north), is_middle)
        });
        cells.filter_map(move |(cell, is_middle)| {
            if last == Some(cell) {
                return None;
            }
            last = (!is_middle).then_some(cell);
            Some(cell)
        })
    }
}

/// The steps of cells so large that the area is within those beside the one of its center.
fn steps(radius: f64, latitude: f64) -> u32 {
    if radius == 0.0 {
        return STEPS_MAX;
    }
    let (mut radius, mut steps) = (radius, 1_i32);
    while radius < MERCATOR_MAX {
        radius *= 2.0;
        steps += 1;
    }
    steps -= 2;
    // Cells are narrower towards the poles.
    if latitude.abs() > 66.0 {
        steps -= 1;
        if latitude.abs() > 80.0 {
            steps -= 1;
        }
    }
    steps.clamp(1, STEPS_MAX as i32).cast_unsigned()
}
