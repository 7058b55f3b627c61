//! Reads coordinates, distances and units from arguments, and writes them.

use super::cell::Point;
use crate::errors::{
    GEO_BOX_NEGATIVE, GEO_HEIGHT, GEO_RADIUS, GEO_RADIUS_NEGATIVE, GEO_UNIT, GEO_WIDTH, NOT_A_FLOAT,
};
use crate::options::is_word;
use resp_codec::number::parse_f64;
use respire_engine::{Error, Reply};

/// Reads a longitude and a latitude.
pub(super) fn point(longitude: &[u8], latitude: &[u8]) -> Result<Point, Error> {
    let point = Point {
        longitude: number(longitude, NOT_A_FLOAT)?,
        latitude: number(latitude, NOT_A_FLOAT)?,
    };
    if point.is_in_range() {
        return Ok(point);
    }
    Err(Error::new(
        "ERR",
        format_args!(
            "invalid longitude,latitude pair {:.6},{:.6}",
            point.longitude, point.latitude
        ),
    ))
}

fn number(text: &[u8], error: Error) -> Result<f64, Error> {
    parse_f64(text)
        .filter(|number| !number.is_nan())
        .ok_or(error)
}

/// Reads a unit, and returns how many meters it has.
pub(super) fn unit(word: &[u8]) -> Result<f64, Error> {
    const UNITS: [(&str, f64); 4] = [("m", 1.0), ("km", 1000.0), ("ft", 0.3048), ("mi", 1609.34)];
    let found = UNITS.iter().find(|(name, _)| is_word(word, name));
    found.map(|(_, meters)| *meters).ok_or(GEO_UNIT)
}

/// Reads a radius that is followed by its unit.
pub(super) fn radius(radius: &[u8], word: &[u8]) -> Result<(f64, f64), Error> {
    let radius = number(radius, GEO_RADIUS)?;
    if radius < 0.0 {
        return Err(GEO_RADIUS_NEGATIVE);
    }
    Ok((radius, unit(word)?))
}

/// Reads a width and a height that are followed by their unit.
pub(super) fn width_and_height(
    width: &[u8],
    height: &[u8],
    word: &[u8],
) -> Result<(f64, f64, f64), Error> {
    let (width, height) = (number(width, GEO_WIDTH)?, number(height, GEO_HEIGHT)?);
    if width < 0.0 || height < 0.0 {
        return Err(GEO_BOX_NEGATIVE);
    }
    Ok((width, height, unit(word)?))
}

/// Writes a distance with four digits behind the point.
pub(super) fn reply_distance(reply: &mut Reply<'_>, distance: f64) {
    let number = integer((distance * 10_000.0).round_ties_even());
    let sign = if number < 0 { "-" } else { "" };
    let (whole, rest) = (
        number.unsigned_abs() / 10_000,
        number.unsigned_abs() % 10_000,
    );
    reply.bulk(format!("{sign}{whole}.{rest:04}"));
}

/// Converts a number as C does on x86-64: what does not fit is the lowest integer.
pub(super) fn integer(number: f64) -> i64 {
    if number < i64::MAX as f64 && number >= i64::MIN as f64 {
        number as i64
    } else {
        i64::MIN
    }
}

/// Writes a longitude and a latitude.
pub(super) fn reply_point(reply: &mut Reply<'_>, point: Point) {
    reply.array(2);
    for degrees in [point.longitude, point.latitude] {
        let text = format!("{degrees:.17}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        let text = if text == "-0" { "0" } else { text };
        reply.double_text(degrees, text.as_bytes());
    }
}
