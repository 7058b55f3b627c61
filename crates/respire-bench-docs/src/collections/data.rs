//! The collections that are measured: what fills a server, with the replies to it.

use crate::script::Batch;

/// The number of requests sent at once to fill a server.
const BATCH: u64 = 100;

/// The least and the most elements.
pub(super) const ELEMENTS: (u64, u64) = (1_000, 10_000_000);

/// Elements of each small set, list and sorted set.
pub(super) const SMALL: u64 = 5;

/// Fields of each small hash.
const FIELDS: u64 = 10;

/// Collections that are filled together.
pub(super) struct Fill {
    /// The name of the row of its memory.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) title: &'static str,
    /// What the memory is divided by.
    pub(super) per: &'static str,
    /// The number of requests, of so many elements.
    pub(super) requests: fn(u64) -> u64,
    /// The request of a number, of so many, and its reply.
    pub(super) request: fn(u64, u64) -> (Vec<String>, String),
}

/// The collections of one started server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    /// Many small hashes.
    Hashes,
    /// Many small sets, lists and sorted sets.
    Small,
    /// A few large collections.
    Large,
}

impl Scene {
    pub(super) const ALL: [Self; 3] = [Self::Hashes, Self::Small, Self::Large];

    pub(super) fn fills(self) -> &'static [Fill] {
        match self {
            Self::Hashes => HASHES,
            Self::Small => SMALL_ONES,
            Self::Large => LARGE,
        }
    }
}

const HASHES: &[Fill] = &[Fill {
    name: "memory-hashes",
    title: "1M hashes of 10 fields",
    per: "hash",
    requests: |elements| elements,
    request: |number, _| {
        let mut words = vec!["HSET".to_owned(), format!("h:{number}")];
        for field in 0..FIELDS {
            words.extend([format!("field{field}"), format!("value{field}")]);
        }
        (words, format!(":{FIELDS}\r\n"))
    },
}];

const SMALL_ONES: &[Fill] = &[
    Fill {
        name: "memory-sets",
        title: "1M sets of 5 members",
        per: "set",
        requests: |elements| elements,
        request: |number, _| small("SADD", "s", number, |_| None),
    },
    Fill {
        name: "memory-lists",
        title: "1M lists of 5 elements",
        per: "list",
        requests: |elements| elements,
        request: |number, _| small("RPUSH", "l", number, |_| None),
    },
    Fill {
        name: "memory-zsets",
        title: "1M sorted sets of 5 members",
        per: "sorted set",
        requests: |elements| elements,
        request: |number, _| small("ZADD", "z", number, |at| Some(at.to_string())),
    },
];

const LARGE: &[Fill] = &[
    Fill {
        name: "memory-hash",
        title: "One hash of 1M fields of 10 B, with values of 10 B",
        per: "field",
        requests: |elements| elements,
        request: |number, of| {
            let (field, value) = (member(shuffled(number, of)), member(number));
            (words(&["HSET", "H", &field, &value]), one())
        },
    },
    Fill {
        name: "memory-set",
        title: "One set of 1M members of 10 B",
        per: "member",
        requests: |elements| elements,
        request: |number, of| {
            let member = member(shuffled(number, of));
            (words(&["SADD", "S", &member]), one())
        },
    },
    Fill {
        name: "memory-zset",
        title: "One sorted set of 1M members of 10 B",
        per: "member",
        requests: |elements| elements,
        request: |number, of| zadd("Z", number, shuffled(number, of)),
    },
    Fill {
        name: "memory-list",
        title: "One list of 1M elements of 10 B",
        per: "element",
        requests: |elements| elements,
        request: |number, _| rpush("L", number, &member(number)),
    },
    // What follows has no row of its own.
    Fill {
        name: "",
        title: "a second set, half of whose members the first one has",
        per: "",
        requests: |elements| elements,
        request: |number, of| {
            let member = member(shuffled(number, of) + of / 2);
            (words(&["SADD", "S2", &member]), one())
        },
    },
    Fill {
        name: "",
        title: "a second sorted set of this kind",
        per: "",
        requests: |elements| elements,
        request: |number, of| zadd("Z2", number, shuffled(number, of) + of / 2),
    },
    Fill {
        name: "",
        title: "a list of numbers",
        per: "",
        requests: |elements| elements,
        request: |number, of| rpush("N", number, &shuffled(number, of).to_string()),
    },
    Fill {
        name: "",
        title: "a hash of 50 fields",
        per: "",
        requests: |_| 50,
        request: |number, _| {
            let field = format!("field{number}");
            (words(&["HSET", "H50", &field, "value00001"]), one())
        },
    },
    Fill {
        name: "",
        title: "a set of 100 members",
        per: "",
        requests: |_| 100,
        request: |number, _| (words(&["SADD", "S100", &member(number)]), one()),
    },
];

/// A request that makes a small collection.
fn small(
    command: &str,
    prefix: &str,
    number: u64,
    score: fn(u64) -> Option<String>,
) -> (Vec<String>, String) {
    let mut words = vec![command.to_owned(), format!("{prefix}:{number}")];
    for at in 0..SMALL {
        words.extend(score(at));
        words.push(format!("member{at}"));
    }
    (words, format!(":{SMALL}\r\n"))
}

fn zadd(key: &str, score: u64, number: u64) -> (Vec<String>, String) {
    let (score, member) = (score.to_string(), member(number));
    (words(&["ZADD", key, &score, &member]), one())
}

/// Adds an element to a list that has so many.
fn rpush(key: &str, len: u64, element: &str) -> (Vec<String>, String) {
    (words(&["RPUSH", key, element]), format!(":{}\r\n", len + 1))
}

fn one() -> String {
    ":1\r\n".to_owned()
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A text of ten bytes.
pub(super) fn member(number: u64) -> String {
    format!("m{number:09}")
}

/// Another number below a power of ten, a different one for each number.
pub(super) fn shuffled(number: u64, of: u64) -> u64 {
    // Neither 2 nor 5 divides the factor.
    number * 618_033_989 % of
}

/// The requests that fill, in batches.
pub(super) fn batches(fill: &Fill, elements: u64) -> impl Iterator<Item = Batch> {
    let requests = (fill.requests)(elements);
    (0..requests).step_by(BATCH as usize).map(move |from| {
        let mut batch = Batch::default();
        for number in from..(from + BATCH).min(requests) {
            let (words, reply) = (fill.request)(number, elements);
            batch.push(&words, reply);
        }
        batch
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_numbers_are_all_numbers_below_a_power_of_ten() {
        let mut numbers: Vec<u64> = (0..1_000).map(|number| shuffled(number, 1_000)).collect();
        assert!(!numbers.is_sorted());
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..1_000));
    }
}
