//! The servers of the comparison: one handler behind RESP in both flavours, and behind HTTP. Each
//! runs as a process of its own.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use respire::net::{Config, Listeners, clock};
use respire::serve::{Flavour, Shutdown};
use respire::{Engine, Options};
use respire_bench::error::{Error, Result};
use respire_bench::launch::Probe;
use tokio::net::TcpListener;

use super::bench_command::{Bench, router};
use super::call::{Call, JsonReply, PATH};
use crate::cli::{HttpServerArgs, Service};

impl Service {
    /// How to find out that it is ready.
    pub(super) fn probe(self) -> Probe {
        match self {
            Self::Tokio | Self::Mio => Probe::Ping,
            Self::Axum => Probe::Connect,
        }
    }

    /// How many threads it uses if `threads` are requested.
    pub(super) fn threads(self, threads: usize) -> usize {
        match self {
            Self::Mio => Flavour::Mio.threads(threads),
            Self::Tokio | Self::Axum => threads,
        }
    }
}

/// Serves until the process is asked to stop.
///
/// # Errors
/// [`Error::Io`] if it cannot listen or serve.
pub fn serve(args: &HttpServerArgs) -> Result<bool> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let served = match args.service {
        Service::Tokio => resp(Flavour::Tokio, address, args.threads),
        Service::Mio => resp(Flavour::Mio, address, args.threads),
        Service::Axum => http(address, args.threads),
    };
    served.map_err(Error::io(format!("serve on {address}")))?;
    Ok(true)
}

fn resp(flavour: Flavour, address: SocketAddr, threads: usize) -> std::io::Result<()> {
    let config = Config {
        threads,
        ..Config::default()
    };
    let listeners = Listeners::on(&[address], &config)?;
    let engine = Engine::new(router(), Options::default(), clock::now());
    flavour.serve(listeners, engine, config, Shutdown::on_signals()?)?;
    Ok(())
}

fn http(address: SocketAddr, threads: usize) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_io()
        .enable_time()
        .build()?;
    let routes = axum::Router::new().route(PATH, get(answer_text).post(answer_json));
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await?.tap_io(|stream| {
            // As the RESP servers do. A failure means that the connection is gone.
            drop(stream.set_nodelay(true));
        });
        axum::serve(listener, routes).await
    })
}

/// The HTTP response to a refused call.
type Refused = (StatusCode, String);

async fn answer_text(Query(call): Query<Call>) -> std::result::Result<Response, Refused> {
    let reply = reply(call)?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], reply).into_response())
}

async fn answer_json(Json(call): Json<Call>) -> std::result::Result<Response, Refused> {
    let reply = reply(call)?;
    let reply = str::from_utf8(&reply).expect("text repeated is text");
    Ok(Json(JsonReply { reply }).into_response())
}

fn reply(call: Call) -> std::result::Result<Bytes, Refused> {
    let bench = Bench {
        payload: call.payload.into(),
        times: call.times,
    };
    let refuse = |error: respire::Error| {
        let text = String::from_utf8_lossy(error.text()).into_owned();
        (StatusCode::BAD_REQUEST, text)
    };
    bench.reply().map_err(refuse)
}

#[cfg(test)]
mod tests {
    use respire::{NoWake, Output, Peer};

    use super::super::call::tests::call;
    use super::*;

    /// The reply of the RESP servers to a call.
    fn resp(call: &Call) -> Vec<u8> {
        let now = clock::now();
        let engine = Engine::new(router(), Options::default(), now);
        let session = engine.connect(Peer::default(), Box::new(NoWake), now);
        let mut session = session.unwrap();
        let (mut request, mut out) = (Vec::new(), Output::new());
        call.write_resp(&mut request);
        let _waits = session.serve(&request, now, &mut out);
        out.to_vec()
    }

    #[test]
    fn resp_reply_is_the_payload_repeated() {
        let text = call().reply();
        assert_eq!(
            resp(&call()),
            format!("${}\r\n{text}\r\n", text.len()).as_bytes()
        );
    }

    #[test]
    fn reply_above_the_limit_is_refused() {
        assert_eq!(reply(call()).unwrap(), call().reply());
        let long = Call {
            times: 100_000,
            ..call()
        };
        let refused = resp(&long);
        assert!(
            refused.starts_with(b"-TOOLONG "),
            "{}",
            refused.escape_ascii()
        );
        let (status, text) = reply(long).unwrap_err();
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(text.contains("1048576"), "{text}");
    }
}
