//! Which globals a compiled function uses, from the bytecode that `string.dump` of this process wrote.
//!
//! The compiler has decided what is a local variable and what is a global one, so this cannot be wrong
//! about scopes.

/// A use of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) line: u32,
    pub(super) name: Vec<u8>,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Read,
    Write,
    /// A member of it is read: `redis.call`.
    Member(Vec<u8>),
    /// A member of it is read, and only tested or compared: `if redis.setresp then`.
    Test(Vec<u8>),
}

/// A function with the functions inside it.
#[derive(Debug)]
pub(super) struct Prototype {
    pub(super) uses: Vec<Use>,
    pub(super) inner: Vec<Self>,
}

/// The bytes before the first function.
const HEADER_BYTES: usize = 12;

/// The types of constants.
const NIL: u8 = 0;
const BOOLEAN: u8 = 1;
const NUMBER: u8 = 3;
const STRING: u8 = 4;

/// Instructions, as lopcodes.h of Lua 5.1 numbers them.
const GETGLOBAL: u32 = 5;
const GETTABLE: u32 = 6;
const SETGLOBAL: u32 = 7;
const EQ: u32 = 23;
const TEST: u32 = 26;
const TESTSET: u32 = 27;

/// An operand from here on is a constant.
const CONSTANTS: u32 = 256;

impl Prototype {
    /// Reads what `string.dump` wrote; `None` if it is something else.
    pub(super) fn read(dump: &[u8]) -> Option<Self> {
        let (header, rest) = dump.split_at_checked(HEADER_BYTES)?;
        // Of Lua 5.1, with these sizes of `int`, `size_t`, instruction and number.
        let size_bytes = header[8];
        let is_known = header.starts_with(b"\x1bLua\x51\0")
            && matches!(size_bytes, 4 | 8)
            && (header[7], &header[9..]) == (4, &[4, 8, 0]);
        let mut reader = Reader {
            rest,
            size_bytes: size_bytes.into(),
        };
        is_known.then(|| reader.function())?
    }
}

struct Reader<'d> {
    rest: &'d [u8],
    /// The length of a `size_t`.
    size_bytes: usize,
}

impl<'d> Reader<'d> {
    fn take(&mut self, len: usize) -> Option<&'d [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    fn int(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    }

    /// A string, without the NUL at its end.
    fn string(&mut self) -> Option<&'d [u8]> {
        let len = usize::from_ne_bytes(self.take(self.size_bytes)?.try_into().ok()?);
        let bytes = self.take(len)?;
        Some(bytes.strip_suffix(b"\0").unwrap_or(bytes))
    }

    /// As many items as an `int` before them says.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.int()?;
        (0..count).map(|_| item(self)).collect()
    }

    fn function(&mut self) -> Option<Prototype> {
        self.string()?;
        // The lines and counts of parameters and others.
        self.take(4 + 4 + 4)?;
        let code = self.list(Self::int)?;
        let constants = self.list(Self::constant)?;
        let inner = self.list(Self::function)?;
        let lines = self.list(Self::int)?;
        self.list(|reader| {
            reader.string()?;
            reader.take(8)
        })?;
        self.list(Self::string)?;
        let uses = uses(&code, &constants, &lines)?;
        Some(Prototype { uses, inner })
    }

    /// A constant, if it is a string; others are empty.
    fn constant(&mut self) -> Option<&'d [u8]> {
        match self.byte()? {
            NIL => Some(b""),
            BOOLEAN => self.take(1).map(|_| &b""[..]),
            NUMBER => self.take(8).map(|_| &b""[..]),
            STRING => self.string(),
            _ => None,
        }
    }
}

/// An instruction, whose parts are A, B and C, or A and Bx.
#[derive(Clone, Copy)]
struct Instruction(u32);

impl Instruction {
    fn operation(self) -> u32 {
        self.0 & 0x3f
    }

    fn a(self) -> u32 {
        self.0 >> 6 & 0xff
    }

    fn b(self) -> u32 {
        self.0 >> 23
    }

    fn c(self) -> u32 {
        self.0 >> 14 & 0x1ff
    }

    /// The constant that it names.
    fn global<'d>(self, constants: &[&'d [u8]]) -> Option<&'d [u8]> {
        constants.get((self.0 >> 14) as usize).copied()
    }

    /// The name of the member that it reads of the value in a register, if it is in the code.
    fn member<'d>(self, register: u32, constants: &[&'d [u8]]) -> Option<&'d [u8]> {
        let reads = self.operation() == GETTABLE && self.b() == register;
        let at = self.c().checked_sub(CONSTANTS).filter(|_| reads)?;
        let name = constants.get(at as usize)?;
        (!name.is_empty()).then_some(*name)
    }

    /// Whether it tests the value in a register.
    fn tests(self, register: u32) -> bool {
        match self.operation() {
            TEST => self.a() == register,
            TESTSET => self.b() == register,
            EQ => self.b() == register || self.c() == register,
            _ => false,
        }
    }
}

fn uses(code: &[u32], constants: &[&[u8]], lines: &[u32]) -> Option<Vec<Use>> {
    let mut uses = Vec::new();
    for (at, word) in code.iter().enumerate() {
        let instruction = Instruction(*word);
        let what = match instruction.operation() {
            GETGLOBAL => {
                let next = code.get(at + 1).copied().map(Instruction);
                let member = next.and_then(|next| {
                    let name = next.member(instruction.a(), constants)?;
                    let then = code.get(at + 2).copied().map(Instruction);
                    Some(match then.is_some_and(|then| then.tests(next.a())) {
                        true => What::Test(name.to_vec()),
                        false => What::Member(name.to_vec()),
                    })
                });
                member.unwrap_or(What::Read)
            }
            SETGLOBAL => What::Write,
            _ => continue,
        };
        uses.push(Use {
            line: lines.get(at).copied().unwrap_or(1),
            name: instruction.global(constants)?.to_vec(),
            what,
        });
    }
    Some(uses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlua::Lua;

    fn dump(code: &str) -> Vec<u8> {
        let lua = Lua::new();
        lua.load(code).into_function().unwrap().dump(false)
    }

    fn read(code: &str) -> Prototype {
        Prototype::read(&dump(code)).unwrap()
    }

    #[test]
    fn globals_are_found_with_their_lines() {
        let main = read("local a = b\nc = a\nlocal function f(a)\nreturn d.e(a, a.f)\nend");
        let found = |uses: &[Use]| -> Vec<(u32, Vec<u8>, What)> {
            uses.iter()
                .map(|one| (one.line, one.name.clone(), one.what.clone()))
                .collect()
        };
        assert_eq!(
            found(&main.uses),
            [
                (1, b"b".to_vec(), What::Read),
                (2, b"c".to_vec(), What::Write)
            ]
        );
        let member = What::Member(b"e".to_vec());
        assert_eq!(found(&main.inner[0].uses), [(4, b"d".to_vec(), member)]);
    }

    #[test]
    fn test_of_a_member_is_told_from_its_use() {
        for code in [
            "if a.b then return 1 end",
            "return a.b or 1",
            "local c = a.b and 1 return c",
            "return a.b == nil",
        ] {
            let main = read(code);
            assert_eq!(main.uses[0].what, What::Test(b"b".to_vec()), "{code}");
        }
        for code in ["return a.b", "a.b()", "local c = a.b c()", "return a.b.c"] {
            let main = read(code);
            assert_eq!(main.uses[0].what, What::Member(b"b".to_vec()), "{code}");
        }
    }

    #[test]
    fn other_bytes_are_not_read() {
        let dump = dump("return a.b");
        assert!(Prototype::read(&dump).is_some());
        for len in 0..dump.len() {
            assert!(Prototype::read(&dump[..len]).is_none(), "{len}");
        }
    }
}
