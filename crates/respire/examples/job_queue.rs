//! A job queue: a blocking take that needs no thread per waiting client, and pushes to watching
//! clients.

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, Later, NoKeys, Null, Pusher, Router};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Bytes>,
    takers: VecDeque<Later>,
    watchers: Vec<Pusher>,
}

#[derive(Default)]
pub(crate) struct Queues(Mutex<HashMap<Bytes, Queue>>);

impl App for Queues {
    type Conn = ();
    type Keys = NoKeys;
}

impl Queues {
    fn on(&self, name: Bytes, act: impl FnOnce(&mut Queue)) {
        let mut all = self.0.lock().expect("no one panics with it");
        act(all.entry(name).or_default());
    }
}

#[derive(Args)]
struct Put {
    queue: Bytes,
    job: Bytes,
}

#[derive(Args)]
#[args(blocking)]
struct Take {
    queue: Bytes,
    wait_ms: u64,
}

#[derive(Args)]
struct Watch {
    queue: Bytes,
}

fn put(q: &mut Queue, job: &Bytes) {
    q.watchers.retain(|w| w.push(("job", job.clone())).is_ok());
    // A client whose time is over, or that has gone, takes nothing: try the next one.
    let mut takers = std::iter::from_fn(|| q.takers.pop_front());
    if !takers.any(|taker| taker.reply(job.clone())) {
        q.jobs.push_back(job.clone());
    }
}

pub(crate) fn router() -> Router<Queues> {
    Router::new(Queues::default())
        .command("JOB.PUT", |cx, a: Put| {
            cx.app().on(a.queue, |it| put(it, &a.job))
        })
        .deferred("JOB.TAKE", |cx, a: Take, later| {
            let later = later.deadline(Duration::from_millis(a.wait_ms), Null);
            cx.app().on(a.queue, |it| {
                it.takers.retain(|other| !other.cancelled());
                match it.jobs.pop_front() {
                    Some(job) => _ = later.reply(job),
                    None => it.takers.push_back(later),
                }
            });
        })
        .command("JOB.WATCH", |cx, a: Watch| {
            cx.app().on(a.queue, |it| it.watchers.push(cx.pusher()))
        })
}

fn main() -> std::io::Result<()> {
    let stop = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", stop).map(drop)
}
