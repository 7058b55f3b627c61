//! Cuts have the state after exactly the units up to their ticket.

use super::*;
use crate::Cut;

type Contents = Vec<(u32, Vec<u8>, String)>;

/// Adds what a step of the cut gives, and returns whether there is more.
fn step(cut: &mut Cut<&Store>, given: &mut Contents) -> bool {
    cut.step(|db, key, entry| given.push((db, key.to_vec(), shown(entry))))
}

/// A cut in progress, with the store's contents when it was taken.
struct Open<'s> {
    cut: Cut<&'s Store>,
    expected: Contents,
    given: Contents,
}

#[test]
fn cut_gives_the_contents_of_its_moment_however_its_steps_and_changes_alternate() {
    let (mut compared, mut aborted, mut kept) = (0, 0, 0);
    for seed in 0..1_500_u64 {
        let store = Arc::new(Store::new(Config {
            databases: 3,
            shards: 2 << (seed % 3),
            ..Config::default()
        }));
        let mut open: Option<Open<'_>> = None;
        for at in 0..90 {
            let random = mix(seed << 32 | at);
            change(&store, mix(random), at);
            match (&mut open, random % 16) {
                (None, 0..4) if at > 20 => {
                    let expected = contents(&store);
                    let cut = store.cut().expect("none is running");
                    open = Some(Open {
                        cut,
                        expected,
                        given: Contents::new(),
                    });
                }
                (Some(_), 0) if random >> 60 == 0 => {
                    open = None;
                    aborted += 1;
                }
                (Some(it), 1..8) => {
                    if step(&mut it.cut, &mut it.given) {
                        continue;
                    }
                    kept += usize::from(it.cut.queued_bytes_most() > 0);
                    it.given.sort();
                    assert_eq!(it.given, it.expected, "seed {seed}, step {at}");
                    compared += it.expected.len();
                    open = None;
                }
                _ => {}
            }
        }
    }
    assert!(
        compared > 15_000 && aborted > 150 && kept > 600,
        "{compared} {aborted} {kept}"
    );
}

#[test]
fn cut_has_exactly_the_units_up_to_its_ticket_while_threads_write() {
    let (copy, (store, log)) = (store(), observed(Interest::EFFECTS));
    log.heard.lock().expect("no observer panics").cuts = true;
    let running = std::sync::atomic::AtomicUsize::new(3);
    let mut cuts = Vec::new();
    thread::scope(|scope| {
        for thread in 0..3 {
            let (store, running) = (&store, &running);
            scope.spawn(move || {
                for step in 0..2_000_u64 {
                    change(store, mix(thread << 32 | step), step);
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while running.load(Ordering::Relaxed) > 0 {
            let mut cut = store.cut().expect("none is running");
            if cut.ticket().number() % 5 == 0 {
                continue;
            }
            let mut given = Contents::new();
            while step(&mut cut, &mut given) {}
            given.sort();
            cuts.push((cut.ticket().number(), given));
        }
    });
    let mut heard = log.take();
    heard.sort(1);
    assert!(heard.renewed.len() > 50 && cuts.len() > 5, "{}", cuts.len());
    let mut units = heard.units.into_iter().peekable();
    for (ticket, given) in cuts {
        while let Some((_, effects)) = units.next_if(|unit| unit.0 <= ticket) {
            effects.into_iter().for_each(|effect| effect.apply(&copy));
        }
        assert_eq!(given, contents(&copy), "after {ticket}");
    }
}

#[test]
fn units_on_the_two_sides_of_a_cut_have_tickets_that_differ_in_their_generation() {
    #[derive(Default)]
    struct Tickets(Mutex<Vec<Ticket>>);
    impl Observer for Tickets {
        fn unit_ended(&self, ticket: Ticket) {
            self.0.lock().expect("no observer panics").push(ticket);
        }
    }
    let (store, tickets) = (store(), Arc::new(Tickets::default()));
    store.observe(Arc::clone(&tickets) as _, Interest::EFFECTS);
    let set = || {
        let mut view = store.view(0, 0);
        view.update(b"k", |slot| slot.set(1, Expiry::Clear));
    };
    let mut sides = Vec::new();
    for round in 0..3 {
        set();
        let cut = store.cut().expect("none is running");
        assert_eq!(cut.ticket().number(), 2 * round + 1);
        set();
        drop(cut);
        let ended = core::mem::take(&mut *tickets.0.lock().expect("no observer panics"));
        let numbers: Vec<u64> = ended.iter().map(|ticket| ticket.number()).collect();
        assert_eq!(numbers, [2 * round + 1, 2 * round + 2]);
        sides.extend(ended.iter().map(|ticket| ticket.is_of_odd_cut()));
    }
    assert_eq!(sides, [false, true, true, false, false, true]);
}
