//! `bit`: operations on the bits of 32-bit integers, as LuaBitOp 1.0.2 does them.

use super::args::Args;
use mlua::{Lua, MultiValue, Result, Table, Value};

/// 2^52 + 2^51. Added to a number up to 2^51, it moves its integer part to the lowest bits, rounded
/// to even. Larger numbers give what those bits happen to be, in LuaBitOp too.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// The library's table.
///
/// # Errors
/// Out of memory.
pub(crate) fn table(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    one(lua, &table, "tobit", |bits| bits)?;
    one(lua, &table, "bnot", |bits| !bits)?;
    one(lua, &table, "bswap", u32::swap_bytes)?;
    many(lua, &table, "band", |a, b| a & b)?;
    many(lua, &table, "bor", |a, b| a | b)?;
    many(lua, &table, "bxor", |a, b| a ^ b)?;
    two(lua, &table, "lshift", |bits, by| bits << by)?;
    two(lua, &table, "rshift", |bits, by| bits >> by)?;
    two(lua, &table, "arshift", |bits, by| {
        (bits.cast_signed() >> by).cast_unsigned()
    })?;
    two(lua, &table, "rol", u32::rotate_left)?;
    two(lua, &table, "ror", u32::rotate_right)?;
    let tohex = lua.create_function(|lua, values: MultiValue| {
        let args = Args::new(lua, values);
        let bits = bits(&args, 1)?;
        let digits = if args.len() < 2 {
            8
        } else {
            bits_of_count(&args)?
        };
        lua.create_string(hex(bits, digits))
    })?;
    table.raw_set("tohex", tohex)?;
    Ok(table)
}

fn bits_of_count(args: &Args<'_>) -> Result<i32> {
    bits(args, 2).map(u32::cast_signed)
}

/// The last `digits` hexadecimal digits, at most 8; upper case if the number is negative.
fn hex(bits: u32, digits: i32) -> Vec<u8> {
    let count = digits.unsigned_abs().min(8) as usize;
    let text = if digits < 0 {
        format!("{bits:08X}")
    } else {
        format!("{bits:08x}")
    };
    text.as_bytes()[8 - count..].to_vec()
}

fn bits(args: &Args<'_>, number: usize) -> Result<u32> {
    let found = match args.get(number) {
        Some(Value::Integer(value)) => Some(*value as f64),
        Some(value) => args.number_of(value)?,
        None => None,
    };
    match found {
        Some(value) => Ok((value + MAGIC).to_bits() as u32),
        None => Err(args.wrong_type(number, "number")),
    }
}

fn answer(bits: u32) -> f64 {
    f64::from(bits.cast_signed())
}

fn one(lua: &Lua, table: &Table, name: &str, of: fn(u32) -> u32) -> Result<()> {
    let function = lua.create_function(move |lua, values: MultiValue| {
        Ok(answer(of(bits(&Args::new(lua, values), 1)?)))
    })?;
    table.raw_set(name, function)
}

fn two(lua: &Lua, table: &Table, name: &str, of: fn(u32, u32) -> u32) -> Result<()> {
    let function = lua.create_function(move |lua, values: MultiValue| {
        let args = Args::new(lua, values);
        Ok(answer(of(bits(&args, 1)?, bits(&args, 2)? & 31)))
    })?;
    table.raw_set(name, function)
}

/// The arguments are read from the last to the second, so of two wrong ones the last is named.
fn many(lua: &Lua, table: &Table, name: &str, of: fn(u32, u32) -> u32) -> Result<()> {
    let function = lua.create_function(move |lua, values: MultiValue| {
        let args = Args::new(lua, values);
        let mut result = bits(&args, 1)?;
        for number in (2..=args.len()).rev() {
            result = of(result, bits(&args, number)?);
        }
        Ok(answer(result))
    })?;
    table.raw_set(name, function)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn results_are_signed() {
        check("bit.tobit(0xffffffff)", "-1");
        check("bit.tobit(0xffffffff + 1)", "0");
        check("bit.bnot(0)", "-1");
        check("bit.band(0xff, '0x0f', 7)", "7");
        check("bit.bor(1, 2, 2^31)", "-2147483645");
        check("bit.bxor(0xa5a5f0f0, 0xaa55ff00)", "267390960");
        check("bit.bswap(0x12345678)", "2018915346");
    }

    #[test]
    fn shifts_use_five_bits_of_the_count() {
        check("bit.lshift(1, 31)", "-2147483648");
        check("bit.lshift(1, 32)", "1");
        check("bit.lshift(1, -1)", "-2147483648");
        check("bit.rshift(-1, 4)", "268435455");
        check("bit.arshift(-256, 4)", "-16");
        check("bit.rol(0x12345678, 12)", "1164411171");
        check("bit.ror(0x12345678, 0)", "305419896");
    }

    #[test]
    fn numbers_are_rounded_to_even() {
        check("bit.tobit(0.5)", "0");
        check("bit.tobit(1.5)", "2");
        check("bit.tobit(2.5)", "2");
        check("bit.tobit(-1.7)", "-2");
        check("bit.tobit(0/0)", "0");
        check("bit.tobit(2^40 + 1)", "1");
    }

    #[test]
    fn tohex_cuts_and_upper_cases() {
        check("bit.tohex(1)", "00000001");
        check("bit.tohex(-1, 4)", "ffff");
        check("bit.tohex(0x87654321, -4)", "4321");
        check("bit.tohex(0xabcdef, -8)", "00ABCDEF");
        check("bit.tohex(1, 100)", "00000001");
        check("bit.tohex(1, 0)", "");
    }

    #[test]
    fn anything_but_a_number_is_refused() {
        let start = "user_script:1: bad argument";
        for (call, problem) in [
            (
                "bit.tobit()",
                "#1 to 'tobit' (number expected, got no value)",
            ),
            (
                "bit.bnot('x')",
                "#1 to 'bnot' (number expected, got string)",
            ),
            (
                "bit.band(1, {}, nil)",
                "#3 to 'band' (number expected, got nil)",
            ),
            (
                "bit.lshift(1)",
                "#2 to 'lshift' (number expected, got no value)",
            ),
            (
                "bit.tohex(1, nil)",
                "#2 to 'tohex' (number expected, got nil)",
            ),
        ] {
            check(call, &format!("{start} {problem}"));
        }
    }
}
