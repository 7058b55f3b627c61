//! Tests of deferred replies under load: several threads answer in random order while clients come
//! and go. Also tests of panics outside of handlers.

use crate::harness::{Kind, One, Peer, Running, Setup};
use respire::{App, Bytes, Later, NoKeys, Pusher, Router, Stream};
use std::future::poll_fn;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

/// A random number generator: linear congruential, with Knuth's factor.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) % end
    }
}

/// A call to be answered with its number, and the pusher to notify after that.
struct Work {
    later: Later,
    number: i64,
    pusher: Option<Pusher>,
}

/// The queue of calls to answer, and the number of live futures.
struct Storm {
    work: Mutex<Sender<Work>>,
    futures: AtomicI64,
}

/// State of a connection whose drop panics if its client asked for that.
#[derive(Default)]
struct Conn {
    is_fragile: bool,
}

impl Drop for Conn {
    fn drop(&mut self) {
        assert!(!self.is_fragile, "a defect, on purpose");
    }
}

impl App for Storm {
    type Conn = Conn;
    type Keys = NoKeys;
}

struct CountedFuture(Arc<Storm>);

impl Drop for CountedFuture {
    fn drop(&mut self) {
        self.0.futures.fetch_sub(1, Ordering::Relaxed);
    }
}

fn hand_over(app: &Storm, later: Later, number: i64, pusher: Option<Pusher>) {
    let work = Work {
        later,
        number,
        pusher,
    };
    // The workers live as long as the server.
    app.work.lock().unwrap().send(work).unwrap();
}

fn router(work: Sender<Work>) -> Router<Storm> {
    let storm = Storm {
        work: Mutex::new(work),
        futures: AtomicI64::new(0),
    };
    Router::new(storm)
        .deferred("piped", |cx, One::<true>(n), later| {
            hand_over(cx.app(), later, n, None);
        })
        .deferred("told", |cx, One::<true>(n), later| {
            hand_over(cx.app(), later, n, Some(cx.pusher()));
        })
        .deferred("later", |cx, One::<false>(n), later| {
            hand_over(cx.app(), later, n, None);
        })
        .deferred("timed", |cx, One::<true>(n), later| {
            let due = Duration::from_micros(n as u64 % 700);
            hand_over(cx.app(), later.deadline(due, n), n, None);
        })
        .future("yield", |app: Arc<Storm>, One::<true>(n)| {
            app.futures.fetch_add(1, Ordering::Relaxed);
            let counted = CountedFuture(app);
            let mut left = n % 4;
            poll_fn(move |cx| {
                let _counted = &counted;
                if left == 0 {
                    return Poll::Ready(n);
                }
                left -= 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            })
        })
        .future("never", |app: Arc<Storm>, One::<true>(_)| {
            app.futures.fetch_add(1, Ordering::Relaxed);
            let counted = CountedFuture(app);
            poll_fn(move |_| {
                let _counted = &counted;
                Poll::<i64>::Pending
            })
        })
        .command("now", |_, One::<false>(n)| n)
        .command("fragile", |cx, ()| cx.conn().is_fragile = true)
        .command("crumble", |_, ()| {
            let held = Conn { is_fragile: true };
            let body = move |bytes_max: usize| {
                let _held = &held;
                Some(Bytes::from(vec![b'c'; bytes_max]))
            };
            Stream::new(100_000, body)
        })
}

/// Answers batches in random order.
fn answer(work: &Mutex<Receiver<Work>>, mut random: Random) {
    loop {
        let mut batch = Vec::new();
        {
            let work = work.lock().unwrap();
            let Ok(first) = work.recv() else {
                return;
            };
            batch.push(first);
            batch.extend(work.try_iter().take(random.below(40) as usize));
        }
        while !batch.is_empty() {
            let next = random.below(batch.len() as u64) as usize;
            let Work {
                later,
                number,
                pusher,
            } = batch.swap_remove(next);
            later.reply(number);
            if let Some(pusher) = pusher {
                // It fails only if the client is gone.
                let _ = pusher.push(("told", number));
            }
        }
    }
}

/// A server whose calls are answered by three threads.
fn start(kind: Kind) -> Running<Storm> {
    let (sender, receiver) = channel();
    let receiver = Arc::new(Mutex::new(receiver));
    for seed in 0..3 {
        let receiver = Arc::clone(&receiver);
        std::thread::spawn(move || answer(&receiver, Random(seed)));
    }
    Setup::new(kind).serve(router(sender))
}

const REQUESTS: i64 = 2_000;

fn requests(random: &mut Random) -> Vec<u8> {
    let names = ["PIPED", "TOLD", "LATER", "TIMED", "YIELD", "NOW"];
    let line = |n| {
        format!(
            "{} {n}\r\n",
            names[random.below(names.len() as u64) as usize]
        )
    };
    let lines: String = (0..REQUESTS).map(line).collect();
    format!("{lines}NOW {REQUESTS}\r\n").into_bytes()
}

/// Reads replies and pushes: replies in order, and a push only after the reply it was sent after.
fn read_in_order(stream: TcpStream, until: i64) -> i64 {
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream)).map(|line| {
        let line = line.expect("the server goes on");
        line.trim_end().to_owned()
    });
    let (mut next, mut pushes) = (0, 0);
    while next <= until {
        let line = lines.next().expect("the server goes on");
        if line == ">2" {
            assert_eq!(lines.next().as_deref(), Some("$4"));
            assert_eq!(lines.next().as_deref(), Some("told"));
            let number = lines.next().expect("its number");
            let number: i64 = number.trim_start_matches(':').parse().unwrap();
            assert!(number < next, "the push {number} came before its reply");
            pushes += 1;
        } else {
            assert_eq!(line, format!(":{next}"));
            next += 1;
        }
    }
    pushes
}

fn say_hello(client: &mut Peer<TcpStream>) {
    client.send("HELLO 3\r\nPING\r\n");
    client.read_to(b"+PONG\r\n");
}

pub(crate) fn replies_keep_their_order_under_concurrent_answers_and_disconnects(kind: Kind) {
    let server = start(kind);
    std::thread::scope(|scope| {
        for seed in 0..6 {
            let server = &server;
            scope.spawn(move || {
                let mut random = Random(100 + seed);
                // A client that sends requests and leaves, before or while it waits.
                for _ in 0..10 {
                    let mut leaving = server.connect();
                    say_hello(&mut leaving);
                    let some = requests(&mut random);
                    let most = random.below(some.len() as u64) as usize;
                    leaving.send("NEVER 1\r\n");
                    leaving.send(&some[..most.min(20_000)]);
                }
                let mut client = server.connect();
                say_hello(&mut client);
                let mut half = client.stream.try_clone().unwrap();
                let sender = scope.spawn(move || {
                    let input = requests(&mut random);
                    let told = String::from_utf8_lossy(&input).matches("TOLD").count();
                    let mut rest = &input[..];
                    while !rest.is_empty() {
                        let piece = 1 + random.below(3_000) as usize;
                        let (now, later) = rest.split_at(piece.min(rest.len()));
                        half.write_all(now).unwrap();
                        rest = later;
                    }
                    told
                });
                let pushes = read_in_order(client.stream, REQUESTS);
                let told = sender.join().unwrap();
                // Pushes after the last replies may still be on their way.
                assert!(pushes <= told as i64 && pushes + 200 > told as i64);
            });
        }
    });
    server.until("all are gone", |engine| engine.clients().is_empty());
    server.until("no future is left", |engine| {
        engine.app().futures.load(Ordering::Relaxed) == 0
    });
}

pub(crate) fn panic_outside_a_handler_ends_only_its_connection(kind: Kind) {
    let server = start(kind);
    let mut neighbour = server.connect();
    for round in 0..3 {
        let mut fragile = server.connect();
        fragile.send("FRAGILE\r\nLATER 1\r\n");
        fragile.expect("+OK\r\n:1\r\n");
        let mut crumbling = server.connect();
        crumbling.send("CRUMBLE\r\nNOW 7\r\n");
        crumbling.expect(format!("$100000\r\n{}\r\n:7\r\n", "c".repeat(100_000)));
        drop((fragile, crumbling));
        server.until("both are gone", |engine| engine.clients().len() == 1);
        neighbour.send(format!("LATER {round}\r\n"));
        neighbour.expect(format!(":{round}\r\n"));
    }
}
