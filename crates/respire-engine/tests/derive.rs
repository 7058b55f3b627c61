//! Tests of derived arguments: parsing, errors, and the description in `COMMAND`.
#![cfg(all(feature = "derive", feature = "msgpack"))]

use proptest::prelude::*;
use respire_engine::{
    App, Args, Arity, Bytes, Engine, Error, Flags, IntoReply, Mp, NoKeys, Now, Null, Options,
    Reply, Rest, Router, Status, TestClient, Words,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

struct Nothing;
impl App for Nothing {
    type Conn = ();
    type Keys = NoKeys;
}

/// Replies with its `Debug` form, so that a test sees the parsed value.
struct Shown<T>(T);

impl<T: std::fmt::Debug> IntoReply for Shown<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        format!("{:?}", self.0).into_reply(reply);
    }
}

fn client<T: Args + std::fmt::Debug + 'static>() -> TestClient<Nothing> {
    let router = Router::new(Nothing).command("TEST", |_, args: T| Shown(args));
    router.client()
}

/// Sets a key to
/// a value.
///
/// This is not told.
#[derive(Args, Clone, Debug, PartialEq)]
#[args(write, denyoom, since = "7.1.0", complexity = "O(1)", group = "string")]
struct Set {
    #[arg(key)]
    key: Bytes,
    /// What to set.
    value: Bytes,
    #[arg(words)]
    condition: Option<Condition>,
    #[arg(words)]
    expiry: Option<Expiry>,
    #[arg(word = "GET")]
    get: bool,
    #[arg(word = "TAG")]
    tags: Vec<String>,
    #[arg(word = "PRIORITY", default = 5, max = 9)]
    priority: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Words)]
enum Condition {
    Nx,
    #[arg(word = "XX")]
    OnlyIfThere,
}

#[derive(Clone, Debug, PartialEq, Words)]
enum Expiry {
    #[arg(name = "seconds")]
    Ex(#[arg(min = 1)] i64),
    Between {
        from: u32,
        to: u32,
    },
    KeepTtl,
}

#[test]
fn words_are_accepted_in_any_order_and_case() {
    let mut client = client::<Set>();
    let all = "Set { key: b\"k\", value: b\"v\", condition: Some(OnlyIfThere), \
               expiry: Some(Between { from: 1, to: 2 }), get: true, tags: [\"a\", \"b\"], priority: 9 }";
    for line in [
        "TEST k v XX BETWEEN 1 2 GET TAG a TAG b PRIORITY 9",
        "test k v tag a priority 9 get between 1 2 xx tag b",
    ] {
        assert_eq!(client.call(line), all, "{line}");
    }
    assert_eq!(
        client.call("TEST k v"),
        "Set { key: b\"k\", value: b\"v\", condition: None, expiry: None, get: false, tags: [], \
         priority: 5 }"
    );
}

#[test]
fn invalid_arguments_get_the_error_texts_of_redis() {
    let mut client = client::<Set>();
    for (request, error) in [
        ("TEST k", "ERR wrong number of arguments for 'test' command"),
        ("TEST k v NX XX", "ERR syntax error"),
        ("TEST k v NX NX", "ERR syntax error"),
        ("TEST k v GET GET", "ERR syntax error"),
        ("TEST k v EX", "ERR syntax error"),
        ("TEST k v EX 1 KEEPTTL", "ERR syntax error"),
        ("TEST k v what", "ERR syntax error"),
        (
            "TEST k v EX 1x",
            "ERR seconds is not an integer or out of range",
        ),
        (
            "TEST k v EX 0",
            "ERR seconds is out of range, must be at least 1",
        ),
        (
            "TEST k v PRIORITY 10",
            "ERR priority is out of range, must be at most 9",
        ),
        (
            "TEST k v PRIORITY 256",
            "ERR priority is not an integer or out of range",
        ),
        ("TEST k v TAG \"\\xff\"", "BADARG tags at byte 0: not UTF-8"),
    ] {
        assert_eq!(client.call(request).error(), error, "{request}");
    }
}

#[test]
fn command_docs_follow_the_declaration() {
    let spec = Set::SPEC;
    assert_eq!(spec.summary, "Sets a key to a value.");
    assert_eq!((spec.since, spec.complexity), ("7.1.0", "O(1)"));
    assert_eq!(spec.group.name(), "string");
    assert_eq!(spec.arity, Arity::at_least(3));
    assert!(spec.flags == Flags::WRITE.with(Flags::DENYOOM));
    let mut client = client::<Set>().resp3();
    assert_eq!(client.call("COMMAND GETKEYS TEST a b GET"), ["a"]);
    let docs = client.call("COMMAND DOCS TEST").get("test");
    let args = docs.get("arguments");
    let arg = |index: usize| args.at(index);
    assert_eq!(arg(0).get("type"), "key");
    assert_eq!(arg(0).get("key_spec_index"), 0);
    assert_eq!(arg(1).get("summary"), "What to set.");
    assert_eq!(arg(2).get("type"), "oneof");
    assert_eq!(arg(2).get("flags").at(0), Status("optional"));
    assert_eq!(arg(2).get("arguments").at(1).get("token"), "XX");
    assert_eq!(arg(3).get("arguments").at(0).get("token"), "EX");
    assert_eq!(arg(3).get("arguments").at(1).get("type"), "block");
    assert_eq!(arg(3).get("arguments").at(2).get("type"), "pure-token");
    assert_eq!(arg(4).get("type"), "pure-token");
    assert_eq!(arg(5).get("flags").elements().unwrap().len(), 3);
    assert_eq!(arg(6).get("type"), "integer");
    let info = client.call("COMMAND INFO TEST").at(0);
    assert_eq!(info.at(1), -3);
    assert_eq!(info.at(2), [Status("write"), Status("denyoom")]);
    assert_eq!(
        (info.at(3).int(), info.at(4).int(), info.at(5).int()),
        (1, 1, 1)
    );
    let flags = info.at(8).at(0).get("flags");
    assert_eq!(flags, ["RW", "access", "update"].map(Status));
}

#[derive(Args, Debug)]
#[args(readonly, fast)]
#[expect(dead_code, reason = "shown")]
struct Many {
    #[arg(key, at_least = 1, name = "field value")]
    pairs: Rest<(Bytes, f64)>,
}

#[test]
fn rest_accepts_groups_of_several_parts() {
    let mut client = client::<Many>();
    assert_eq!(
        client.call("TEST a 1 b 2.5"),
        "Many { pairs: Rest([(b\"a\", 1.0), (b\"b\", 2.5)]) }"
    );
    assert_eq!(client.call("TEST a 1 b"), Error::fixed("ERR syntax error"));
    assert_eq!(
        client.call("TEST a x"),
        Error::fixed("ERR value is not a valid float")
    );
    assert_eq!(client.call("COMMAND GETKEYS TEST a 1 b 2"), ["a", "b"]);
    assert_eq!(Many::SPEC.arity, Arity::at_least(3));
    assert_eq!(Many::SPEC.args[0].parts[1].name, "value");
}

#[derive(Args)]
#[args(readonly, constant)]
struct Constant {}

#[test]
fn every_call_is_timed_unless_declared_constant() {
    let router = Router::new(Nothing)
        .command("PLAIN", |_, ()| 1)
        .command("FAST", |_, _: Many| 1)
        .command("CONSTANT", |_, _: Constant| 1)
        .deferred("LATER", |_, _: Constant, later| {
            let _ = later.reply(1);
        });
    let engine = Engine::new(
        router,
        Options::default(),
        Now::new(Duration::ZERO, Duration::ZERO),
    );
    let is_timed = |name: &str| {
        let table = engine.commands();
        let at = table.find_name(name.as_bytes()).expect("added above");
        table.entry(at).command().is_timed()
    };
    assert!(is_timed("plain") && is_timed("fast") && is_timed("later"));
    assert!(!is_timed("constant"));
}

#[derive(Args, Debug)]
#[expect(dead_code, reason = "shown")]
struct Mixed<T: std::fmt::Debug + respire_engine::FromArg> {
    generic: T,
    #[arg(words)]
    unit: Unit,
    exact: [u8; 2],
    on: bool,
    #[arg(default)]
    count: Count,
    more: Vec<i64>,
}

type Count = u16;

#[derive(Debug, Words)]
enum Unit {
    M,
    Km,
}

#[test]
fn fields_without_a_word_are_positional() {
    let mut client = client::<Mixed<String>>();
    assert_eq!(
        client.call("TEST x km ab yes"),
        "Mixed { generic: \"x\", unit: Km, exact: [97, 98], on: true, count: 0, more: [] }"
    );
    assert_eq!(
        client.call("TEST x M ab off 7 -1 -2"),
        "Mixed { generic: \"x\", unit: M, exact: [97, 98], on: false, count: 7, more: [-1, -2] }"
    );
    assert_eq!(
        client.call("TEST x miles ab no"),
        Error::fixed("ERR syntax error")
    );
    let wrong = client.call("TEST x M abc no");
    assert_eq!(wrong, Error::fixed("BADARG exact must be 2 bytes long"));
    assert_eq!(Mixed::<String>::SPEC.arity, Arity::at_least(5));
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Job {
    kind: String,
    due: u64,
}

#[derive(Args)]
struct Put(Mp<Job>);

#[derive(Args)]
struct Nobody;

#[test]
fn messagepack_arguments_and_replies_work() {
    let router = Router::new(Nothing)
        .command("PUT", |_, Put(job): Put| {
            Mp(Job {
                due: job.due + 1,
                ..job.0
            })
        })
        .command("NOBODY", |_, _: Nobody| Null);
    let mut client = router.client();
    let job = rmp_serde::to_vec(&Job {
        kind: "mail".to_owned(),
        due: 6,
    })
    .unwrap();
    let reply: Job = client.call(("PUT", &job)).mp();
    assert_eq!(
        reply,
        Job {
            kind: "mail".to_owned(),
            due: 7
        }
    );
    let cut = client.call(("PUT", &job[..3]));
    assert_eq!(
        cut.error(),
        "BADARG put at byte 3: the argument ends before the value"
    );
    assert_eq!(client.call("NOBODY"), Null);
    assert_eq!(
        client.call("NOBODY x").error(),
        "ERR wrong number of arguments for 'nobody' command"
    );
}

fn expiry() -> impl Strategy<Value = Expiry> {
    prop_oneof![
        (1..i64::MAX).prop_map(Expiry::Ex),
        any::<(u32, u32)>().prop_map(|(from, to)| Expiry::Between { from, to }),
        Just(Expiry::KeepTtl),
    ]
}

fn set() -> impl Strategy<Value = Set> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from);
    let condition = prop_oneof![Just(Condition::Nx), Just(Condition::OnlyIfThere)];
    (
        (
            bytes(),
            bytes(),
            prop::option::of(condition),
            prop::option::of(expiry()),
        ),
        (any::<bool>(), prop::collection::vec(".*", 0..4), 0..=9_u8),
    )
        .prop_map(
            |((key, value, condition, expiry), (get, tags, priority))| Set {
                key,
                value,
                condition,
                expiry,
                get,
                tags,
                priority,
            },
        )
}

/// The request for a value: the positional arguments, then each word with its arguments.
fn sent(set: &Set) -> (Vec<Vec<u8>>, Vec<Vec<Vec<u8>>>) {
    let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let mut options: Vec<Vec<Vec<u8>>> = Vec::new();
    options.extend(set.condition.map(|condition| match condition {
        Condition::Nx => words(&["nx"]),
        Condition::OnlyIfThere => words(&["XX"]),
    }));
    options.extend(set.expiry.as_ref().map(|expiry| match expiry {
        Expiry::Ex(seconds) => words(&["Ex", &seconds.to_string()]),
        Expiry::Between { from, to } => words(&["BETWEEN", &from.to_string(), &to.to_string()]),
        Expiry::KeepTtl => words(&["KEEPTTL"]),
    }));
    options.extend(set.get.then(|| words(&["GET"])));
    options.push(words(&["PRIORITY", &set.priority.to_string()]));
    (
        vec![b"TEST".to_vec(), set.key.to_vec(), set.value.to_vec()],
        options,
    )
}

proptest! {
    #[test]
    fn arguments_in_any_order_parse_to_the_same_value(set in set(), turn in 0..8_usize, at in 0..8_usize) {
        let (mut request, mut options) = sent(&set);
        let count = options.len();
        options.rotate_left(turn % count);
        // Tags keep their own order, wherever they are.
        let tags = set.tags.iter().map(|tag| vec![b"TAG".to_vec(), tag.as_bytes().to_vec()]);
        let at = at % (count + 1);
        options.splice(at..at, tags);
        request.extend(options.into_iter().flatten());
        let mut client = client::<Set>();
        prop_assert_eq!(client.call(request), format!("{set:?}"));
    }

    #[test]
    fn any_request_gets_exactly_one_reply(args in prop::collection::vec(
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..6),
            prop::sample::select(vec!["EX", "GET", "NX", "XX", "TAG", "BETWEEN", "PRIORITY", "1", "-1"])
                .prop_map(|word| word.as_bytes().to_vec()),
        ],
        0..12,
    )) {
        let mut request = vec![b"TEST".to_vec()];
        request.extend(args);
        for mut client in [client::<Set>(), client::<Many>(), client::<Mixed<Bytes>>()] {
            // It is answered, with exactly one reply.
            let reply = client.call(request.clone());
            if reply.is_error() {
                prop_assert!(["ERR", "BADARG"].contains(&reply.error().split(' ').next().unwrap()));
            }
            prop_assert_eq!(client.call("PING"), Status("PONG"));
        }
    }
}

#[derive(Args, Debug, PartialEq)]
struct Raw {
    #[arg(words)]
    r#type: Option<Kind>,
}

#[derive(Debug, PartialEq, Words)]
#[expect(non_camel_case_types, reason = "a keyword may be a name as well")]
enum Kind {
    r#match { r#in: u8 },
    None,
}

#[test]
fn raw_identifiers_are_shown_without_their_prefix() {
    let mut client = client::<Raw>();
    assert_eq!(
        client.call("TEST MATCH 7"),
        "Raw { type: Some(match { in: 7 }) }"
    );
    assert_eq!(
        client.call("TEST MATCH x").error(),
        "ERR in is not an integer or out of range"
    );
    let choices = <Kind as Words>::CHOICES;
    assert_eq!((choices[0].name, choices[0].token), ("in", Some("MATCH")));
}
