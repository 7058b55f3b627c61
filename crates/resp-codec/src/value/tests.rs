//! Unit tests of owned values.

use alloc::vec;
use alloc::vec::Vec;
use std::format;

use super::{Attributed, Value};
use crate::{FrameDecoder, Limits, Proto};

/// Deep enough to overflow the stack of a program that recurses. Miri is slow, so it gets less.
const DEEP: usize = if cfg!(miri) { 300 } else { 300_000 };

fn nested(depth: usize) -> Value {
    let mut value = Value::from(1);
    for level in 0..depth {
        value = match level % 3 {
            0 => Value::from(vec![value]),
            1 => Value::Map([(Value::NULL, value)].into_iter().collect()),
            _ => Value::Attributed(Attributed::new(
                [(value, Value::NULL)].into_iter().collect(),
                Value::NULL,
            )),
        };
    }
    value
}

#[test]
fn deep_value_is_dropped_cloned_compared_and_printed_without_recursion() {
    let value = nested(DEEP);
    let copy = value.clone();
    assert!(value == copy);
    assert!(copy != nested(DEEP - 1));
    assert!(format!("{value:?}").len() > DEEP);
    assert!(value.to_bytes(Proto::Resp3).len() > DEEP);
}

#[test]
fn deep_containers_are_dropped_without_recursion() {
    let Value::Array(values) = nested(DEEP / 3 + 1 - (DEEP / 3) % 3) else {
        panic!("an array is outermost")
    };
    drop(values.into_vec());
}

#[test]
fn value_of_every_kind_round_trips() {
    let wire = b"|1\r\n+k\r\n*0\r\n*14\r\n+s\r\n-ERR e\r\n:-7\r\n$3\r\na\r\n\r\n_\r\n$-1\r\n*-1\r\n#t\r\n,-0\r\n(123\r\n!1\r\nx\r\n=5\r\ntxt:v\r\n%1\r\n:1\r\n~1\r\n:2\r\n|1\r\n|1\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n";
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    let frame = decoder.decode(wire).unwrap().ready().unwrap();
    assert_eq!(frame.wire(), wire);
    assert_eq!(frame.to_value().to_bytes(Proto::Resp3), wire);
    assert_eq!(
        format!("{frame:?}"),
        "Attributed({Simple(\"k\"): Array([])}, Array([Simple(\"s\"), Error(\"ERR e\"), Int(-7), Bulk(\"a\\r\\n\"), Null, \
         Null(Bulk), Null(Array), Bool(true), Double(-0.0), BigNumber(123), BlobError(\"x\"), Verbatim(txt:\"v\"), \
         Map({Int(1): Set([Int(2)])}), Attributed({Attributed({Int(1): Int(2)}, Int(3)): Int(4)}, Int(5))]))"
    );
}

#[test]
fn maps_are_printed_as_pairs() {
    let printed = |wire: &[u8]| {
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        format!("{:?}", decoder.decode(wire).unwrap().ready().unwrap())
    };
    assert_eq!(printed(b"%0\r\n"), "Map({})");
    assert_eq!(
        printed(b"%2\r\n%1\r\n:1\r\n:2\r\n*0\r\n:3\r\n%0\r\n"),
        "Map({Map({Int(1): Int(2)}): Array([]), Int(3): Map({})})"
    );
    assert_eq!(printed(b"|0\r\n:1\r\n"), "Attributed({}, Int(1))");
    assert_eq!(
        printed(b"*2\r\n|2\r\n:1\r\n:2\r\n:3\r\n%1\r\n:4\r\n:5\r\n:6\r\n:7\r\n"),
        "Array([Attributed({Int(1): Int(2), Int(3): Map({Int(4): Int(5)})}, Int(6)), Int(7)])"
    );
}

#[test]
fn doubles_compare_by_value_and_sign() {
    assert_eq!(Value::from(f64::NAN), Value::from(-f64::NAN));
    assert_ne!(Value::from(0.0), Value::from(-0.0));
}

#[test]
fn resp2_omits_attributes_at_every_level() {
    let attributes = || [(Value::from("a"), Value::from(1))].into_iter().collect();
    let inner = Value::Attributed(Attributed::new(attributes(), Value::from(2)));
    let outer = Value::Attributed(Attributed::new(
        attributes(),
        Value::from(vec![inner, Value::from(3)]),
    ));
    assert_eq!(outer.to_bytes(Proto::Resp2), b"*2\r\n:2\r\n:3\r\n");
    let bytes: Vec<u8> = outer.to_bytes(Proto::Resp3);
    assert_eq!(
        bytes,
        b"|1\r\n$1\r\na\r\n:1\r\n*2\r\n|1\r\n$1\r\na\r\n:1\r\n:2\r\n:3\r\n"
    );
}
