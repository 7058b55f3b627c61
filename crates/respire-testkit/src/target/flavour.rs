//! A server of either flavour as a target, inside the test process.

use super::{SocketTarget, kv_router};
use respire::serve::{Flavour, Shutdown};
use respire_commands::Kv;
use respire_engine::{Engine, Options, Router};
use respire_net::{Config, Facts, Listeners, Process, Report, clock};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A server on a free loopback port, stopped on drop.
#[derive(Debug)]
pub struct FlavourServer {
    flavour: Flavour,
    address: SocketAddr,
    shutdown: Shutdown,
    thread: Option<JoinHandle<io::Result<Report>>>,
}

impl FlavourServer {
    /// Starts a server with Redis's commands on an empty store.
    ///
    /// # Panics
    /// If the system has no free port.
    #[must_use]
    pub fn start(flavour: Flavour) -> Self {
        Self::of(flavour, kv_router())
    }

    /// Starts a server with this router.
    ///
    /// # Panics
    /// If the system has no free port.
    #[must_use]
    pub fn of(flavour: Flavour, router: Router<Kv>) -> Self {
        let config = Config {
            port: 0,
            threads: 2,
            ..Config::default()
        };
        let listeners = Listeners::on(&[(Ipv4Addr::LOCALHOST, 0).into()], &config)
            .expect("loopback has a free port");
        let address = listeners.local_addresses()[0];
        let shutdown = Shutdown::new();
        let host = Arc::new(Process::new(Facts::default(), shutdown.clone(), None));
        let options = Options {
            host,
            ..Options::default()
        };
        let engine = Engine::new(router, options, clock::now());
        let switch = shutdown.clone();
        let thread = std::thread::spawn(move || flavour.serve(listeners, engine, config, switch));
        Self {
            flavour,
            address,
            shutdown,
            thread: Some(thread),
        }
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A target that plays scripts on the server.
    #[must_use]
    pub fn target(&self) -> SocketTarget {
        let tags: &'static [&'static str] = match self.flavour {
            Flavour::Tokio => &["respire", "socket", "tokio"],
            Flavour::Mio => &["respire", "socket", "mio"],
        };
        SocketTarget::new(self.address, tags)
    }
}

impl Drop for FlavourServer {
    fn drop(&mut self) {
        self.shutdown.request();
        let report = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(
                matches!(report, Some(Ok(Ok(_)))),
                "the server ended with {report:?}"
            );
        }
    }
}
