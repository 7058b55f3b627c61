//! Scores as text, as Redis writes them.

use core::fmt;
use std::io::Write;

use crate::decimal::write_decimal;
use crate::packed::listpack::Element;

/// The digits that Redis writes, of which some do not matter.
const DIGITS: usize = 17;

/// The text of a score.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScoreText {
    bytes: [u8; 32],
    len: usize,
}

impl ScoreText {
    /// Returns the text of a score as C's `%.17g` writes it, which Redis uses.
    ///
    /// ```
    /// use respire_store::ScoreText;
    ///
    /// assert_eq!(ScoreText::new(3.0).as_bytes(), b"3");
    /// assert_eq!(ScoreText::new(3.1).as_bytes(), b"3.1000000000000001");
    /// assert_eq!(ScoreText::new(-1e20).as_bytes(), b"-1e+20");
    /// assert_eq!(ScoreText::new(f64::INFINITY).as_bytes(), b"inf");
    /// ```
    #[must_use]
    pub fn new(score: f64) -> Self {
        let mut text = ScoreText {
            bytes: [0; 32],
            len: 0,
        };
        if score.is_infinite() {
            text.push(if score > 0.0 { b"inf" } else { b"-inf" });
        } else if score == 0.0 {
            text.push(if score.is_sign_negative() {
                b"-0"
            } else {
                b"0"
            });
        } else if score.abs() < 1e17 && score.trunc() == score {
            text.push(write_decimal(score as i64, &mut [0; 20]));
        } else {
            text.general(score);
        }
        text
    }

    /// Returns the text that Redis puts into a listpack: integers up to 2^62 have all their digits, and `-0` is 0.
    #[must_use]
    pub fn packed(score: f64) -> Self {
        // All numbers of this size are integers that the type has.
        const MAX: f64 = (i64::MAX / 2) as f64;
        if (-MAX..=MAX).contains(&score) && score.trunc() == score {
            let mut text = Self::new(0.0);
            text.len = 0;
            text.push(write_decimal(score as i64, &mut [0; 20]));
            return text;
        }
        Self::new(score)
    }

    /// Returns the bytes of the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, text: &[u8]) {
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text);
        self.len += text.len();
    }

    fn zeros(&mut self, count: i32) {
        (0..count).for_each(|_| self.push(b"0"));
    }

    /// Writes a number as `%.17g`: 17 digits without the zeros behind them, and an exponent if it is below -4 or above
    /// 16.
    fn general(&mut self, score: f64) {
        let mut room = [0_u8; 32];
        let mut rest = &mut room[..];
        let precision = DIGITS - 1;
        write!(rest, "{:.precision$e}", score.abs())
            .expect("invariant: 17 digits and an exponent fit");
        let left = rest.len();
        let written = &room[..32 - left];
        let mut parts = written.split(|byte| *byte == b'e');
        let mut digits = [0; DIGITS];
        let mantissa = parts
            .next()
            .into_iter()
            .flatten()
            .filter(|byte| **byte != b'.');
        digits
            .iter_mut()
            .zip(mantissa)
            .for_each(|(digit, byte)| *digit = *byte);
        let exponent = parts
            .next()
            .and_then(|text| core::str::from_utf8(text).ok());
        let exponent: i32 = exponent.and_then(|text| text.parse().ok()).unwrap_or(0);
        let used = digits
            .iter()
            .rposition(|digit| *digit != b'0')
            .map_or(1, |at| at + 1);
        let digits = &digits[..used];
        if score < 0.0 {
            self.push(b"-");
        }
        self.place(digits, exponent);
    }

    /// Lays out the number `d.ddd` times ten to this power.
    fn place(&mut self, digits: &[u8], exponent: i32) {
        let whole = exponent + 1;
        if !(-4..DIGITS as i32).contains(&exponent) {
            self.push(&digits[..1]);
            if digits.len() > 1 {
                self.push(b".");
                self.push(&digits[1..]);
            }
            self.push(if exponent < 0 { b"e-" } else { b"e+" });
            let power = exponent.unsigned_abs();
            if power < 10 {
                self.push(b"0");
            }
            self.push(write_decimal(i64::from(power), &mut [0; 20]));
        } else if whole <= 0 {
            self.push(b"0.");
            self.zeros(-whole);
            self.push(digits);
        } else if digits.len() <= whole as usize {
            self.push(digits);
            self.zeros(whole - digits.len() as i32);
        } else {
            self.push(&digits[..whole as usize]);
            self.push(b".");
            self.push(&digits[whole as usize..]);
        }
    }
}

impl fmt::Debug for ScoreText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

/// Reads the score of an element of a listpack; `None` if it is no number.
pub(super) fn read(element: Element<'_>) -> Option<f64> {
    match element {
        Element::Int(number) => Some(number as f64),
        Element::Bytes(text) => {
            let score: f64 = core::str::from_utf8(text).ok()?.parse().ok()?;
            (!score.is_nan()).then_some(score)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_that_of_c() {
        for (score, text) in [
            (0.1, "0.10000000000000001"),
            (-0.0, "-0"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1.5e-5, "1.5e-05"),
            (0.00015, "0.00014999999999999999"),
            (-0.5, "-0.5"),
            (1e300, "1.0000000000000001e+300"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::NEG_INFINITY, "-inf"),
            (3.5, "3.5"),
            (2_251_799_813_685_249.5, "2251799813685249.5"),
        ] {
            assert_eq!(format!("{:?}", ScoreText::new(score)), text);
            assert_eq!(read(Element::Bytes(text.as_bytes())), Some(score));
        }
    }

    #[test]
    fn packed_text_of_large_integers_has_all_digits() {
        for (score, text) in [
            (-0.0, "0"),
            (1e17, "100000000000000000"),
            (4e18, "4000000000000000000"),
            (5e18, "5e+18"),
            (f64::INFINITY, "inf"),
            (2.5, "2.5"),
        ] {
            assert_eq!(format!("{:?}", ScoreText::packed(score)), text);
        }
    }

    #[test]
    fn text_that_is_no_number_is_refused() {
        for text in ["nan", "", "1x", " 1", "0x10"] {
            assert_eq!(read(Element::Bytes(text.as_bytes())), None, "{text}");
        }
    }
}
