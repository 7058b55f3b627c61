//! Reads the packets of a capture file.

use pcap_parser::pcapng::{parse_block_be, parse_block_le};
use pcap_parser::{
    Block, Linktype, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header, parse_sectionheaderblock,
};

/// A captured packet.
pub(super) struct Packet<'b> {
    pub(super) link: Linktype,
    /// Microseconds since 1970; 0 if the file has no time.
    pub(super) time_us: u64,
    pub(super) data: &'b [u8],
}

/// The packets of a file in its order, and the error that ended them before the end of the file.
///
/// # Errors
/// If the file does not begin like a capture.
pub(super) fn packets(bytes: &[u8]) -> Result<(Vec<Packet<'_>>, Option<String>), String> {
    if let Ok((rest, header)) = parse_pcap_header(bytes) {
        return Ok(classic(rest, &header));
    }
    if parse_sectionheaderblock(bytes).is_ok() {
        return Ok(blocks(bytes));
    }
    Err("this is neither pcap nor pcapng".to_owned())
}

/// The packets of a pcap file after its header.
fn classic<'b>(bytes: &'b [u8], header: &PcapHeader) -> (Vec<Packet<'b>>, Option<String>) {
    let parse = match (header.is_modified_format(), header.is_bigendian()) {
        (true, _) => parse_pcap_frame_modified,
        (false, true) => parse_pcap_frame_be,
        (false, false) => parse_pcap_frame,
    };
    let per_us = if header.is_nanosecond_precision() {
        1000
    } else {
        1
    };
    let (mut packets, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let Ok((behind, frame)) = parse(rest) else {
            return (packets, Some("the file ends within a packet".to_owned()));
        };
        let fraction = u64::from(frame.ts_usec) / per_us;
        packets.push(Packet {
            link: header.network,
            time_us: u64::from(frame.ts_sec) * 1_000_000 + fraction,
            data: &frame.data[..frame.data.len().min(frame.caplen as usize)],
        });
        rest = behind;
    }
    (packets, None)
}

/// An interface of pcapng: the settings that its packets depend on.
struct Interface {
    link: Linktype,
    /// The ticks of its clock per second.
    ticks: u64,
    offset_s: u64,
}

/// The packets of a pcapng file.
fn blocks(bytes: &[u8]) -> (Vec<Packet<'_>>, Option<String>) {
    let mut interfaces: Vec<Interface> = Vec::new();
    let (mut packets, mut rest, mut is_big_endian) = (Vec::new(), bytes, false);
    while !rest.is_empty() {
        let parsed = if is_big_endian {
            parse_block_be(rest)
        } else {
            parse_block_le(rest)
        };
        let Ok((behind, block)) = parsed else {
            return (packets, Some("the file ends within a block".to_owned()));
        };
        match block {
            Block::SectionHeader(header) => {
                is_big_endian = header.big_endian();
                interfaces.clear();
            }
            Block::InterfaceDescription(about) => interfaces.push(Interface {
                link: about.linktype,
                ticks: about.ts_resolution().unwrap_or(1_000_000).max(1),
                offset_s: u64::try_from(about.ts_offset()).unwrap_or(0),
            }),
            Block::EnhancedPacket(packet) => {
                if let Some(interface) = interfaces.get(packet.if_id as usize) {
                    let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                    let us = u128::from(ticks) * 1_000_000 / u128::from(interface.ticks);
                    let us = u64::try_from(us).unwrap_or(0);
                    packets.push(Packet {
                        link: interface.link,
                        time_us: us.saturating_add(interface.offset_s.saturating_mul(1_000_000)),
                        data: &packet.data[..packet.data.len().min(packet.caplen as usize)],
                    });
                }
            }
            Block::SimplePacket(packet) => {
                if let Some(interface) = interfaces.first() {
                    let len = packet.data.len().min(packet.origlen as usize);
                    packets.push(Packet {
                        link: interface.link,
                        time_us: 0,
                        data: &packet.data[..len],
                    });
                }
            }
            _ => {}
        }
        rest = behind;
    }
    (packets, None)
}
