//! The rows of the tables.

use super::data::{SMALL, Scene, member, words};

/// The requests of a load: the words of one, from a random number below the number of elements, and that number.
pub(super) type Requests = fn(u64, u64) -> Vec<String>;

/// What a row measures.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// CPU time of each command of a pipelined load.
    Load(Requests),
    /// CPU time of one command.
    Command(&'static str),
    /// The latency of a load of GET while this runs again and again; without a command, of the load alone.
    Beside(Option<&'static str>),
}

/// A row, apart from those of memory, which [`Fill`](super::data::Fill) describes.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Its name for `--row`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) scene: Scene,
    pub(super) what: What,
}

/// The row of waits that others are compared with.
pub(super) const ALONE: &str = "get-alone";

/// The key that `DEL` removes, once per turn.
pub(super) const VICTIM: &str = "victim:";

pub(super) const ROWS: &[Row] = &[
    load(
        "hset",
        "HSET, 1M hashes of 10 fields",
        Scene::Hashes,
        |random, _| {
            let (key, field) = (format!("h:{random}"), format!("field{}", random % 10));
            words(&["HSET", &key, &field, "value1"])
        },
    ),
    load(
        "hget",
        "HGET, 1M hashes of 10 fields",
        Scene::Hashes,
        |random, _| {
            let (key, field) = (format!("h:{random}"), format!("field{}", random % 10));
            words(&["HGET", &key, &field])
        },
    ),
    load(
        "sadd",
        "SADD, 1M sets of 5 members",
        Scene::Small,
        |random, _| words(&["SADD", &format!("s:{random}"), &one_of(random)]),
    ),
    load(
        "sismember",
        "SISMEMBER, 1M sets of 5 members",
        Scene::Small,
        |random, _| words(&["SISMEMBER", &format!("s:{random}"), &one_of(random)]),
    ),
    load(
        "lpush",
        "LPUSH, 1M lists of 5 elements",
        Scene::Small,
        |random, _| words(&["LPUSH", &format!("l:{random}"), "element"]),
    ),
    load(
        "rpop",
        "RPOP, 1M lists of 5 elements",
        Scene::Small,
        |random, _| words(&["RPOP", &format!("l:{random}")]),
    ),
    load(
        "zscore",
        "ZSCORE, 1M sorted sets of 5 members",
        Scene::Small,
        |random, _| words(&["ZSCORE", &format!("z:{random}"), &one_of(random)]),
    ),
    load(
        "hset-large",
        "HSET, one hash of 1M fields",
        Scene::Large,
        |random, _| words(&["HSET", "H", &member(random), "value00001"]),
    ),
    load(
        "hget-large",
        "HGET, one hash of 1M fields",
        Scene::Large,
        |random, _| words(&["HGET", "H", &member(random)]),
    ),
    load(
        "sadd-large",
        "SADD, one set of 1M members",
        Scene::Large,
        |random, _| words(&["SADD", "S", &member(random)]),
    ),
    load(
        "sismember-large",
        "SISMEMBER, one set of 1M members",
        Scene::Large,
        |random, _| words(&["SISMEMBER", "S", &member(random)]),
    ),
    load(
        "zadd-large",
        "ZADD, one sorted set of 1M members",
        Scene::Large,
        |random, of| {
            let score = (random * 31 % of).to_string();
            words(&["ZADD", "Z", &score, &member(random)])
        },
    ),
    load(
        "zscore-large",
        "ZSCORE, one sorted set of 1M members",
        Scene::Large,
        |random, _| words(&["ZSCORE", "Z", &member(random)]),
    ),
    load(
        "zrank-large",
        "ZRANK, one sorted set of 1M members",
        Scene::Large,
        |random, _| words(&["ZRANK", "Z", &member(random)]),
    ),
    load(
        "zrange-10",
        "ZRANGE of 10 by rank, of 1M members",
        Scene::Large,
        |random, _| {
            let (start, stop) = (random.to_string(), (random + 9).to_string());
            words(&["ZRANGE", "Z", &start, &stop])
        },
    ),
    load(
        "lrange-100",
        "LRANGE of the first 100, of 1M elements",
        Scene::Large,
        |_, _| words(&["LRANGE", "L", "0", "99"]),
    ),
    load(
        "lrange-600",
        "LRANGE of the first 600, of 1M elements",
        Scene::Large,
        |_, _| words(&["LRANGE", "L", "0", "599"]),
    ),
    load(
        "hgetall-50",
        "HGETALL of 50 fields",
        Scene::Large,
        |_, _| words(&["HGETALL", "H50"]),
    ),
    load(
        "smembers-100",
        "SMEMBERS of 100 members",
        Scene::Large,
        |_, _| words(&["SMEMBERS", "S100"]),
    ),
    command("sinter", "SINTER of two sets of 1M", "SINTER S S2"),
    command(
        "zunionstore",
        "ZUNIONSTORE of two sorted sets of 1M",
        "ZUNIONSTORE ZU 2 Z Z2",
    ),
    command("sort", "SORT of a list of 1M numbers", "SORT N"),
    beside(ALONE, "alone", None),
    beside("get-del", "DEL of a set of 1.5M", Some("DEL victim:{n}")),
    beside("get-hgetall", "HGETALL of 1M fields", Some("HGETALL H")),
    beside(
        "get-zunionstore",
        "ZUNIONSTORE of two of 1M",
        Some("ZUNIONSTORE ZU 2 Z Z2"),
    ),
    beside(
        "get-sinterstore",
        "SINTERSTORE of two of 1M",
        Some("SINTERSTORE SI S S2"),
    ),
];

const fn load(name: &'static str, title: &'static str, scene: Scene, requests: Requests) -> Row {
    Row {
        name,
        title,
        scene,
        what: What::Load(requests),
    }
}

const fn command(name: &'static str, title: &'static str, line: &'static str) -> Row {
    Row {
        name,
        title,
        scene: Scene::Large,
        what: What::Command(line),
    }
}

const fn beside(name: &'static str, title: &'static str, line: Option<&'static str>) -> Row {
    Row {
        name,
        title,
        scene: Scene::Large,
        what: What::Beside(line),
    }
}

/// A member of a small collection.
fn one_of(random: u64) -> String {
    format!("member{}", random / 7 % SMALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let fills = Scene::ALL.iter().flat_map(|scene| scene.fills());
        let fills = fills.map(|fill| fill.name).filter(|name| !name.is_empty());
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).chain(fills).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
