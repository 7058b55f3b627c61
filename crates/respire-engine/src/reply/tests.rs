//! Tests of every reply type, decoded as clients of each protocol do.

use super::*;
use crate::{Bytes, Error, Output, Proto};
use proptest::prelude::*;
use resp_codec::binary::ReplyDecoder;
use resp_codec::{Encoder, FrameDecoder, Limits, NullForm, Value, Values};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

fn write(proto: Proto, reply: impl IntoReply) -> Vec<u8> {
    let mut out = Output::new();
    reply.into_reply(&mut Encoder::new(&mut out, proto));
    out.take()
}

/// The value that a client reads. It must use all written bytes.
fn read(proto: Proto, reply: impl IntoReply) -> Value {
    let bytes = write(proto, reply);
    let (mut resp, mut binary) = (
        FrameDecoder::new(Limits::CLIENT),
        ReplyDecoder::new(Limits::CLIENT),
    );
    let decoded = match proto {
        Proto::Resp2 | Proto::Resp3 => resp.decode(&bytes),
        Proto::Binary | Proto::BinaryPlain => binary.decode(&bytes),
    };
    match decoded.expect("a reply") {
        resp_codec::Step::Ready { item, consumed } => {
            assert_eq!(consumed, bytes.len(), "more than a reply: {bytes:?}");
            item.to_value()
        }
        resp_codec::Step::NeedMore { .. } => panic!("less than a reply: {bytes:?}"),
    }
}

/// Checks the values that RESP2 and RESP3 clients read. The binary protocol has the values of
/// RESP3.
fn check(reply: impl IntoReply + Clone, resp2: &Value, resp3: &Value) {
    assert_eq!(read(Proto::Resp2, reply.clone()), *resp2);
    assert_eq!(read(Proto::Resp3, reply.clone()), *resp3);
    assert_eq!(read(Proto::Binary, reply), *resp3);
}

/// Checks a value that is the same in every protocol.
fn same(reply: impl IntoReply + Clone, value: &Value) {
    check(reply, value, value);
}

fn bulk(bytes: impl AsRef<[u8]>) -> Value {
    Value::Bulk(bytes.as_ref().to_vec())
}

fn values(items: impl IntoIterator<Item = Value>) -> Values {
    items.into_iter().collect::<Vec<_>>().into()
}

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(values(items))
}

fn map(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
    let mut map = resp_codec::Pairs::default();
    pairs
        .into_iter()
        .for_each(|(key, value)| map.push(key, value));
    Value::Map(map)
}

const NULL2: Value = Value::Null(NullForm::Bulk);

#[test]
fn unit_status_null_and_errors_are_encoded() {
    same((), &Value::Simple(b"OK".to_vec()));
    same(Status("QUEUED"), &Value::Simple(b"QUEUED".to_vec()));
    let lines = Status("two\r\nlines".to_owned());
    assert_eq!(write(Proto::Resp2, lines), b"+two  lines\r\n");
    check(Null, &NULL2, &Value::NULL);
    check(None::<i64>, &NULL2, &Value::NULL);
    same(Some(5), &Value::Int(5));
    let error = Error::fixed("FULL of jobs");
    let text = Value::Error(b"FULL of jobs".to_vec());
    same(error.clone(), &text);
    same(Err::<i64, _>(error.clone()), &text);
    same(Ok::<_, Error>(5), &Value::Int(5));
    same(vec![Ok(1), Err(error)], &array([Value::Int(1), text]));
}

#[test]
fn booleans_floats_and_big_numbers_are_encoded() {
    check(true, &Value::Int(1), &Value::Bool(true));
    check(false, &Value::Int(0), &Value::Bool(false));
    check(0.5, &bulk("0.5"), &Value::Double(0.5));
    check(0.1_f32, &bulk("0.1"), &Value::Double(0.1));
    check(f64::INFINITY, &bulk("inf"), &Value::Double(f64::INFINITY));
    check(
        f32::NEG_INFINITY,
        &bulk("-inf"),
        &Value::Double(f64::NEG_INFINITY),
    );
    check(f64::NAN, &bulk("nan"), &Value::Double(f64::NAN));
    let big = |text: &str| Value::BigNumber(text.as_bytes().to_vec());
    let max = u64::MAX.to_string();
    check(u64::MAX, &bulk(&max), &big(&max));
    check(
        i128::MIN,
        &bulk(i128::MIN.to_string()),
        &big(&i128::MIN.to_string()),
    );
    let number: BigNumber = "-12345678901234567890123".parse().expect("digits");
    check(
        number.clone(),
        &bulk(number.to_string()),
        &big(&number.to_string()),
    );
    for text in ["", "-", "+1", "1.5", "1e5", " 1", "1\r\n"] {
        assert_eq!(text.parse::<BigNumber>(), Err(NotANumber), "{text}");
    }
}

#[test]
fn every_kind_of_string_is_a_bulk_string() {
    let value = bulk("abc");
    same("abc", &value);
    same("abc".to_owned(), &value);
    same(Cow::Borrowed("abc"), &value);
    same(Box::<str>::from("abc"), &value);
    same(Arc::<str>::from("abc"), &value);
    same(b"abc".as_slice(), &value);
    same(*b"abc", &value);
    same(b"abc".to_vec(), &value);
    same(Box::<[u8]>::from(*b"abc"), &value);
    same(Arc::<[u8]>::from(*b"abc"), &value);
    same(Bytes::from_static(b"abc"), &value);
    same('é', &bulk("é"));
    same(Box::new("abc"), &value);
    same(value.clone(), &value);
}

#[test]
fn arrays_sets_and_maps_are_encoded() {
    let numbers = || [1, 2, 3].map(Value::Int);
    same(vec![1, 2, 3], &array(numbers()));
    same([1, 2, 3], &array(numbers()));
    same(VecDeque::from([1, 2, 3]), &array(numbers()));
    same(Box::<[i64]>::from([1, 2, 3]), &array(numbers()));
    same([1_i64, 2, 3].as_slice(), &array(numbers()));
    same(Vec::<i64>::new(), &array([]));
    same(
        (1, "a", None::<i64>.is_none().then_some(2)),
        &array([Value::Int(1), bulk("a"), Value::Int(2)]),
    );
    same(
        ((1,), (2, 3)),
        &array([array([Value::Int(1)]), array([2, 3].map(Value::Int))]),
    );
    let set = Value::Set(values(numbers()));
    check(BTreeSet::from([3, 1, 2]), &array(numbers()), &set);
    check(Set(vec![1, 2, 3]), &array(numbers()), &set);
    check(
        HashSet::<i64>::from([1]),
        &array([Value::Int(1)]),
        &Value::Set(values([Value::Int(1)])),
    );
    let pairs = [(bulk("a"), Value::Int(1)), (bulk("b"), Value::Int(2))];
    let flat = [bulk("a"), Value::Int(1), bulk("b"), Value::Int(2)];
    check(
        BTreeMap::from([("b", 2), ("a", 1)]),
        &array(flat),
        &map(pairs),
    );
    let one = map([(bulk("a"), Value::Bool(true))]);
    check(
        HashMap::<_, _>::from([("a", true)]),
        &array([bulk("a"), Value::Int(1)]),
        &one,
    );
}

#[test]
fn mixed_maps_attributes_and_verbatim_strings_are_encoded() {
    let built = || Map::new().with("left", 5).with("reset", None::<f64>);
    let flat = array([bulk("left"), Value::Int(5), bulk("reset"), NULL2]);
    let pairs = map([(bulk("left"), Value::Int(5)), (bulk("reset"), Value::NULL)]);
    assert_eq!(read(Proto::Resp2, built()), flat);
    assert_eq!(read(Proto::Resp3, built()), pairs);
    assert_eq!(read(Proto::Binary, built()), pairs);
    assert_eq!((built().len(), Map::new().is_empty()), (2, true));
    let remarked = || Attributed::new("v").with("age-ms", 250);
    assert_eq!(write(Proto::Resp2, remarked()), b"$1\r\nv\r\n");
    assert_eq!(
        write(Proto::Resp3, remarked()),
        b"|1\r\n$6\r\nage-ms\r\n:250\r\n$1\r\nv\r\n"
    );
    assert_eq!(
        *read(Proto::Binary, remarked()).without_attributes(),
        bulk("v")
    );
    assert_eq!(write(Proto::Resp3, Attributed::new(1)), b":1\r\n");
    let text = Value::Verbatim {
        format: *b"mkd",
        text: b"# a".to_vec(),
    };
    check(Verbatim::markdown("# a"), &bulk("# a"), &text);
    assert_eq!(write(Proto::Resp3, Verbatim::text("a")), b"=5\r\ntxt:a\r\n");
}

#[test]
fn large_and_small_values_are_framed_alike() {
    for len in [
        crate::SHARED_BYTES_MIN - 1,
        crate::SHARED_BYTES_MIN,
        100_000,
    ] {
        let value = bulk(vec![b'x'; len]);
        same(vec![b'x'; len], &value);
        same(Bytes::from(vec![b'x'; len]), &value);
        same((vec![b'x'; len], 1), &array([value, Value::Int(1)]));
    }
}

proptest! {
    #[test]
    fn scalars_of_any_value_are_read_back(
        int in any::<i64>(),
        wide in any::<u64>(),
        double in any::<f64>(),
        single in any::<f32>(),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        text in ".*",
    ) {
        same(int, &Value::Int(int));
        same(int as i32, &Value::Int(i64::from(int as i32)));
        let wide_value = i64::try_from(wide).map(Value::Int);
        let wide_value = wide_value.unwrap_or(Value::BigNumber(wide.to_string().into()));
        prop_assert_eq!(read(Proto::Resp3, wide), wide_value);
        prop_assert_eq!(read(Proto::Resp3, double), Value::Double(double));
        let Value::Double(read_back) = read(Proto::Resp3, single) else { panic!("a double") };
        prop_assert!(read_back as f32 == single || single.is_nan());
        same(bytes.clone(), &bulk(&bytes));
        same(text.clone(), &bulk(&text));
        same(vec![Some(int), None].into_iter().flatten().collect::<Vec<_>>(), &array([Value::Int(int)]));
    }

    #[test]
    fn nested_replies_keep_their_shape(
        rows in prop::collection::vec((any::<i64>(), ".{0,8}", prop::option::of(any::<bool>())), 0..20),
        table in prop::collection::btree_map(".{0,8}", prop::collection::vec(any::<i64>(), 0..5), 0..8),
    ) {
        let truth = |truth: &Option<bool>| truth.map_or(Value::NULL, Value::Bool);
        let expected = rows.iter().map(|(n, text, is)| array([Value::Int(*n), bulk(text), truth(is)]));
        prop_assert_eq!(read(Proto::Resp3, rows.clone()), array(expected));
        let lists = table.iter().map(|(key, list)| (bulk(key), array(list.iter().map(|n| Value::Int(*n)))));
        prop_assert_eq!(read(Proto::Resp3, table.clone()), map(lists.clone()));
        let flat = lists.flat_map(|(key, list)| [key, list]);
        prop_assert_eq!(read(Proto::Resp2, table.clone()), array(flat));
    }
}
