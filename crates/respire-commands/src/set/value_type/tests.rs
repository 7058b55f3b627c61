//! Tests payloads and digests of sets.

use crate::key::testing::Client;
use crate::rdb::tests::payload;

fn quoted(bytes: &[u8]) -> String {
    let bytes: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("\"{bytes}\"")
}

fn dump(client: &mut Client, key: &str) -> Vec<u8> {
    let reply = client.send_for_output(&format!("DUMP {key}")).to_vec();
    let line = reply
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a line");
    reply[line + 1..reply.len() - 2].to_vec()
}

#[test]
fn payload_of_integers_is_their_packed_form() {
    let mut client = Client::new();
    client.send("SADD k 1 -2 300");
    let expected = b"\x0b\x0e\x02\0\0\0\x03\0\0\0\xfe\xff\x01\0\x2c\x01";
    assert!(dump(&mut client, "k").starts_with(expected));
    client.send("SADD t a");
    assert!(dump(&mut client, "t").starts_with(b"\x02\x01\x01a"));
}

#[test]
fn dumped_set_is_restored_with_its_digest_and_encoding() {
    for members in [
        "1 2 3 -4 99999999999",
        "a 1 02",
        &(0..600)
            .map(|it| it.to_string())
            .collect::<Vec<_>>()
            .join(" "),
        &(0..600)
            .map(|it| format!("member {it}"))
            .collect::<Vec<_>>()
            .join(" "),
        &"x".repeat(5000),
    ] {
        let mut client = Client::new();
        client.send(&format!("SADD k {members}"));
        let digest = client.send("DEBUG DIGEST-VALUE k");
        let encoding = client.send("OBJECT ENCODING k");
        let payload = quoted(&dump(&mut client, "k"));
        client.check(&[
            (&format!("RESTORE copy 0 {payload}"), "+OK\r\n"),
            ("DEBUG DIGEST-VALUE copy", &digest),
            ("OBJECT ENCODING copy", &encoding),
            ("SDIFF k copy", "*0\r\n"),
            ("SADD copy more", ":1\r\n"),
        ]);
        assert_ne!(client.send("DEBUG DIGEST-VALUE copy"), digest);
    }
}

#[test]
fn payloads_of_newer_versions_are_read() {
    let mut client = Client::new();
    // A listpack of "a", 7 and "07".
    let list = b"\x14\x10\x10\0\0\0\x03\0\x81a\x02\x07\x01\x8207\x03\xff";
    for (request, reply) in [
        (
            format!("RESTORE k 0 {}", quoted(&payload(list, 10))),
            "+OK\r\n",
        ),
        (
            "SMISMEMBER k a 7 07 b".to_owned(),
            "*4\r\n:1\r\n:1\r\n:1\r\n:0\r\n",
        ),
        ("SCARD k".to_owned(), ":3\r\n"),
    ] {
        client.check(&[(&request, reply)]);
    }
}

#[test]
fn malformed_payloads_are_refused() {
    let mut client = Client::new();
    for body in [
        // No members, a member twice, fewer members than counted.
        &b"\x02\0"[..],
        b"\x02\x02\x01a\x01a",
        b"\x02\x02\xc0\x01\x011",
        b"\x02\x02\x01a",
        b"\x02\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
        // Integers: none, not in order, a wrong width, a wrong number.
        b"\x0b\x08\x02\0\0\0\0\0\0\0",
        b"\x0b\x0c\x02\0\0\0\x02\0\0\0\x02\0\x01\0",
        b"\x0b\x0c\x02\0\0\0\x02\0\0\0\x01\0\x01\0",
        b"\x0b\x0a\x03\0\0\0\x01\0\0\0\x01\0",
        b"\x0b\x0a\x02\0\0\0\x02\0\0\0\x01\0",
        b"\x0b\x05abcde",
        // A listpack: none, empty, damaged, a member twice.
        b"\x14\x03abc",
        b"\x14\x07\x07\0\0\0\0\0\xff",
        b"\x14\x0a\x0a\0\0\0\x02\0\x81a\x02\xff",
        b"\x14\x0d\x0d\0\0\0\x02\0\x81a\x02\x81a\x02\xff",
        b"\x14\x0c\x0c\0\0\0\x02\0\x07\x01\x817\x02\xff",
    ] {
        let request = format!("RESTORE k 0 {}", quoted(&payload(body, 10)));
        client.check(&[(&request, "-ERR Bad data format\r\n")]);
    }
}
