//! Structs over the wire: `JOB.PUT name job` takes a MessagePack payload, `JOB.GET name` returns one.
//!
//! ```console
//! $ cargo run --example messagepack
//! $ python3 -c 'import redis, msgpack; r = redis.Redis(port=7000)
//! > r.execute_command("JOB.PUT", "a", msgpack.packb({"kind": "mail", "due": 5}))
//! > print(msgpack.unpackb(r.execute_command("JOB.GET", "a")))'
//! {'kind': 'mail', 'due': 5}
//! ```

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Mp, NoKeys, Router};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The structure that clients send and receive, as a map of its fields.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Job {
    kind: String,
    due: u64,
}

/// The jobs by name.
#[derive(Default)]
pub struct Jobs(Mutex<HashMap<String, Job>>);

impl App for Jobs {
    type Conn = ();
    type Keys = NoKeys;
}

/// Keeps a job; says whether there was none of that name.
#[derive(Args)]
#[args(write)]
pub struct Put {
    #[arg(key)]
    name: String,
    job: Mp<Job>,
}

/// Returns a job.
#[derive(Args)]
#[args(readonly)]
pub struct Get(#[arg(key)] String);

/// A router with the commands.
pub fn router() -> Router<Jobs> {
    Router::new(Jobs::default())
        .command("JOB.PUT", |cx, put: Put| {
            let mut jobs = cx.app().0.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.insert(put.name, put.job.0).is_none()
        })
        .command("JOB.GET", |cx, Get(name): Get| {
            let jobs = cx.app().0.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.get(&name).cloned().map(Mp)
        })
}

fn main() -> std::io::Result<()> {
    let shutdown = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", shutdown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn job_round_trips_and_a_broken_one_is_explained() {
        let mut client = super::router().client();
        let job = b"\x82\xa4kind\xa4mail\xa3due\x05";
        assert_eq!(client.call(("JOB.PUT", "a", job)), true);
        assert_eq!(client.call("JOB.GET a").mp::<super::Job>().due, 5);
        let broken = client.call(("JOB.PUT", "a", &job[..10]));
        assert_eq!(
            broken.error(),
            "BADARG job at byte 10: the argument ends before the value"
        );
    }
}
