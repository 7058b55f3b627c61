//! The protocol explorer's page, and the live view in it, as the flags ask for them.

use crate::failed::Failed;
use crate::flags::Flags;
use respire::commands::Kv;
use respire::engine::Engine;
use respire::explorer::{ExplorerListener, ExplorerServer, Page};
use respire::net::tap::{Listener, Tap};
use std::io;
use std::sync::Arc;

/// The page, packed by gzip, if it was there when this was built.
const PAGE: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/explorer.rs"));

const NO_PAGE: &str = "--explorer: this program was built without the page; in the source tree, \
    'cargo xtask web' builds the page (it needs Node), and 'cargo build --release' then puts it in";

/// An explorer that nobody is shown yet.
#[derive(Debug)]
pub(crate) struct Explorer {
    listener: ExplorerListener,
    page: Page,
    tap: Option<Listener>,
}

impl Explorer {
    /// What the flags ask for, and where connections bring copies of their traffic.
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

    /// Shows it until the returned value is dropped.
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
            Ok(_) => panic!("it was not refused"),
        }
    }

    #[test]
    fn without_an_address_there_is_nothing_and_no_tap() {
        let (explorer, tap) = bind(None, false).expect("nothing was asked for");
        assert!(explorer.is_none() && !tap.is_there());
        assert!(wrong(None, true).contains("--explorer"));
    }

    #[test]
    fn what_was_built_in_is_shown_and_what_was_not_is_said() {
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
