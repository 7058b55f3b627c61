//! Starts servers on free loopback ports, and connects peers whose waits are bounded.

use respire::commands::{Kv, add_to};
use respire::engine::{Engine, Limits as SessionLimits, Options, Router};
use respire::net::tap::Tap;
use respire::net::{Config, Facts, Limits, Listeners, Process, Report, clock};
use respire::serve::{Flavour, Shutdown};
use respire::store::{self, Store};
use respire::{App, ArgIter, Args, Arity, Error, Flags, Spec};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long any step may take before the test fails instead of hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How the server of a test runs.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    flavour: Flavour,
    threads: usize,
}

impl Kind {
    #[cfg(feature = "tokio")]
    pub(crate) const TOKIO: Self = Self {
        flavour: Flavour::Tokio,
        threads: 2,
    };

    /// With the single-threaded runtime, which behaves differently from the multi-threaded one.
    #[cfg(feature = "tokio")]
    pub(crate) const TOKIO_ALONE: Self = Self {
        threads: 1,
        ..Self::TOKIO
    };

    #[cfg(feature = "mio")]
    pub(crate) const MIO: Self = Self {
        flavour: Flavour::Mio,
        threads: 2,
    };

    /// The flavour's name.
    pub(crate) fn name(self) -> &'static str {
        self.flavour.name()
    }
}

/// The settings that tests vary.
pub(crate) struct Setup {
    pub(crate) kind: Kind,
    pub(crate) limits: Limits,
    pub(crate) session: SessionLimits,
    pub(crate) clients_max: u32,
    pub(crate) unix_socket: Option<PathBuf>,
    /// The size of the server's socket buffers, if the system's default is too large.
    pub(crate) receive_buffer_bytes: Option<usize>,
    /// Where copies of the traffic go.
    pub(crate) tap: Tap,
}

impl Setup {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            limits: Limits::DEFAULT,
            session: SessionLimits::DEFAULT,
            clients_max: 10_000,
            unix_socket: None,
            receive_buffer_bytes: None,
            tap: Tap::default(),
        }
    }

    /// The same setup, with this time to end after a shutdown request.
    pub(crate) fn with_grace_ms(self, shutdown_grace_ms: u32) -> Self {
        let limits = Limits {
            shutdown_grace_ms,
            ..self.limits
        };
        Self { limits, ..self }
    }

    /// Starts a server with Redis's commands.
    pub(crate) fn start(self) -> Running {
        self.serve(add_to(Router::new(Kv::new(Store::new(
            store::Config::default(),
        )))))
    }

    /// Starts a server with the commands of `router`.
    pub(crate) fn serve<A: App>(self, router: Router<A>) -> Running<A> {
        let config = Config {
            port: 0,
            threads: self.kind.threads,
            limits: self.limits,
            unix_socket: self.unix_socket,
            tap: self.tap,
            ..Config::default()
        };
        let mut listeners = Listeners::on(&[([127, 0, 0, 1], 0).into()], &config).unwrap();
        if config.unix_socket.is_some() {
            listeners.unix = Listeners::bind(&config).unwrap().unix;
        }
        if let Some(bytes) = self.receive_buffer_bytes {
            // Accepted sockets inherit it.
            socket2::SockRef::from(&listeners.tcp[0])
                .set_recv_buffer_size(bytes)
                .unwrap();
        }
        let address = listeners.local_addresses()[0];
        let shutdown = Shutdown::new();
        let host = Arc::new(Process::new(Facts::default(), shutdown.clone(), None));
        let options = Options {
            limits: self.session,
            clients_max: self.clients_max,
            host,
            ..Options::default()
        };
        let engine = Engine::new(router, options, clock::now());
        let (served, switch, flavour) = (Arc::clone(&engine), shutdown.clone(), self.kind.flavour);
        let thread = std::thread::spawn(move || flavour.serve(listeners, served, config, switch));
        Running {
            address,
            engine,
            shutdown,
            thread: Some(thread),
        }
    }
}

/// A server that runs until it is stopped or dropped.
pub(crate) struct Running<A: App = Kv> {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Arc<Engine<A>>,
    pub(crate) shutdown: Shutdown,
    thread: Option<JoinHandle<io::Result<Report>>>,
}

impl Running {
    pub(crate) fn start(kind: Kind) -> Self {
        Setup::new(kind).start()
    }
}

impl<A: App> Running<A> {
    pub(crate) fn connect(&self) -> Peer<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Peer { stream }
    }

    /// Waits for a state of the server that no reply shows.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Engine<A>) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&self.engine) {
            assert!(Instant::now() < deadline, "waited in vain until {what}");
            std::thread::yield_now();
        }
    }

    /// Asks the server to stop and waits for its report.
    pub(crate) fn stop(mut self) -> Report {
        self.shutdown.request();
        self.join()
    }

    /// Waits for the report of a server that was asked to stop.
    pub(crate) fn join(&mut self) -> Report {
        let thread = self.thread.take().expect("a server is joined once");
        let deadline = Instant::now() + PATIENCE;
        while !thread.is_finished() {
            assert!(Instant::now() < deadline, "the server did not stop");
            std::thread::yield_now();
        }
        thread.join().unwrap().unwrap()
    }
}

impl<A: App> Drop for Running<A> {
    fn drop(&mut self) {
        self.shutdown.force();
        if let Some(thread) = self.thread.take() {
            // The test that used the server has shown its failure.
            let _ = thread.join();
        }
    }
}

/// A client's end of a connection.
pub(crate) struct Peer<S> {
    pub(crate) stream: S,
}

impl Peer<UnixStream> {
    pub(crate) fn connect_unix(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream }
    }
}

impl<S: Read + Write> Peer<S> {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    #[track_caller]
    pub(crate) fn expect(&mut self, reply: impl AsRef<[u8]>) {
        let reply = reply.as_ref();
        let mut read = vec![0; reply.len()];
        self.stream.read_exact(&mut read).unwrap();
        assert!(
            read == reply,
            "expected {:?}, got {:?}",
            String::from_utf8_lossy(&reply[..reply.len().min(200)]),
            String::from_utf8_lossy(&read[..read.len().min(200)])
        );
    }

    /// Reads up to and including `end`.
    pub(crate) fn read_to(&mut self, end: &[u8]) -> Vec<u8> {
        let mut read = Vec::new();
        while !read.ends_with(end) {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            read.push(byte[0]);
        }
        read
    }

    /// Reads up to the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).unwrap();
        rest
    }

    /// Reads until the connection ends in any way.
    #[track_caller]
    pub(crate) fn expect_gone(&mut self) {
        let mut rest = Vec::new();
        if let Err(error) = self.stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        }
    }

    /// The connection's id.
    pub(crate) fn id(&mut self) -> u64 {
        self.send("CLIENT ID\r\n");
        let line = self.line();
        line.trim_start_matches(':').parse().unwrap()
    }

    /// One line of a reply, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = self.read_to(b"\r\n");
        line.truncate(line.len() - 2);
        String::from_utf8(line).unwrap()
    }
}

/// One argument, and whether later requests may run before this reply.
pub(crate) struct One<const PIPELINED: bool>(pub(crate) i64);

impl<const PIPELINED: bool> Args for One<PIPELINED> {
    const SPEC: Spec = Spec {
        arity: Arity::exactly(2),
        flags: if PIPELINED {
            Flags::PIPELINED
        } else {
            Flags::NONE
        },
        ..Spec::EMPTY
    };

    fn parse(args: &mut ArgIter<'_>) -> Result<Self, Error> {
        Ok(Self(args.required("n")?))
    }
}

/// A request as a client library would write it.
pub(crate) fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A bulk string as in a reply.
pub(crate) fn bulk(value: &[u8]) -> Vec<u8> {
    let mut bytes = format!("${}\r\n", value.len()).into_bytes();
    bytes.extend_from_slice(value);
    bytes.extend_from_slice(b"\r\n");
    bytes
}
