//! Starts the protocol explorer, with or without the live view, as the flags say.

use crate::failed::Failed;
use crate::flags::Flags;
use respire::commands::Kv;
use respire::engine::Engine;
use respire::explorer::{ExplorerListener, ExplorerServer, Page};
use respire::net::tap::{Listener, Tap};
use std::io;
use std::sync::Arc;

/// The page in gzip form, if it existed at build time.
const PAGE: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/explorer.rs"));

const NO_PAGE: &str = "--explorer: this program was built without the page; in the source tree, \
    'cargo xtask web' builds the page (it needs Node), and 'cargo build --release' then puts it in";

/// An explorer that does not serve yet.
#[derive(Debug)]
pub(crate) struct Explorer {
    listener: ExplorerListener,
    page: Page,
    tap: Option<Listener>,
}

impl Explorer {
    /// Binds the explorer of the flags, with the tap for its copies of the traffic.
    pub(crate) fn bind(flags: &Flags) -> Result<(Option<Self>, Tap), Failed> {
        let address = flags.explorer.as_deref().unwrap_or_default();
        let has_tap = flags.has_explorer_tap();
        if address.is_empty() {
            return if has_tap {
                Err(Failed::Wrong(
                    "--explorer-tap shows the traffic in the page of --explorer; give that, too"
                        .to_owned(),
                ))
            } else {
                Ok((None, Tap::default()))
            };
        }
        let page = PAGE.ok_or_else(|| Failed::Wrong(NO_PAGE.to_owned()))?;
        let page = Page::from_gzip(page)?;
        let listener = ExplorerListener::bind(address).map_err(|error| {
            let error = format!("cannot listen on {address} for --explorer: {error}");
            Failed::Start(io::Error::other(error))
        })?;
        if has_tap && !listener.is_local() {
            return Err(Failed::Wrong(format!(
                "--explorer-tap shows all traffic without a password, so it needs a loopback address \
                 for --explorer, such as 127.0.0.1:8123, and not {address}"
            )));
        }
        let (tap, ears) = if has_tap {
            let (tap, ears) = Tap::new();
            (tap, Some(ears))
        } else {
            (Tap::default(), None)
        };
        let explorer = Self {
            listener,
            page,
            tap: ears,
        };
        Ok((Some(explorer), tap))
    }

    /// Serves the explorer until the returned value is dropped.
    pub(crate) fn serve(
        self,
        engine: &Arc<Engine<Kv>>,
        flavour: &'static str,
    ) -> io::Result<ExplorerServer> {
        let Self {
            listener,
            page,
            tap,
        } = self;
        let address = listener.address();
        let what = if tap.is_some() {
            "the explorer, with the traffic of all clients,"
        } else {
            "the explorer"
        };
        tracing::info!("{what} on http://{address}/");
        match tap {
            Some(tap) => listener.serve_live(&page, tap, Arc::clone(engine), flavour),
            None => listener.serve(&page),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(explorer: Option<&str>, tap: bool) -> Result<(Option<Explorer>, Tap), Failed> {
        let arguments = ["respire-server".to_owned()]
            .into_iter()
            .chain(explorer.map(|address| format!("--explorer={address}")))
            .chain(tap.then(|| "--explorer-tap".to_owned()));
        Explorer::bind(&Flags::of(arguments))
    }

    fn wrong(explorer: Option<&str>, tap: bool) -> String {
        match bind(explorer, tap) {
            Err(Failed::Wrong(why)) => why,
            Err(Failed::Start(error)) => panic!("{error}"),
            Err(Failed::Data(refused)) => panic!("{refused}"),
            Ok(_) => panic!("it was not refused"),
        }
    }

    #[test]
    fn no_address_means_no_explorer_and_no_tap() {
        let (explorer, tap) = bind(None, false).expect("nothing was asked for");
        assert!(explorer.is_none() && !tap.is_there());
        assert!(wrong(None, true).contains("--explorer"));
    }

    #[test]
    fn page_is_served_if_built_in_and_an_error_otherwise() {
        match PAGE {
            Some(_) => {
                let (explorer, tap) = bind(Some("127.0.0.1:0"), true).expect("a page");
                assert!(explorer.is_some() && tap.is_there());
                let (explorer, tap) = bind(Some("0.0.0.0:0"), false).expect("a page");
                assert!(explorer.is_some() && !tap.is_there());
                let why = wrong(Some("0.0.0.0:0"), true);
                assert!(
                    why.contains("loopback") && why.contains("0.0.0.0:0"),
                    "{why}"
                );
            }
            None => {
                let why = wrong(Some("127.0.0.1:0"), false);
                assert!(why.contains("'cargo xtask web'"), "{why}");
            }
        }
    }
}
