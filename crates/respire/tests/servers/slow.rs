//! Tests of long commands: which clients they delay, and that a stopping server does not wait for
//! them.

use crate::harness::{Kind, Peer, Setup};
use respire::{App, NoKeys, Router};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

/// Commands that run until the test opens the gate.
struct Slow {
    began: Mutex<Sender<()>>,
    gate: Arc<Gate>,
}

impl App for Slow {
    type Conn = ();
    type Keys = NoKeys;
}

/// Blocks a command until it is opened.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    #[cfg(feature = "tokio")]
    fn close(&self) {
        *self.is_open.lock().unwrap() = false;
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap();
        drop(
            self.opened
                .wait_while(is_open, |is_open| !*is_open)
                .unwrap(),
        );
    }
}

/// OpenOnDrop the gate when a test ends, so that the server can end even if the test failed.
struct OpenOnDrop(Arc<Gate>);

impl Drop for OpenOnDrop {
    fn drop(&mut self) {
        self.0.open();
    }
}

fn router() -> (Router<Slow>, Receiver<()>, OpenOnDrop) {
    let (began, begins) = channel();
    let gate = Arc::new(Gate::default());
    let slow = Slow {
        began: Mutex::new(began),
        gate: Arc::clone(&gate),
    };
    let router = Router::new(slow).command("slow", |cx, (): ()| {
        let app = cx.app();
        // The test may have ended.
        let _ = app.began.lock().unwrap().send(());
        app.gate.pass();
        "done"
    });
    (router, begins, OpenOnDrop(gate))
}

/// With this many rounds and connections, each worker is at some time the one that is held up, and
/// at some time the one that waited for events.
#[cfg(feature = "tokio")]
const ROUNDS: usize = 20;
const OTHERS: usize = 8;

#[cfg(feature = "tokio")]
pub(crate) fn others_are_served_while_a_command_runs(kind: Kind) {
    let (router, begins, gate) = router();
    let server = Setup::new(kind).serve(router);
    let mut others: Vec<_> = (0..OTHERS).map(|_| server.connect()).collect();
    for _ in 0..ROUNDS {
        let mut held = server.connect();
        held.send("PING\r\n");
        held.expect("+PONG\r\n");
        held.send("SLOW\r\n");
        begins.recv().unwrap();
        // One after another: no connection may depend on the request of another.
        others.rotate_left(1);
        others.iter_mut().for_each(ping);
        ping(&mut server.connect());
        gate.0.open();
        held.expect("$4\r\ndone\r\n");
        gate.0.close();
    }
}

pub(crate) fn requests_after_a_long_command_are_answered_once_it_ends(kind: Kind) {
    let (router, begins, gate) = router();
    let server = Setup::new(kind).serve(router);
    let mut others: Vec<_> = (0..OTHERS).map(|_| server.connect()).collect();
    let mut held = server.connect();
    held.send("SLOW\r\n");
    begins.recv().unwrap();
    others.iter_mut().for_each(|peer| peer.send("PING\r\n"));
    gate.0.open();
    held.expect("$4\r\ndone\r\n");
    others.iter_mut().for_each(|peer| peer.expect("+PONG\r\n"));
}

fn ping(peer: &mut Peer<TcpStream>) {
    peer.send("PING\r\n");
    peer.expect("+PONG\r\n");
}

pub(crate) fn shutdown_waits_no_longer_than_its_grace_time(kind: Kind) {
    let (router, begins, _gate) = router();
    let server = Setup::new(kind).with_grace_ms(50).serve(router);
    // At most as many as there are workers.
    let mut held = [server.connect(), server.connect()];
    held.iter_mut().for_each(ping);
    held.iter_mut().for_each(|peer| peer.send("SLOW\r\n"));
    begins.recv().unwrap();
    let report = server.stop();
    assert_eq!(report.cut, 2);
}

pub(crate) fn second_shutdown_request_does_not_wait_for_a_command(kind: Kind) {
    let (router, begins, _gate) = router();
    let mut server = Setup::new(kind).with_grace_ms(3_600_000).serve(router);
    let mut held = server.connect();
    held.send("SLOW\r\n");
    begins.recv().unwrap();
    server.shutdown.request();
    server.shutdown.force();
    assert_eq!(server.join().cut, 1);
}
