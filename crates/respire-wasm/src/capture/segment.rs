//! Extracts the TCP segment of a packet.

use super::packets::Packet;
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::Linktype;
use std::net::{IpAddr, SocketAddr};

/// A TCP segment, with the fields that reassembly needs.
pub(super) struct Segment<'b> {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) is_syn: bool,
    pub(super) is_ack: bool,
    pub(super) is_fin: bool,
    pub(super) is_reset: bool,
    pub(super) payload: &'b [u8],
}

/// The segment in a packet, or the reason why there is none.
pub(super) fn segment<'b>(packet: &Packet<'b>) -> Result<Segment<'b>, String> {
    let sliced = slice(packet)?;
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else {
        return Err("no TCP, or a fragment".to_owned());
    };
    let (from, to): (IpAddr, IpAddr) = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => (
            ip.header().source_addr().into(),
            ip.header().destination_addr().into(),
        ),
        Some(LaxNetSlice::Ipv6(ip)) => (
            ip.header().source_addr().into(),
            ip.header().destination_addr().into(),
        ),
        _ => return Err("no IP".to_owned()),
    };
    Ok(Segment {
        from: SocketAddr::new(from, tcp.source_port()),
        to: SocketAddr::new(to, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        is_syn: tcp.syn(),
        is_ack: tcp.ack(),
        is_fin: tcp.fin(),
        is_reset: tcp.rst(),
        payload: &tcp.slice()[tcp.header_slice().len()..],
    })
}

/// The headers of a packet of any known link type.
fn slice<'b>(packet: &Packet<'b>) -> Result<LaxSlicedPacket<'b>, String> {
    let data = packet.data;
    let cut = || "cut within its headers".to_owned();
    let ether_type = |at: usize, header: usize| {
        let number = data.get(at..at + 2).ok_or_else(cut)?;
        let number = EtherType(u16::from_be_bytes([number[0], number[1]]));
        let inner = data.get(header..).ok_or_else(cut)?;
        Ok(LaxSlicedPacket::from_ether_type(number, inner))
    };
    let ip = |data: Option<&'b [u8]>| {
        let sliced = LaxSlicedPacket::from_ip(data.ok_or_else(cut)?);
        sliced.map_err(|_| "no IP".to_owned())
    };
    match packet.link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).map_err(|_| cut()),
        Linktype::LINUX_SLL => ether_type(14, 16),
        Linktype::LINUX_SLL2 => ether_type(0, 20),
        // The first four bytes give the IP version in some byte order; the IP header gives it as
        // well.
        Linktype::NULL | Linktype::LOOP => ip(data.get(4..)),
        // Two other numbers that BSDs use for raw IP.
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => ip(Some(data)),
        other => Err(format!("link type {other}")),
    }
}

/// The name of a link type.
pub(super) fn link_name(link: Linktype) -> String {
    match link {
        Linktype::ETHERNET => "Ethernet".to_owned(),
        Linktype::LINUX_SLL => "Linux cooked".to_owned(),
        Linktype::LINUX_SLL2 => "Linux cooked 2".to_owned(),
        Linktype::NULL | Linktype::LOOP => "loopback".to_owned(),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => "raw IP".to_owned(),
        other => other.to_string(),
    }
}
