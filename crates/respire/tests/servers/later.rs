//! Tests of deferred replies over real sockets: the same bytes as from a session in memory.

use crate::harness::{Kind, One, PATIENCE, Running, Setup};
use respire::driver::{SessionEvent, SessionStep};
use respire::net::{Limits as ServerLimits, clock};
use respire::{
    App, Engine, Error, Later, Limits, NoKeys, Options, Output, Pusher, Router, Stream, Wake,
};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{BufReader, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::{Duration, Instant};

/// The state of the service: waiting calls, pushers, and the count of cancelled calls.
#[derive(Default)]
struct Service {
    waiting: Mutex<VecDeque<Later>>,
    listeners: Mutex<Vec<Pusher>>,
    cancelled: AtomicUsize,
}

impl App for Service {
    type Conn = ();
    type Keys = NoKeys;
}

/// A command of every kind.
fn router() -> Router<Service> {
    Router::new(Service::default())
        .deferred("later", |_, One::<false>(n), later| {
            std::thread::spawn(move || later.reply(n));
        })
        .deferred("piped", |_, One::<true>(n), later| {
            std::thread::spawn(move || later.reply(n));
        })
        .deferred("timed", |cx, One::<false>(n), later| {
            let later = later.deadline(Duration::from_millis(1), n);
            cx.app().waiting.lock().unwrap().push_back(later);
        })
        .deferred("lost", |_, (), later| {
            std::thread::spawn(move || drop(later));
        })
        .deferred("broken", |_, (), _| panic!("a defect, on purpose"))
        .deferred("keep", |cx, (), later| {
            let app = cx.app();
            app.waiting.lock().unwrap().push_back(later);
        })
        .future("soon", |_, One::<false>(n)| async move { n })
        .future("yield", |_, One::<true>(n)| {
            let mut is_first = true;
            poll_fn(move |cx| {
                if std::mem::take(&mut is_first) {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(n)
            })
        })
        .future("burst", |_, ()| async {
            let nothing: Option<i64> = std::hint::black_box(None);
            nothing.expect("a defect, on purpose")
        })
        .command("tell", |cx, One::<false>(n)| {
            let sent = cx.pusher().push(("news", n));
            sent.map_err(|error| Error::owned(format!("ERR {error}")))
        })
        .command("listen", |cx, ()| {
            let pusher = cx.pusher();
            cx.app().listeners.lock().unwrap().push(pusher);
        })
        .command("zeros", |_, One::<false>(n)| {
            Stream::from_read(n as usize, std::io::repeat(b'0'))
        })
}

/// Requests for all commands; the replies must have the same bytes however the input is split.
const REQUESTS: &str = "TELL 0\r\nHELLO 3\r\nTELL 1\r\nPING\r\nLATER 2\r\nECHO a\r\nPIPED 3\r\n\
    PIPED 4\r\nTELL 5\r\nYIELD 6\r\nLOST\r\nSOON 7\r\nBURST\r\nBROKEN\r\nTIMED 8\r\nZEROS 200000\r\n\
    MULTI\r\nTIMED 9\r\nTELL 10\r\nEXEC\r\nPIPED 11\r\nHELLO 2\r\nYIELD 12\r\nZEROS 3\r\n\
    CLIENT REPLY SKIP\r\nLATER 13\r\nPIPED 14\r\nNOPE\r\nLATER x\r\n";
const END: &[u8] = b"$3\r\nend\r\n";

fn expected() -> Vec<u8> {
    let zeros = format!("${}\r\n{}\r\n", 200_000, "0".repeat(200_000));
    let parts = [
        "-ERR the client has no way to tell a message from a reply\r\n",
        "<hello>",
        "+OK\r\n>2\r\n$4\r\nnews\r\n:1\r\n+PONG\r\n:2\r\n$1\r\na\r\n:3\r\n:4\r\n",
        "+OK\r\n>2\r\n$4\r\nnews\r\n:5\r\n:6\r\n-ERR the command gave no reply\r\n:7\r\n",
        "-ERR internal error\r\n-ERR internal error\r\n:8\r\n",
        &zeros,
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:9\r\n+OK\r\n>2\r\n$4\r\nnews\r\n:10\r\n:11\r\n",
        "<hello>",
        ":12\r\n$3\r\n000\r\n:14\r\n",
        "-ERR unknown command 'NOPE', with args beginning with: \r\n",
        "-ERR n is not an integer or out of range\r\n",
    ];
    parts.concat().into_bytes()
}

/// Removes the reply to `HELLO`, which has the number of the connection in it.
fn without_hello(transcript: &[u8]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(transcript).into_owned();
    for start in ["%7\r\n$6\r\nserver", "*14\r\n$6\r\nserver"] {
        let from = text.find(start).expect("HELLO is answered");
        let last = "$7\r\nmodules\r\n*0\r\n";
        let to = from + text[from..].find(last).expect("it ends with the modules") + last.len();
        text.replace_range(from..to, "<hello>");
    }
    text.into_bytes()
}

struct CountingWake(Arc<AtomicUsize>);

impl Wake for CountingWake {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// The transcript of a session in memory, with its input split into pieces of `piece` bytes.
fn in_memory(piece: usize) -> Vec<u8> {
    let engine = Engine::new(router(), Options::default(), clock::now());
    let rings = Arc::new(AtomicUsize::new(0));
    let ring = Box::new(CountingWake(Arc::clone(&rings)));
    let mut session = engine
        .connect(respire::Peer::default(), ring, clock::now())
        .unwrap();
    let (mut out, mut transcript) = (Output::new(), Vec::new());
    let input = [REQUESTS.as_bytes(), b"ECHO end\r\n"].concat();
    let mut pieces = input.chunks(piece);
    let deadline = Instant::now() + PATIENCE;
    while !transcript.ends_with(END) {
        assert!(Instant::now() < deadline, "no end to {transcript:?}");
        let step = match pieces.next() {
            Some(piece) => session.serve(piece, clock::now(), &mut out),
            None => session.serve(SessionEvent::Turn, clock::now(), &mut out),
        };
        assert!(!matches!(step, SessionStep::Close(_)));
        transcript.extend(out.take());
    }
    transcript.truncate(transcript.len() - END.len());
    transcript
}

#[test]
fn session_replies_do_not_depend_on_how_input_is_split() {
    let expected = expected();
    for piece in [usize::MAX, 7, 1] {
        let transcript = without_hello(&in_memory(piece));
        assert!(
            transcript == expected,
            "in pieces of {piece}: {}",
            String::from_utf8_lossy(&transcript).replace(&"0".repeat(1000), "0")
        );
    }
}

fn start(kind: Kind) -> Running<Service> {
    start_with(kind, Limits::DEFAULT)
}

fn start_with(kind: Kind, limits: Limits) -> Running<Service> {
    let setup = Setup {
        limits: ServerLimits {
            shutdown_grace_ms: 60_000,
            ..ServerLimits::DEFAULT
        },
        ..Setup::new(kind)
    };
    setup.serve(router().limits(limits))
}

fn waiting(engine: &Engine<Service>) -> MutexGuard<'_, VecDeque<Later>> {
    engine.app().waiting.lock().unwrap()
}

pub(crate) fn transcripts_equal_those_of_a_session_in_memory(kind: Kind) {
    let server = start(kind);
    let expected = expected();
    let input = [REQUESTS.as_bytes(), b"ECHO end\r\n"].concat();
    for piece in [input.len(), 7] {
        let stream = server.connect().stream;
        let mut half = stream.try_clone().unwrap();
        let sent = input.clone();
        let sender = std::thread::spawn(move || {
            for piece in sent.chunks(piece) {
                half.write_all(piece).unwrap();
            }
        });
        let (mut stream, mut transcript) = (BufReader::new(stream), Vec::new());
        while !transcript.ends_with(END) {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            transcript.push(byte[0]);
        }
        sender.join().unwrap();
        transcript.truncate(transcript.len() - END.len());
        assert!(
            without_hello(&transcript) == expected,
            "in pieces of {piece}: {}",
            String::from_utf8_lossy(&transcript).replace(&"0".repeat(1000), "0")
        );
    }
}

pub(crate) fn shutdown_loses_no_pending_reply(kind: Kind) {
    const CLIENTS: usize = 40;
    let mut server = start(kind);
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send("PIPED 1\r\nKEEP\r\nPIPED 2\r\nLATER 3\r\nYIELD 4\r\n");
    }
    server.until("all wait", |engine| waiting(engine).len() == CLIENTS);
    server.shutdown.request();
    // Threads that do not know of the shutdown send the replies.
    let owed = std::mem::take(&mut *waiting(&server.engine));
    let answer = std::thread::spawn(move || {
        for later in owed {
            assert!(later.reply("kept"));
        }
    });
    for client in &mut clients {
        let replies = String::from_utf8_lossy(&client.rest()).replace("\r\n", "|");
        assert_eq!(replies, ":1|$4|kept|:2|:3|:4|");
    }
    answer.join().unwrap();
    assert_eq!(server.join().cut, 0);
}

pub(crate) fn closed_connection_cancels_its_calls(kind: Kind) {
    let server = start(kind);
    let mut client = server.connect();
    client.send("KEEP\r\n");
    server.until("it waits", |engine| !waiting(engine).is_empty());
    let later = waiting(&server.engine).pop_front().expect("it waits");
    let engine = Arc::clone(&server.engine);
    later.on_cancel(move || {
        engine.app().cancelled.fetch_add(1, Ordering::Relaxed);
    });
    drop(client);
    server.until("it is cancelled", |engine| {
        engine.app().cancelled.load(Ordering::Relaxed) == 1
    });
    assert!(later.cancelled());
    assert!(!later.reply("to nobody"));
}

pub(crate) fn stalled_listener_loses_only_its_own_connection(kind: Kind) {
    let limits = Limits {
        mailbox_bytes_max: 1 << 20,
        ..Limits::DEFAULT
    };
    let server = start_with(kind, limits);
    let (mut stalled, mut quick) = (server.connect(), server.connect());
    for client in [&mut stalled, &mut quick] {
        client.send("HELLO 3\r\nLISTEN\r\nECHO end\r\n");
        client.read_to(END);
    }
    // 1,000 messages of 32 KiB: more than the sockets and the mailbox of the stalled listener can
    // hold. The other listener is read in step, so that it gets all messages.
    let payload = respire::Bytes::from(vec![b'x'; 32 << 10]);
    let listeners = server.engine.app().listeners.lock().unwrap().clone();
    let mut message = b">2\r\n$4\r\nnews\r\n$32768\r\n".to_vec();
    message.extend_from_slice(&payload);
    message.extend_from_slice(b"\r\n");
    let mut refused = 0;
    for _ in 0..1000 {
        for (at, listener) in listeners.iter().enumerate() {
            // A send does not wait for a peer: it takes a short lock, and returns an error if the
            // mailbox is full.
            let sent = listener.push(("news", payload.clone()));
            assert!(at == 0 || sent.is_ok(), "{sent:?}");
            refused += usize::from(sent.is_err());
        }
        quick.expect(&message);
    }
    assert!(refused > 0, "the stalled listener was never full");
    server.until("the stalled one is closed", |engine| {
        engine.clients().len() == 1
    });
    assert!(
        server.engine.clients().find(2).is_some(),
        "the other listener stays connected"
    );
}
