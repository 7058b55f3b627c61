//! Tests of the tokio-util codecs.

use bytes::{Bytes, BytesMut};
use resp_codec::{
    ClientCodec, CodecError, CommandDecoder, ErrorKind, Limits, Proto, ServerCodec, Value,
};
use tokio_util::codec::{Decoder, Encoder};

#[test]
fn requests_are_decoded_byte_by_byte() {
    let mut codec = ServerCodec::new(Limits::SERVER);
    let mut input = BytesMut::new();
    let mut commands = Vec::new();
    for &byte in b"\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nECHO \"a\\x41\" b\r\n" {
        input.extend_from_slice(&[byte]);
        commands.extend(codec.decode(&mut input).unwrap());
    }
    assert!(input.is_empty());
    let args: Vec<Vec<_>> = commands
        .iter()
        .map(|command| command.args().iter().collect())
        .collect();
    assert_eq!(args, [vec![&b"GET"[..], b"k"], vec![b"ECHO", b"aA", b"b"]]);
    assert_eq!(commands[0].share(1).unwrap(), "k");
    assert_eq!(commands[1].share(1).unwrap(), "aA");
    assert_eq!(commands[1].share(3), None);
}

#[test]
fn replies_keep_their_bytes() {
    let mut codec = ClientCodec::new(Limits::CLIENT);
    let mut input = BytesMut::from(
        "+OK\r\n|1\r\n+a\r\n:1\r\n*2\r\n$2\r\nhi\r\n|1\r\n+b\r\n:2\r\n_\r\n$3\r\nab",
    );
    assert_eq!(
        codec.decode(&mut input).unwrap().unwrap().frame().str(),
        Some("OK")
    );
    let reply = codec.decode(&mut input).unwrap().unwrap();
    assert_eq!(
        &reply.wire()[..],
        b"|1\r\n+a\r\n:1\r\n*2\r\n$2\r\nhi\r\n|1\r\n+b\r\n:2\r\n_\r\n"
    );
    let frame = reply.frame();
    assert_eq!(frame.attributes().unwrap().count(), 1);
    let children: Vec<_> = frame.children().collect();
    assert_eq!(reply.share(children[0]).unwrap(), "hi");
    assert_eq!(children[1].attributes().unwrap().count(), 1);
    let part = resp_codec::OwnedFrame::new(children[1], reply.wire());
    assert_eq!(
        (&part.wire()[..], part.to_value()),
        (&b"|1\r\n+b\r\n:2\r\n_\r\n"[..], children[1].to_value())
    );
    assert!(codec.decode(&mut input).unwrap().is_none());
}

#[test]
fn replies_follow_the_protocol_that_was_set() {
    let mut codec = ServerCodec::new(Limits::SERVER);
    let mut out = BytesMut::new();
    codec.encode(&Value::from(true), &mut out).unwrap();
    codec.set_proto(Proto::Resp3);
    codec.encode(Value::from(true), &mut out).unwrap();
    assert_eq!(out, ":1\r\n#t\r\n");
}

#[test]
fn protocol_errors_are_reported() {
    let error = ServerCodec::new(Limits::SERVER)
        .decode(&mut BytesMut::from("*x\r\n"))
        .unwrap_err();
    assert!(
        matches!(error, CodecError::Protocol(error) if error.kind == ErrorKind::InvalidMultibulkLength)
    );
    assert_eq!(
        error.to_string(),
        "Protocol error: invalid multibulk length at byte 1"
    );
    assert!(
        ClientCodec::new(Limits::CLIENT)
            .decode(&mut BytesMut::from("x"))
            .is_err()
    );
}

#[test]
fn owned_command_keeps_the_name_of_the_borrowed_one() {
    let mut codec = ServerCodec::new(Limits::SERVER);
    let mut input =
        BytesMut::from("*2\r\n$3\r\ngEt\r\n$1\r\nk\r\n\"p\\x69ng\"\r\n*1\r\n$0\r\n\r\n");
    for name in [&b"gEt"[..], b"ping", b""] {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        let borrowed = decoder.decode(&input).unwrap().ready().unwrap();
        assert_eq!(borrowed.name(), name);
        assert_eq!(codec.decode(&mut input).unwrap().unwrap().name(), name);
    }
}

#[test]
fn requests_may_be_lists_of_any_type() {
    fn check(request: impl FnOnce(&mut ClientCodec, &mut BytesMut) -> Result<(), CodecError>) {
        let mut out = BytesMut::new();
        request(&mut ClientCodec::new(Limits::CLIENT), &mut out).unwrap();
        assert_eq!(out, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    }
    check(|codec, out| codec.encode(["GET", "k"], out));
    check(|codec, out| codec.encode(&["GET", "k"], out));
    check(|codec, out| codec.encode(&["GET", "k"][..], out));
    check(|codec, out| codec.encode(vec!["GET", "k"], out));
    check(|codec, out| codec.encode(&vec!["GET", "k"], out));
    check(|codec, out| codec.encode(vec!["GET".to_owned(), "k".to_owned()], out));
    check(|codec, out| codec.encode(vec![b"GET".to_vec(), b"k".to_vec()], out));
    check(|codec, out| codec.encode(vec![&b"GET"[..], b"k"], out));
    check(|codec, out| codec.encode(vec![Bytes::from("GET"), Bytes::from("k")], out));
}
