//! Tests of entries in every representation, and of the changes between them.

use super::*;
use crate::types::SHARED_BYTES_MIN;
use bytes::Bytes;

const KEY: &[u8] = b"key:000000000042";

fn entry(value: NewValue<'_>, expires_at: Option<u64>) -> Entry {
    Entry::new(KEY, Tag::new(0), value, expires_at, 7)
}

fn string(entry: &Entry) -> Vec<u8> {
    let string = entry.value().as_string();
    string.map(StringRef::to_vec).expect("it is a string")
}

#[test]
fn entry_of_a_short_string_is_one_small_allocation() {
    assert_eq!(entry(NewValue::Bytes(b"abc"), None).heap_bytes(), 32);
    assert_eq!(entry(NewValue::Bytes(b"abc"), Some(1)).heap_bytes(), 32);
    assert_eq!(entry(NewValue::Int(i64::MIN), None).heap_bytes(), 32);
    assert_eq!(entry(NewValue::Int(i64::MIN), Some(1)).heap_bytes(), 48);
}

#[test]
fn entry_reads_back_after_rewrites_of_every_size() {
    let mut entry = entry(NewValue::Int(1), None);
    let sizes = [
        0, 3, 20, 100, 226, 227, 300, 300, 16_383, 16_384, 20_000, 100, 3,
    ];
    for (step, size) in sizes.into_iter().enumerate() {
        for expiry in [None, Some(step as u64), None] {
            let bytes = vec![b'x'; size];
            entry.set(NewValue::Bytes(&bytes), expiry);
            assert_eq!((string(&entry), entry.expires_at()), (bytes, expiry));
            entry.set_expires_at(Some(77));
            assert_eq!((string(&entry).len(), entry.expires_at()), (size, Some(77)));
            entry.set_expires_at(None);
            assert_eq!((string(&entry).len(), entry.expires_at()), (size, None));
            assert_eq!((entry.key(), entry.clock()), (KEY, 7));
        }
    }
}

#[test]
fn entry_kind_follows_the_value_and_how_it_was_made() {
    let encoding = |value| entry(value, None).encoding();
    assert_eq!(encoding(NewValue::Bytes(b"12")), Encoding::Int);
    assert_eq!(encoding(NewValue::Bytes(b"012")), Encoding::Embstr);
    assert_eq!(encoding(NewValue::Raw(b"12".to_vec())), Encoding::Raw);
    assert_eq!(encoding(NewValue::Text(b"12".into())), Encoding::Embstr);
    assert_eq!(
        encoding(NewValue::Text(vec![b'1'; 45].into())),
        Encoding::Raw
    );
    assert_eq!(encoding(NewValue::Bytes(&[b'x'; 44])), Encoding::Embstr);
    assert_eq!(encoding(NewValue::Bytes(&[b'x'; 45])), Encoding::Raw);
    let large = entry(
        NewValue::Shared(Bytes::from(vec![b'1'; SHARED_BYTES_MIN])),
        None,
    );
    assert!(matches!(
        large.value(),
        ValueRef::String(StringRef::Shared(_))
    ));
}

#[test]
fn edit_keeps_expiry_and_bytes_from_small_to_large() {
    let mut entry = entry(NewValue::Int(-12), Some(9));
    let mut expected = b"-12".to_vec();
    for _ in 0..200 {
        entry.edit(|bytes| bytes.extend_from_slice(b"0123456789"));
        expected.extend_from_slice(b"0123456789");
        assert_eq!(
            (string(&entry), entry.expires_at(), entry.clock()),
            (expected.clone(), Some(9), 7)
        );
        assert_eq!(entry.encoding(), Encoding::Raw);
    }
    entry.set(
        NewValue::Shared(Bytes::from(vec![b'x'; SHARED_BYTES_MIN])),
        None,
    );
    entry.edit(|bytes| bytes.truncate(2));
    assert_eq!(string(&entry), b"xx");
}

#[test]
fn owned_value_makes_the_same_entry_again() {
    let large = Bytes::from(vec![b'x'; SHARED_BYTES_MIN]);
    let values = [
        NewValue::Int(5),
        NewValue::Bytes(b"five"),
        NewValue::Raw(b"5".to_vec()),
        NewValue::Shared(large),
    ];
    for value in values {
        let first = entry(value, Some(3));
        let copy = first.owned();
        let second = entry(copy.value, copy.expires_at);
        assert_eq!(
            (string(&first), first.encoding()),
            (string(&second), second.encoding())
        );
        let bytes = string(&first);
        let moved = first.into_owned();
        let third = entry(moved.value, moved.expires_at);
        assert_eq!((string(&third), third.expires_at()), (bytes, Some(3)));
    }
}

#[test]
fn large_string_is_shared_and_edited_again_without_a_copy() {
    let mut entry = entry(NewValue::Raw(Vec::with_capacity(100_000)), Some(3));
    entry.share();
    assert!(
        matches!(entry.value(), ValueRef::String(StringRef::Bytes([]))),
        "a short one is not shared"
    );
    entry.edit(|bytes| bytes.resize(SHARED_BYTES_MIN, b'x'));
    let place = |entry: &Entry| {
        let string = entry.value().as_string().expect("it is a string");
        string.as_bytes(&mut [0; 20]).as_ptr()
    };
    let (first, heap_bytes) = (place(&entry), entry.heap_bytes());
    assert!(heap_bytes > SHARED_BYTES_MIN);
    for _ in 0..2 {
        entry.share();
        assert!(matches!(
            entry.value(),
            ValueRef::String(StringRef::Shared(_))
        ));
        assert_eq!((place(&entry), entry.heap_bytes()), (first, heap_bytes));
        entry.edit(|bytes| bytes[0] = b'y');
        assert_eq!((place(&entry), entry.heap_bytes()), (first, heap_bytes));
    }
    entry.share();
    let ValueRef::String(StringRef::Shared(reply)) = entry.value() else {
        panic!("it was shared");
    };
    let reply = reply.clone();
    entry.edit(|bytes| bytes[0] = b'z');
    assert_eq!((reply[0], string(&entry)[0]), (b'y', b'z'));
}
