//! The 80-bit floating-point format in which Redis adds numbers (`long double` on x86-64), as far
//! as `INCRBYFLOAT` needs it: parsing, adding and formatting, each rounded to nearest, ties to
//! even.

use num_bigint::BigUint;

/// A number in this format: 64 bits of significand, 15 bits of exponent, and infinities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extended {
    negative: bool,
    size: Size,
}

/// The magnitude of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// `significand × 2^exponent`, where the exponent lies in `EXPONENT_MIN..=EXPONENT_MAX`.
    Finite {
        significand: u64,
        exponent: i32,
    },
    Infinite,
}

const EXPONENT_MIN: i32 = -16_445;
const EXPONENT_MAX: i32 = 16_320;
const SIGNIFICAND_BITS: u64 = 64;

/// The longest text that is parsed, in bytes: Redis's buffer of 5 KiB, less its terminator.
const TEXT_BYTES_MAX: usize = 5 * 1024 - 1;
/// A number above 10 to this power is infinite, and one below its reciprocal is 0.
const DECIMAL_EXPONENT_MAX: i64 = 5000;
/// The same limit for powers of 2, with room for all digits that a text may have.
const BINARY_EXPONENT_MAX: i64 = 40_000;
/// The most decimals that are written.
const DECIMALS: usize = 17;

impl Extended {
    pub(crate) const ZERO: Self = Self {
        negative: false,
        size: Size::Finite {
            significand: 0,
            exponent: 0,
        },
    };

    /// Parses a number as C's `strtold` does; the whole text must be used, without blanks. It has
    /// decimal or (after `0x`) hexadecimal digits with an exponent, or is `inf`. `None` if it is
    /// not a number, is NaN, or is out of the format's range.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
            return Some(Self {
                negative,
                size: Size::Infinite,
            });
        }
        let size = match text {
            [b'0', b'x' | b'X', digits @ ..] => parse_hexadecimal(digits)?,
            digits => parse_decimal(digits)?,
        };
        Some(Self { negative, size })
    }

    /// Returns whether it is not infinite.
    pub(crate) fn is_finite(self) -> bool {
        matches!(self.size, Size::Finite { .. })
    }

    /// The sum, or `None` if it is not a number (infinities of both signs).
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (a, b) = match (self.size, other.size) {
            (Size::Infinite, Size::Infinite) => {
                return (self.negative == other.negative).then_some(self);
            }
            (Size::Infinite, _) => return Some(self),
            (_, Size::Infinite) => return Some(other),
            (
                Size::Finite {
                    significand: a,
                    exponent: a_exponent,
                },
                Size::Finite {
                    significand: b,
                    exponent: b_exponent,
                },
            ) => ((a, a_exponent), (b, b_exponent)),
        };
        let exponent = a.1.min(b.1);
        let aligned = |(significand, own): (u64, i32)| {
            BigUint::from(significand) << (own - exponent).unsigned_abs()
        };
        let (a, b) = (aligned(a), aligned(b));
        let (negative, sum) = if self.negative == other.negative {
            (self.negative, a + b)
        } else if a >= b {
            (self.negative, a - b)
        } else {
            (other.negative, b - a)
        };
        Some(Self {
            negative,
            size: round(&sum, &BigUint::from(1_u8), i64::from(exponent)),
        })
    }

    /// The number with 17 decimals, without trailing zeros; `None` if it is infinite.
    pub(crate) fn to_text(self) -> Option<String> {
        let Size::Finite {
            significand,
            exponent,
        } = self.size
        else {
            return None;
        };
        let scaled = BigUint::from(significand) * BigUint::from(10_u8).pow(DECIMALS as u32);
        let scaled = if exponent >= 0 {
            scaled << exponent.unsigned_abs()
        } else {
            let divisor = BigUint::from(1_u8) << exponent.unsigned_abs();
            divide_rounded(&scaled, &divisor)
        };
        let digits = scaled.to_string();
        let digits = format!("{digits:0>width$}", width = DECIMALS + 1);
        let (whole, decimals) = digits.split_at(digits.len() - DECIMALS);
        let decimals = decimals.trim_end_matches('0');
        let sign = if self.negative && scaled != BigUint::ZERO {
            "-"
        } else {
            ""
        };
        let point = if decimals.is_empty() { "" } else { "." };
        Some(format!("{sign}{whole}{point}{decimals}"))
    }
}

/// The digits of a number, with its point removed.
struct Digits<'t> {
    value: BigUint,
    /// The number of digits after the point.
    behind_point: i64,
    /// The number of significant digits: those after the leading zeros.
    significant: i64,
    rest: &'t [u8],
}

fn take_digits(text: &[u8], radix: u32) -> Option<Digits<'_>> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    let before = text.iter().take_while(|byte| is_digit(byte)).count();
    let mut digits = text[..before].to_vec();
    let mut rest = &text[before..];
    if let [b'.', behind @ ..] = rest {
        let count = behind.iter().take_while(|byte| is_digit(byte)).count();
        digits.extend_from_slice(&behind[..count]);
        rest = &behind[count..];
    }
    Some(Digits {
        value: BigUint::parse_bytes(&digits, radix)?,
        behind_point: (digits.len() - before) as i64,
        significant: digits.iter().skip_while(|digit| **digit == b'0').count() as i64,
        rest,
    })
}

/// The exponent after `letter`, in either case, up to the end of the text; 0 without one.
fn parse_exponent(text: &[u8], letter: u8) -> Option<i64> {
    let [first, rest @ ..] = text else {
        return Some(0);
    };
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let is_exponent = first.to_ascii_lowercase() == letter
        && !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit);
    let size = digits.iter().fold(0_i64, |size, digit| {
        size.saturating_mul(10)
            .saturating_add(i64::from(*digit & 0xf))
    });
    is_exponent.then_some(if negative { -size } else { size })
}

fn parse_decimal(text: &[u8]) -> Option<Size> {
    let digits = take_digits(text, 10)?;
    let exponent = parse_exponent(digits.rest, b'e')?.saturating_sub(digits.behind_point);
    let size = if digits.significant == 0 {
        Extended::ZERO.size
    } else if digits.significant.saturating_add(exponent).abs() > DECIMAL_EXPONENT_MAX {
        return None;
    } else {
        let power = BigUint::from(10_u8).pow(u32::try_from(exponent.unsigned_abs()).ok()?);
        if exponent >= 0 {
            round(&(digits.value * power), &BigUint::from(1_u8), 0)
        } else {
            round(&digits.value, &power, 0)
        }
    };
    in_range(size, digits.significant == 0)
}

fn parse_hexadecimal(text: &[u8]) -> Option<Size> {
    let digits = take_digits(text, 16)?;
    let exponent = parse_exponent(digits.rest, b'p')?.saturating_sub(4 * digits.behind_point);
    let exponent = exponent.clamp(-BINARY_EXPONENT_MAX, BINARY_EXPONENT_MAX);
    in_range(
        round(&digits.value, &BigUint::from(1_u8), exponent),
        digits.significant == 0,
    )
}

/// Refuses results that `strtold` reports as out of range: infinity, and 0 for a number other than
/// 0.
fn in_range(size: Size, is_zero: bool) -> Option<Size> {
    match size {
        Size::Infinite => None,
        Size::Finite { significand: 0, .. } if !is_zero => None,
        finite => Some(finite),
    }
}

/// The number in this format nearest to `numerator / denominator × 2^exponent`.
fn round(numerator: &BigUint, denominator: &BigUint, exponent: i64) -> Size {
    if *numerator == BigUint::ZERO {
        return Extended::ZERO.size;
    }
    // The shift gives the quotient 64 or 65 bits; subnormal numbers have fewer. Each pass rounds
    // the exact quotient: rounding twice would not be rounding to nearest.
    let surplus = numerator.bits() as i64 - denominator.bits() as i64 - SIGNIFICAND_BITS as i64;
    let mut down = surplus.max(i64::from(EXPONENT_MIN) - exponent);
    let mut quotient = quotient_rounded(numerator, denominator, down);
    while quotient.bits() > SIGNIFICAND_BITS {
        down += 1;
        quotient = quotient_rounded(numerator, denominator, down);
    }
    let exponent = exponent + down;
    match (u64::try_from(&quotient), i32::try_from(exponent)) {
        (Ok(significand), Ok(exponent)) if exponent <= EXPONENT_MAX => Size::Finite {
            significand,
            exponent,
        },
        _ => Size::Infinite,
    }
}

/// `numerator / denominator × 2^-down`, to the nearest integer.
fn quotient_rounded(numerator: &BigUint, denominator: &BigUint, down: i64) -> BigUint {
    if down >= 0 {
        divide_rounded(numerator, &(denominator << down.unsigned_abs()))
    } else {
        divide_rounded(&(numerator << down.unsigned_abs()), denominator)
    }
}

/// The quotient rounded to the nearest integer, ties to even.
fn divide_rounded(numerator: &BigUint, denominator: &BigUint) -> BigUint {
    let quotient = numerator / denominator;
    let doubled_rest: BigUint = (numerator - &quotient * denominator) << 1_u8;
    let is_up = match doubled_rest.cmp(denominator) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient.bit(0),
        std::cmp::Ordering::Greater => true,
    };
    if is_up { quotient + 1_u8 } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(a: &str, b: &str) -> Option<String> {
        let [a, b] = [a, b].map(|text| Extended::parse(text.as_bytes()).expect("a number"));
        a.plus(b)?.to_text()
    }

    /// The sums come from Redis 7.0 on x86-64.
    #[test]
    fn sum_equals_the_one_of_redis() {
        for (a, b, sum) in [
            ("0.1", "0.2", "0.3"),
            ("10.5", "0.1", "10.6"),
            ("3.0e3", "200", "3200"),
            ("1e17", "1", "100000000000000001"),
            ("1e17", "0.1", "100000000000000000.1015625"),
            ("5.0e3", "2.0e2", "5200"),
            ("3.14159265358979323846", "0", "3.14159265358979324"),
            ("-16", "7.642568378e-24", "-16"),
            ("1", "-0.9", "0.1"),
            ("0x10", "0x1.8p3", "28"),
            ("1e-5", "0", "0.00001"),
            ("5e-18", "0", "0"),
            ("4.9e-18", "0", "0"),
            ("-1e-18", "0", "0"),
            ("1.5", "-1.5", "0"),
            (
                "123456789.123456789",
                "0.000000001",
                "123456789.12345678999554366",
            ),
            ("99999999999999999999", "1", "100000000000000000000"),
            ("18446744073709551615", "1", "18446744073709551616"),
            ("18446744073709551615", "0.5", "18446744073709551616"),
            ("18446744073709551614", "0.5", "18446744073709551614"),
            ("3.6451995318824746025e-4951", "0", "0"),
            ("1e300", "-1e300", "0"),
        ] {
            assert_eq!(add(a, b).as_deref(), Some(sum), "{a} + {b}");
        }
    }

    #[test]
    fn largest_number_is_written_in_full_and_a_larger_sum_is_refused() {
        let largest = "1.18973149535723176502e4932";
        let text = add(largest, "0").expect("a finite number");
        assert_eq!(text.len(), 4933);
        assert!(
            text.starts_with("118973149535723176502126385303097020516906332229"),
            "{text}"
        );
        assert_eq!(add(largest, largest), None);
    }

    #[test]
    fn infinite_sum_is_not_written() {
        assert_eq!(add("inf", "1"), None);
        assert_eq!(add("-Infinity", "INF"), None);
    }

    #[test]
    fn invalid_or_out_of_range_text_is_refused() {
        let long = "1".repeat(TEXT_BYTES_MAX + 1);
        for text in [
            "",
            "-",
            "+-1",
            " 1",
            "1 ",
            ".",
            "1e",
            "1e+",
            "e5",
            "nan",
            "0x",
            "0x.p1",
            "1_0",
            "1.2.3",
            "0x1p",
            "infinit",
            "1e4933",
            "1e-4952",
            "1e99999999999999999999",
            "-1e-9999999999999999999",
            "0x1p16384",
            "0x1p-16446",
            long.as_str(),
        ] {
            assert_eq!(Extended::parse(text.as_bytes()), None, "{text}");
        }
        let zeros = "0".repeat(TEXT_BYTES_MAX);
        for zero in [
            "0",
            "-0",
            "0e99999999999999999999",
            ".0",
            "0.",
            "0x0p99999",
            zeros.as_str(),
        ] {
            let number = Extended::parse(zero.as_bytes()).expect("a zero");
            assert_eq!(number.to_text().as_deref(), Some("0"), "{zero}");
        }
    }
}
