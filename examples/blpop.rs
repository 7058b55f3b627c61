//! Redis's `BLPOP` for one key, on lists of one's own: what a blocking command is made of.

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, Error, Later, Null, Router};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

#[derive(Default)]
struct List {
    elements: VecDeque<Bytes>,
    waiting: VecDeque<Later>,
}

#[derive(Default)]
pub(crate) struct Lists(Mutex<HashMap<Bytes, List>>);

impl App for Lists {
    type Conn = ();
}

#[derive(Args)]
#[args(write)]
struct Push {
    #[arg(key)]
    key: Bytes,
    elements: Vec<Bytes>,
}

#[derive(Args)]
#[args(write, blocking)]
struct Pop {
    #[arg(key)]
    key: Bytes,
    /// In seconds; 0 is for ever.
    timeout: f64,
}

/// Hands elements to those who wait; whoever waits no longer takes none.
fn serve_waiting(key: &Bytes, list: &mut List) {
    while let Some(element) = list.elements.pop_front() {
        let Some(later) = list.waiting.pop_front() else {
            return list.elements.push_front(element);
        };
        if !later.reply((key.clone(), element.clone())) {
            list.elements.push_front(element);
        }
    }
}

pub(crate) fn router() -> Router<Lists> {
    Router::new(Lists::default())
        .command("RPUSH", |cx, push: Push| {
            let mut lists = cx.app().0.lock().expect("no one panics with it");
            let list = lists.entry(push.key.clone()).or_default();
            list.elements.extend(push.elements);
            let len = list.elements.len();
            serve_waiting(&push.key, list);
            len
        })
        .deferred("BLPOP", |cx, pop: Pop, mut later| {
            let Ok(timeout) = Duration::try_from_secs_f64(pop.timeout) else {
                later.reply(Error::fixed("ERR timeout is negative"));
                return;
            };
            if !timeout.is_zero() {
                later = later.deadline(timeout, Null);
            }
            let mut lists = cx.app().0.lock().expect("no one panics with it");
            let list = lists.entry(pop.key.clone()).or_default();
            list.waiting.retain(|other| !other.cancelled());
            list.waiting.push_back(later);
            serve_waiting(&pop.key, list);
        })
}

fn main() -> std::io::Result<()> {
    let stop = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", stop).map(drop)
}
