//! Redis's `BLPOP` for one key, on lists of the program's own: how to write a blocking command.

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, Error, Later, NoKeys, Null, Router};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
pub(crate) struct List {
    elements: VecDeque<Bytes>,
    waiting: VecDeque<Later>,
}

#[derive(Clone, Default)]
pub(crate) struct Lists(pub(crate) Arc<Mutex<HashMap<Bytes, List>>>);

impl App for Lists {
    type Conn = ();
    type Keys = NoKeys;
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
    timeout: f64, // in seconds; 0 is for ever
}

impl Lists {
    /// Changes a list, and gives its elements to the waiting clients. Empty lists are removed.
    fn on(&self, key: &Bytes, change: impl FnOnce(&mut List)) -> usize {
        let mut lists = self.0.lock().expect("no one panics with it");
        let list = lists.entry(key.clone()).or_default();
        change(list);
        let len = list.elements.len();
        list.waiting.retain(|later| !later.cancelled());
        while let Some(element) = list.elements.front()
            && let Some(later) = list.waiting.pop_front()
        {
            if later.reply((key.clone(), element.clone())) {
                list.elements.pop_front();
            }
        }
        if list.elements.is_empty() && list.waiting.is_empty() {
            lists.remove(key);
        }
        len
    }
}

pub(crate) fn router() -> Router<Lists> {
    Router::new(Lists::default())
        .command("RPUSH", |cx, a: Push| {
            cx.app().on(&a.key, |it| it.elements.extend(a.elements))
        })
        .deferred("BLPOP", |cx, pop: Pop, later| {
            let later = match Duration::try_from_secs_f64(pop.timeout) {
                Err(_) => return (_ = later.reply(Error::fixed("ERR timeout is negative"))),
                Ok(Duration::ZERO) => later,
                Ok(timeout) => later.deadline(timeout, Null),
            };
            let (lists, key) = (cx.app().clone(), pop.key.clone());
            later.on_cancel(move || _ = lists.on(&key, |_| ()));
            cx.app().on(&pop.key, |list| list.waiting.push_back(later));
        })
}

fn main() -> std::io::Result<()> {
    let stop = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", stop).map(drop)
}
