//! Tests of reading ahead.

use super::*;

impl Bench {
    /// One turn, in the three steps of connections that are ready together.
    fn drive_ahead(&mut self, io: &mut Script) -> Pace {
        self.drive_ahead_after(io, |_| {})
    }

    /// The same, with an event before the last step.
    fn drive_ahead_after(&mut self, io: &mut Script, event: impl FnOnce(&mut Self)) -> Pace {
        let mut buffer = arrival_buffer(&Limits::DEFAULT);
        let mut arrival = self.receive_ahead(io, &mut buffer);
        if let Some(arrival) = &mut arrival {
            self.connection.find_ahead(arrival);
        }
        event(self);
        self.drive_from(io, arrival)
    }

    /// The first two steps.
    fn receive_ahead<'b>(
        &mut self,
        io: &mut Script,
        buffer: &'b mut [u8],
    ) -> Option<Arrival<'b, Blobs>> {
        Some(match self.connection.read_ahead(io, buffer)? {
            Ok(len) => self.connection.look_ahead(&buffer[..len]),
            Err(error) => Arrival::new(Err(error)),
        })
    }

    /// A turn that begins with the input read ahead, if there is any.
    fn drive_from(&mut self, io: &mut Script, arrival: Option<Arrival<'_, Blobs>>) -> Pace {
        match arrival {
            Some(arrival) => {
                self.connection
                    .drive_arrived(io, arrival, &mut self.scratch, self.now)
            }
            None => self.drive(io),
        }
    }
}

#[test]
fn request_read_ahead_is_answered_once() {
    let long = "x".repeat(3_000);
    let last = format!("PING {long}\r\n");
    let pieces = [
        "PING a\r\n",
        "PING b\r\nPING c\r\nPI",
        "NG d\r\n",
        last.leak(),
        "PING e\r\n",
    ];
    let all = format!("$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$3000\r\n{long}\r\n$1\r\ne\r\n");
    let reads = || {
        pieces
            .iter()
            .flat_map(|piece| [Read::Bytes(piece), Read::Block])
    };
    let mut bench = Bench::plain();
    let mut io = Script::new(
        [Read::Bytes("PING\r\n"), Read::Block]
            .into_iter()
            .chain(reads()),
    );
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    for _ in 0..2 * pieces.len() {
        assert_ne!(bench.drive_ahead(&mut io), Pace::Closed);
    }
    assert_eq!(io.heard(), format!("+PONG\r\n{all}"));
}

#[test]
fn input_read_ahead_may_be_served_without_looking_ahead() {
    let mut bench = Bench::plain();
    let mut io = Script::new([
        Read::Bytes("PING\r\n"),
        Read::Block,
        Read::Bytes("PING a\r\n"),
    ]);
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    let mut buffer = arrival_buffer(&Limits::DEFAULT);
    let read = bench.connection.read_ahead(&mut io, &mut buffer);
    let len = read.expect("it is read").expect("no error");
    let (looked, plain) = (
        bench.connection.look_ahead(&buffer[..len]),
        Arrival::new(Ok(&buffer[..len])),
    );
    drop(looked);
    assert_ne!(bench.drive_from(&mut io, Some(plain)), Pace::Closed);
    assert_eq!(io.heard(), "+PONG\r\n$1\r\na\r\n");
}

#[test]
fn only_idle_connections_with_short_requests_are_read_ahead() {
    let reads_ahead = |bench: &mut Bench| {
        let mut io = Script::new([Read::Bytes("PING\r\n")]);
        let mut buffer = arrival_buffer(&Limits::DEFAULT);
        let arrival = bench.receive_ahead(&mut io, &mut buffer);
        let has_read = io.reads_done > 0;
        assert_ne!(bench.drive_from(&mut io, arrival), Pace::Closed);
        has_read
    };
    let mut bench = Bench::plain();
    assert!(!reads_ahead(&mut bench), "it has not been read from yet");
    assert!(reads_ahead(&mut bench));
    let mut io = Script::new([Read::Bytes(
        format!("PING {}\r\n", "x".repeat(2_000)).leak(),
    )]);
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    assert!(!reads_ahead(&mut bench), "it sent much");
    let mut io = Script::new([Read::Bytes("BLOB 10\r\n")]);
    io.takes_then = 3;
    io.takes = [3, 0].into();
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    assert!(!reads_ahead(&mut bench), "a reply is pending");
    let mut io = Script::new([Read::Bytes("PI")]);
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    let mut io = Script::new([Read::Bytes("NG\r\n")]);
    let mut buffer = arrival_buffer(&Limits::DEFAULT);
    let arrival = bench.receive_ahead(&mut io, &mut buffer);
    assert!(arrival.is_none());
    assert_eq!(io.reads_done, 0, "half a request is buffered");
}

#[test]
fn end_or_error_read_ahead_ends_the_connection() {
    let ends = [Read::End, Read::Fail(ErrorKind::ConnectionReset)];
    for end in ends {
        let mut bench = Bench::plain();
        let mut io = Script::new([Read::Bytes("PING\r\n"), Read::Block, end]);
        assert_eq!(bench.drive(&mut io), Pace::Wait);
        assert_eq!(bench.drive_ahead(&mut io), Pace::Closed);
        assert_eq!(io.heard(), "+PONG\r\n");
    }
}

#[test]
fn stop_or_kill_after_reading_ahead_takes_effect() {
    let after = |event: fn(&mut Bench)| {
        let mut bench = Bench::plain();
        let ping = || Read::Bytes("PING\r\n");
        let mut io = Script::new([ping(), Read::Block, ping()]);
        assert_eq!(bench.drive(&mut io), Pace::Wait);
        let pace = bench.drive_ahead_after(&mut io, event);
        (pace, io)
    };
    let (_, io) = after(|bench| bench.connection.handle_shutdown());
    assert_eq!(
        io.heard(),
        "+PONG\r\n+PONG\r\n",
        "the arrived request is answered"
    );
    let (pace, io) = after(|bench| bench.engine.clients().snapshot()[0].kill());
    assert_eq!((pace, io.heard()), (Pace::Closed, "+PONG\r\n"));
}
