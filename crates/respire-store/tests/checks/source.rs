//! Reads the parts of operations from any bytes.

use std::sync::LazyLock;

use respire_store::{Access, Config, Expiry, Interest, Policy};

use super::edit::{Edit, Form};

pub(crate) const DATABASES: u32 = 3;

/// Keys of lengths around the limits of the representations. Each key is always the same slice, because a
/// prefetch applies only to its own slice.
pub(crate) static KEYS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let padding = |key: usize| if key % 8 == 7 { key * 12 } else { 0 };
    let name = |key: usize| format!("k{key}{}", "x".repeat(padding(key))).into_bytes();
    (0..24).map(name).collect()
});

/// Lengths of values, around the limits of the representations.
const LENS: [usize; 24] = [
    0, 1, 2, 3, 8, 12, 20, 21, 29, 37, 44, 45, 100, 200, 232, 240, 250, 300, 1000, 1016, 1100,
    16_383, 16_384, 20_000,
];

/// The length of a value that is freed in steps.
const HUGE: usize = 1 << 20;

/// Largest number of values of this size in one input, to bound its time.
const HUGE_MAX: u8 = 4;

/// The bytes that choose the operations; when they are used up, all further ones are 0.
pub(crate) struct Source<'d> {
    data: &'d [u8],
    huge_left: u8,
}

impl<'d> Source<'d> {
    pub(crate) fn new(data: &'d [u8]) -> Self {
        Source {
            data,
            huge_left: HUGE_MAX,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.data.split_first().unwrap_or((&0, &[]));
        self.data = rest;
        *first
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    pub(crate) fn config(&mut self) -> Config {
        let bits = self.byte();
        Config {
            databases: DATABASES,
            shards: [2, 2, 4, 16][usize::from(bits % 4)],
            capacity: usize::from(bits >> 4) * 10,
            cached_bytes: usize::from(bits & 8) << 17,
            seed: [u64::from(bits); 4],
        }
    }

    pub(crate) fn key(&mut self) -> &'static [u8] {
        &KEYS[self.below(KEYS.len())]
    }

    /// A few keys, which may be equal.
    pub(crate) fn keys(&mut self) -> Vec<&'static [u8]> {
        (0..self.below(6)).map(|_| self.key()).collect()
    }

    /// Returns a time: in the past, now, soon, later, or near the end of time.
    pub(crate) fn moment(&mut self, now_ms: u64) -> u64 {
        let (kind, amount) = (self.byte(), u64::from(self.byte()));
        match kind % 8 {
            0 => now_ms.saturating_sub(amount),
            1..4 => now_ms + 1 + amount % 16,
            4 => now_ms + amount * 40,
            5 => now_ms + (amount << 12),
            6 => now_ms + (amount << 28),
            _ => u64::MAX - amount % 3,
        }
    }

    fn expiry(&mut self, now_ms: u64) -> Expiry {
        match self.byte() % 4 {
            0 => Expiry::Clear,
            1 => Expiry::Keep,
            _ => Expiry::At(self.moment(now_ms)),
        }
    }

    fn some_moment(&mut self, now_ms: u64) -> Option<u64> {
        (!self.byte().is_multiple_of(3)).then(|| self.moment(now_ms))
    }

    fn value(&mut self) -> Vec<u8> {
        let (kind, fill) = (self.byte(), self.byte());
        if kind == u8::MAX && self.huge_left > 0 {
            self.huge_left -= 1;
            return vec![fill; HUGE];
        }
        match kind % 4 {
            // A string that resembles a number.
            0 => (i64::from(fill) - 128)
                .pow(1 + u32::from(kind >> 5))
                .to_string()
                .into_bytes(),
            _ => vec![fill; LENS[usize::from(kind / 4) % LENS.len()]],
        }
    }

    /// Elements of a stack: few, or as many as make several parts, or large ones.
    fn elements(&mut self) -> Vec<Vec<u8>> {
        let (kind, fill) = (self.byte(), self.byte());
        let (count, len) = match kind {
            u8::MAX if self.huge_left > 0 => {
                self.huge_left -= 1;
                (70, HUGE / 64)
            }
            0..200 => (usize::from(kind) % 4, usize::from(kind)),
            _ => (usize::from(kind) - 190, 5),
        };
        vec![vec![fill; len]; count]
    }

    pub(crate) fn edit(&mut self, now_ms: u64) -> Edit {
        let amount = |byte: u8| usize::from(byte) << (byte % 8);
        match self.byte() % 32 {
            0..7 => {
                let forms = [
                    Form::Bytes,
                    Form::Bytes,
                    Form::Int,
                    Form::Text,
                    Form::Shared,
                    Form::Raw,
                ];
                let form = forms[self.below(forms.len())];
                Edit::Set(form, self.value(), self.expiry(now_ms))
            }
            7 => Edit::SetStack(self.elements(), self.expiry(now_ms)),
            8 | 9 => Edit::Exchange(
                self.value(),
                self.expiry(now_ms),
                self.byte().is_multiple_of(4),
            ),
            10..13 => Edit::Append(self.value()),
            13 | 14 => Edit::Cut(amount(self.byte()), self.byte().is_multiple_of(2)),
            15 => Edit::CutAndPanic(amount(self.byte()), self.value()),
            16 | 17 => Edit::Share,
            18..21 => Edit::Expire(self.some_moment(now_ms)),
            21 => Edit::Access(match self.byte() {
                idle @ 0..128 => Access::IdleMs(u64::from(idle) << (idle % 64)),
                frequency => Access::Frequency((frequency - 128) * 2),
            }),
            22 | 23 => Edit::Remove,
            24 => Edit::Put(self.some_moment(now_ms)),
            25 => Edit::PutAnew,
            26 | 27 => Edit::Push(self.elements()),
            28 | 29 => Edit::Pop(usize::from(self.byte())),
            30 => {
                let push = self.byte().is_multiple_of(2).then(|| vec![b'e'; 9]);
                Edit::PopAndPanic(usize::from(self.byte()), push)
            }
            _ => Edit::Nothing,
        }
    }

    pub(crate) fn interest(&mut self) -> Interest {
        let bits = self.byte();
        let all = [
            Interest::EFFECTS,
            Interest::ADDITIONS,
            Interest::LOSSES,
            Interest::EVENTS,
            Interest::MISSES,
        ];
        let chosen = all
            .into_iter()
            .enumerate()
            .filter(|(at, _)| bits >> at & 1 != 0);
        chosen.fold(Interest::NONE, |sum, (_, interest)| sum.with(interest))
    }

    pub(crate) fn policy(&mut self) -> Policy {
        Policy::ALL[self.below(Policy::ALL.len())]
    }
}
