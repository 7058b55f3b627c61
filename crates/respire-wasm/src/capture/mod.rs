//! Reads the TCP streams of pcap and pcapng files.

mod flow;
mod packets;
mod segment;

#[cfg(test)]
mod tests;

use flow::{FIN, Flow, Joined, RESET};
use packets::{Packet, packets};
use segment::{Segment, link_name, segment};
use serde::Serialize;
use std::net::SocketAddr;

/// The number of words in a row of [`Capture::segments`].
pub const SEGMENT_WORDS: usize = 6;

/// The largest file that is read, in bytes.
const BYTES_MAX: usize = 64 << 20;

/// The most streams that are distinguished.
const STREAMS_MAX: usize = 10_000;

/// The TCP streams of a capture that carry bytes.
#[derive(Debug)]
pub struct Capture {
    summary: CaptureSummary,
    streams: Vec<[Joined; 2]>,
    start_us: u64,
}

/// The summary of a capture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CaptureSummary {
    /// The number of packets.
    pub packets: u32,
    /// The number of packets that are not part of a TCP stream.
    pub skipped: u32,
    /// The reasons for skipping packets, each once.
    pub why: Vec<String>,
    /// The names of its link types.
    pub link_types: Vec<String>,
    /// The time of the first packet, in milliseconds since 1970.
    pub start_ms: f64,
    /// Its TCP streams, in the order of their first packets.
    pub streams: Vec<StreamSummary>,
}

/// The captured part of a TCP connection. The first element of each pair is from client to server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StreamSummary {
    /// The client's address.
    pub client: String,
    /// The server's address.
    pub server: String,
    /// The number of segments with content.
    pub packets: [u32; 2],
    /// The number of bytes.
    pub bytes: [u32; 2],
    /// The number of gaps, where bytes were not captured.
    pub gaps: [u32; 2],
    /// Whether the connection was opened before the capture began, so that earlier bytes are not
    /// known.
    pub is_midway: bool,
    /// The time of its first packet, in milliseconds since the capture's first packet.
    pub start_ms: f64,
    /// The time of its last packet.
    pub end_ms: f64,
}

/// A connection while its packets are read.
struct Stream<'b> {
    client: SocketAddr,
    server: SocketAddr,
    flows: [Flow<'b>; 2],
    start_us: u64,
    end_us: u64,
}

/// The streams, indexed by their addresses.
#[derive(Default)]
struct Streams<'b> {
    all: Vec<Stream<'b>>,
    /// Ordered by the addresses.
    by_ends: Vec<((SocketAddr, SocketAddr), usize)>,
}

impl Capture {
    /// Reads a capture and reassembles its streams. O(n log n).
    ///
    /// # Errors
    /// If it is not a capture, or larger than 64 MiB.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > BYTES_MAX {
            return Err("a capture of more than 64 MiB is not opened".to_owned());
        }
        let (packets, fault) = packets(bytes)?;
        let start_us = packets.first().map_or(0, |packet| packet.time_us);
        let (mut why, mut links) = (Vec::new(), Vec::new());
        let (mut streams, mut skipped) = (Streams::default(), 0);
        for (index, packet) in packets.iter().enumerate() {
            note(&mut links, link_name(packet.link));
            let taken = segment(packet)
                .and_then(|segment| streams.take(&segment, packet, index as u32 + 1));
            if let Err(reason) = taken {
                skipped += 1;
                note(&mut why, reason);
            }
        }
        why.extend(fault);
        let (about, streams) = streams.join(start_us);
        let summary = CaptureSummary {
            packets: packets.len() as u32,
            skipped,
            why,
            link_types: links,
            start_ms: start_us as f64 / 1000.0,
            streams: about,
        };
        Ok(Self {
            summary,
            streams,
            start_us,
        })
    }

    /// The summary of the capture.
    #[must_use]
    pub fn summary(&self) -> &CaptureSummary {
        &self.summary
    }

    /// The bytes of one direction (0: from the client) of a stream.
    ///
    /// # Errors
    /// If there is no such stream or direction.
    pub fn bytes(&self, stream: usize, direction: usize) -> Result<&[u8], String> {
        Ok(&self.joined(stream, direction)?.bytes)
    }

    /// The segments of one direction, [`SEGMENT_WORDS`] numbers each: offset; length; milliseconds
    /// since the capture's first packet; the number of the packet, from 1; flags (1 repeated bytes
    /// were cut off, 2 out of order, 4 bytes are missing before it, 8 FIN, which ends the
    /// direction, 16 RST, which resets the connection); the number of bytes missing before it.
    ///
    /// # Errors
    /// If there is no such stream or direction.
    pub fn segments(&self, stream: usize, direction: usize) -> Result<Vec<f64>, String> {
        let pieces = &self.joined(stream, direction)?.pieces;
        let rows = pieces.iter().map(|piece| {
            let ms = piece.time_us.saturating_sub(self.start_us) as f64 / 1000.0;
            let [offset, len, packet, flags, missing] = [
                piece.offset,
                piece.len,
                piece.packet,
                piece.flags,
                piece.missing,
            ]
            .map(f64::from);
            [offset, len, ms, packet, flags, missing]
        });
        Ok(rows.flatten().collect())
    }

    fn joined(&self, stream: usize, direction: usize) -> Result<&Joined, String> {
        let found = self
            .streams
            .get(stream)
            .and_then(|both| both.get(direction));
        found.ok_or_else(|| format!("there is no direction {direction} of stream {stream}"))
    }
}

/// Adds a reason or a name if it is new; the list keeps the first few.
fn note(list: &mut Vec<String>, text: String) {
    const NOTED_MAX: usize = 16;
    if list.len() < NOTED_MAX && !list.contains(&text) {
        list.push(text);
    }
}

impl<'b> Streams<'b> {
    /// Adds a segment, in the order of the file.
    fn take(
        &mut self,
        segment: &Segment<'b>,
        packet: &Packet<'b>,
        number: u32,
    ) -> Result<(), String> {
        let ends = (segment.from.min(segment.to), segment.from.max(segment.to));
        let opens = segment.is_syn && !segment.is_ack;
        let place = self.by_ends.binary_search_by_key(&ends, |(ends, _)| *ends);
        let known = place.ok().map(|place| self.by_ends[place].1);
        // A port that is used again begins a new connection if the old one had content.
        let known = known.filter(|&at| !(opens && self.all[at].is_over(segment.sequence)));
        let at = match known {
            Some(at) => at,
            None if self.all.len() >= STREAMS_MAX => {
                return Err(format!("more than {STREAMS_MAX} streams"));
            }
            None => {
                self.all.push(Stream::new(segment, packet.time_us));
                let entry = (ends, self.all.len() - 1);
                match place {
                    Ok(place) => self.by_ends[place] = entry,
                    Err(place) => self.by_ends.insert(place, entry),
                }
                self.all.len() - 1
            }
        };
        let stream = &mut self.all[at];
        stream.end_us = stream.end_us.max(packet.time_us);
        let flow = &mut stream.flows[usize::from(segment.from != stream.client)];
        let mut sequence = segment.sequence;
        if segment.is_syn {
            flow.start(sequence);
            // SYN takes a sequence number; with Fast Open, content follows in the same segment.
            sequence = sequence.wrapping_add(1);
        }
        let flags = if segment.is_fin { FIN } else { 0 } | if segment.is_reset { RESET } else { 0 };
        flow.arrive(sequence, segment.payload, packet.time_us, number, flags);
        Ok(())
    }

    /// Reassembles the streams that carry bytes.
    fn join(self, start_us: u64) -> (Vec<StreamSummary>, Vec<[Joined; 2]>) {
        let (mut about, mut all) = (Vec::new(), Vec::new());
        for stream in self.all {
            let joined = stream.flows.map(Flow::join);
            if joined.iter().all(|joined| joined.bytes.is_empty()) {
                continue;
            }
            let ms = |us: u64| us.saturating_sub(start_us) as f64 / 1000.0;
            let each = |of: fn(&Joined) -> u32| [of(&joined[0]), of(&joined[1])];
            about.push(StreamSummary {
                client: stream.client.to_string(),
                server: stream.server.to_string(),
                packets: each(|joined| {
                    joined.pieces.iter().filter(|piece| piece.len > 0).count() as u32
                }),
                bytes: each(|joined| joined.bytes.len() as u32),
                gaps: each(|joined| joined.gaps),
                is_midway: !joined.iter().any(|joined| joined.has_start),
                start_ms: ms(stream.start_us),
                end_ms: ms(stream.end_us),
            });
            all.push(joined);
        }
        (about, all)
    }
}

impl Stream<'_> {
    fn new(segment: &Segment<'_>, time_us: u64) -> Self {
        // The client opens the connection. If that was not captured, the server is the lower port.
        let is_from_server = if segment.is_syn {
            segment.is_ack
        } else {
            segment.from.port() < segment.to.port()
        };
        let (client, server) = if is_from_server {
            (segment.to, segment.from)
        } else {
            (segment.from, segment.to)
        };
        Self {
            client,
            server,
            flows: [Flow::default(), Flow::default()],
            start_us: time_us,
            end_us: time_us,
        }
    }

    /// Whether a segment that opens with this number opens another connection. Clients retransmit
    /// an opening segment only while there is no answer.
    fn is_over(&self, sequence: u32) -> bool {
        let [there, back] = &self.flows;
        let is_again = there.is_opened_by(sequence) && !back.has_segments();
        !is_again && self.flows.iter().any(Flow::has_content)
    }
}
