//! Tests of captures, generated in every format and link type.

use super::*;
use etherparse::PacketBuilder;
use proptest::prelude::*;

const CLIENT: u16 = 40_000;
const SERVER: u16 = 6379;

/// Whether the client sends, the sequence number, flags, and the content. The flags `S`, `F` and
/// `R` are SYN, FIN and RST; all segments but a lone SYN have ACK.
type SentSegment<'a> = (bool, u32, &'a str, &'a [u8]);

/// An IP packet on this link.
fn packet(link: u32, is_v6: bool, sent: &SentSegment<'_>) -> Vec<u8> {
    let (from_client, sequence, flags, payload) = sent;
    let ports = if *from_client {
        (CLIENT, SERVER)
    } else {
        (SERVER, CLIENT)
    };
    let ends = if *from_client { (1, 2) } else { (2, 1) };
    let mut out = match link {
        113 => [&[0; 14][..], if is_v6 { &[0x86, 0xdd] } else { &[8, 0] }].concat(),
        276 => [if is_v6 { &[0x86, 0xdd][..] } else { &[8, 0] }, &[0; 18]].concat(),
        0 | 108 => vec![2, 0, 0, 0],
        _ => Vec::new(),
    };
    macro_rules! finish {
        ($builder:expr) => {{
            let builder = $builder.tcp(ports.0, ports.1, *sequence, 1024);
            let builder = if flags.contains('S') {
                builder.syn()
            } else {
                builder
            };
            let builder = if *flags == "S" {
                builder
            } else {
                builder.ack(1)
            };
            let builder = if flags.contains('F') {
                builder.fin()
            } else {
                builder
            };
            let builder = if flags.contains('R') {
                builder.rst()
            } else {
                builder
            };
            builder.write(&mut out, payload).expect("memory");
        }};
    }
    let v4 = |end: u8| [10, 0, 0, end];
    let v6 = |end: u8| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end];
    match (link, is_v6) {
        (1, false) => {
            finish!(PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(v4(ends.0), v4(ends.1), 64))
        }
        (1, true) => finish!(
            PacketBuilder::ethernet2([1; 6], [2; 6])
                .single_vlan(etherparse::VlanId::try_new(7).expect("small"))
                .ipv6(v6(ends.0), v6(ends.1), 64)
        ),
        (_, false) => finish!(PacketBuilder::ipv4(v4(ends.0), v4(ends.1), 64)),
        (_, true) => finish!(PacketBuilder::ipv6(v6(ends.0), v6(ends.1), 64)),
    }
    if link == 1 && out.len() < 60 {
        // Ethernet pads short frames.
        out.resize(60, 0xee);
    }
    out
}

fn pcap(link: u32, is_big_endian: bool, packets: &[Vec<u8>]) -> Vec<u8> {
    let word = |value: u32| {
        if is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let half = |value: u16| {
        if is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let mut out = [
        &word(0xa1b2_c3d4)[..],
        &half(2),
        &half(4),
        &word(0),
        &word(0),
        &word(65535),
        &word(link),
    ]
    .concat();
    for (index, packet) in packets.iter().enumerate() {
        let len = word(packet.len() as u32);
        out.extend(
            [
                &word(1000)[..],
                &word(index as u32 * 1000),
                &len,
                &len,
                packet,
            ]
            .concat(),
        );
    }
    out
}

fn pcapng(link: u16, packets: &[Vec<u8>]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let len = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &len, body, &len].concat()
    };
    let section = [&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let interface = [&link.to_le_bytes()[..], &[0, 0], &65535u32.to_le_bytes()].concat();
    let mut out = [block(0x0a0d_0d0a, &section), block(1, &interface)].concat();
    for (index, packet) in packets.iter().enumerate() {
        let time = 1_000_000_000 + index as u64 * 1000;
        let len = (packet.len() as u32).to_le_bytes();
        let mut body = [
            &[0; 4][..],
            &((time >> 32) as u32).to_le_bytes(),
            &(time as u32).to_le_bytes(),
            &len,
            &len,
            packet,
        ]
        .concat();
        body.resize(body.len().next_multiple_of(4), 0);
        out.extend(block(6, &body));
    }
    out
}

const CONVERSATION: &[SentSegment<'_>] = &[
    (true, 99, "S", b""),
    (false, 499, "SA", b""),
    (true, 100, "", b"PING\r\n"),
    (false, 500, "", b"+PO"),
    (false, 503, "", b"NG\r\n"),
    (true, 106, "", b"GET k\r\n"),
    (true, 106, "", b"GET k\r\n"),
    (false, 507, "", b"$-1\r\n"),
    (true, 113, "F", b""),
];

fn check_conversation(capture: &Capture) {
    let summary = capture.summary();
    assert_eq!((summary.packets, summary.skipped), (9, 0), "{summary:?}");
    let [stream] = summary.streams.as_slice() else {
        panic!("one stream: {summary:?}");
    };
    assert!(stream.client.ends_with(":40000") && stream.server.ends_with(":6379"));
    assert_eq!(
        (stream.packets, stream.bytes, stream.gaps),
        ([2, 3], [13, 12], [0, 0])
    );
    assert_eq!(capture.bytes(0, 0), Ok(&b"PING\r\nGET k\r\n"[..]));
    assert_eq!(capture.bytes(0, 1), Ok(&b"+PONG\r\n$-1\r\n"[..]));
    let rows = capture.segments(0, 1).expect("a direction");
    assert_eq!(rows[..SEGMENT_WORDS], [0.0, 3.0, 3.0, 4.0, 0.0, 0.0]);
    let rows = capture.segments(0, 0).expect("a direction");
    assert_eq!(rows[rows.len() - 2..], [8.0, 0.0]);
}

#[test]
fn conversation_is_read_from_every_link_and_file_type() {
    for link in [1, 113, 276, 0, 108, 101, 228, 12] {
        for is_v6 in [false, true] {
            // The first packet of pcap's test is SYN with ACK in the server's reply.
            let packets: Vec<_> = CONVERSATION
                .iter()
                .map(|sent| packet(link, is_v6, sent))
                .collect();
            check_conversation(&Capture::new(&pcap(link, false, &packets)).expect("a capture"));
            check_conversation(&Capture::new(&pcap(link, true, &packets)).expect("a capture"));
            check_conversation(&Capture::new(&pcapng(link as u16, &packets)).expect("a capture"));
        }
    }
}

#[test]
fn packets_other_than_tcp_are_counted_with_a_reason() {
    let mut udp = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4([1; 4], [2; 4], 9)
        .udp(1, 2);
    builder.write(&mut udp, b"x").expect("memory");
    let capture = Capture::new(&pcap(1, false, &[udp, vec![0; 5]])).expect("a capture");
    assert_eq!(
        (capture.summary().skipped, capture.summary().why.len()),
        (2, 2)
    );
    assert!(capture.bytes(0, 0).is_err());
    let odd = Capture::new(&pcap(147, false, &[vec![0; 60]])).expect("a capture");
    assert!(odd.summary().why[0].starts_with("link type"));
    assert!(Capture::new(b"PING\r\n").is_err());
}

#[test]
fn port_used_again_is_another_stream() {
    let packets: Vec<_> = CONVERSATION
        .iter()
        .chain(CONVERSATION)
        .map(|sent| packet(1, false, sent))
        .collect();
    let capture = Capture::new(&pcap(1, false, &packets)).expect("a capture");
    assert_eq!(capture.summary().streams.len(), 2);
    assert_eq!(capture.bytes(1, 1), capture.bytes(0, 1));
}

fn captured(segments: &[SentSegment<'_>]) -> Capture {
    let packets: Vec<_> = segments.iter().map(|sent| packet(1, false, sent)).collect();
    Capture::new(&pcap(1, false, &packets)).expect("a capture")
}

#[test]
fn content_of_the_first_segment_is_part_of_the_stream() {
    let capture = captured(&[
        (true, 99, "S", b"PING\r\n"),
        (true, 99, "S", b"PING\r\n"),
        (false, 499, "SA", b""),
        (true, 106, "", b"GET k\r\n"),
    ]);
    assert_eq!(capture.bytes(0, 0), Ok(&b"PING\r\nGET k\r\n"[..]));
    assert_eq!(capture.summary().streams[0].gaps, [0, 0]);
}

#[test]
fn missing_bytes_are_counted() {
    let capture = captured(&[
        (true, 99, "S", b""),
        (true, 100, "", b"GET a\r\n"),
        (true, 114, "", b"GET c\r\n"),
    ]);
    let rows = capture.segments(0, 0).expect("a direction");
    assert_eq!(rows[SEGMENT_WORDS..], [7.0, 7.0, 2.0, 3.0, 4.0, 7.0]);
}

#[test]
fn connection_without_its_opening_is_reported() {
    assert!(!captured(CONVERSATION).summary().streams[0].is_midway);
    assert!(captured(&CONVERSATION[2..]).summary().streams[0].is_midway);
}

#[test]
fn truncated_file_gives_its_complete_packets() {
    let packets: Vec<_> = CONVERSATION
        .iter()
        .map(|sent| packet(1, false, sent))
        .collect();
    let whole = pcap(1, false, &packets);
    let cut = Capture::new(&whole[..whole.len() - 10]).expect("a capture");
    assert_eq!(cut.summary().packets, 8);
    assert_eq!(cut.summary().why, ["the file ends within a packet"]);
}

proptest! {
    #[test]
    fn damaged_files_are_read_without_a_panic(
        at in any::<prop::sample::Index>(),
        with in prop::collection::vec(any::<u8>(), 1..9),
        is_new in any::<bool>(),
    ) {
        let packets: Vec<_> = CONVERSATION.iter().map(|sent| packet(1, false, sent)).collect();
        let mut file = if is_new { pcapng(1, &packets) } else { pcap(1, false, &packets) };
        let at = at.index(file.len());
        for (slot, byte) in file[at..].iter_mut().zip(with) {
            *slot = byte;
        }
        if let Ok(capture) = Capture::new(&file) {
            for stream in 0..capture.summary().streams.len() {
                prop_assert!(capture.segments(stream, 0).is_ok());
            }
        }
    }
}
