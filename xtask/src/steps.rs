//! Runs the steps of a long chore: two or three side by side, since many mostly wait. Each step's
//! output is printed as a whole when it ends; a table at the end has the time of each step.

use crate::machine::cpu_of_this_thread;
use crate::output::buffered;
use crate::tally::Tally;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of steps in the background, besides the one that compiles. Tests wait for sockets and
/// programs most of their time.
const WORKERS: usize = 2;

/// Steps below this in both wall and CPU time share a row of the table.
const SMALL: Duration = Duration::from_secs(1);

/// The work of a step, which counts its checks in the tally.
type Work<'env> = Box<dyn FnOnce(&mut Tally) + Send + 'env>;

/// The times of a step.
struct Row {
    name: String,
    wall: Duration,
    cpu: Duration,
}

#[derive(Default)]
struct State<'env> {
    waiting: VecDeque<(String, Work<'env>)>,
    is_over: bool,
    rows: Vec<Row>,
    tally: Tally,
}

/// The steps of one chore.
pub(crate) struct Steps<'env> {
    began: Instant,
    state: Mutex<State<'env>>,
    changed: Condvar,
}

/// Runs a chore whose steps may run side by side, prints the table, and returns the sum.
pub(crate) fn steps<'env>(
    chore: impl FnOnce(&Steps<'env>) -> Result<(), String>,
) -> Result<(), String> {
    let steps = Steps {
        began: Instant::now(),
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    let outcome = thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| steps.work());
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| chore(&steps)));
        steps.lock().is_over = true;
        steps.changed.notify_all();
        // Nothing is left to compile, so this thread helps.
        steps.work();
        outcome
    });
    let state = steps.state.into_inner();
    let mut state = state.unwrap_or_else(PoisonError::into_inner);
    print!("{}", table(&state.rows, steps.began.elapsed()));
    let outcome = outcome.unwrap_or_else(|_| Err("it panicked".to_owned()));
    if outcome.is_err() {
        state.tally.check("every step begins", outcome);
    }
    state.tally.finish()
}

impl<'env> Steps<'env> {
    /// Runs a step at once, on this thread.
    pub(crate) fn now(&self, name: &str, step: impl FnOnce(&mut Tally)) {
        println!("-- {name} begins");
        let began = Instant::now();
        let cpu = cpu_of_this_thread();
        let mut tally = Tally::default();
        let (outcome, said) = buffered(|| catch_unwind(AssertUnwindSafe(|| step(&mut tally))));
        let (wall, cpu) = (began.elapsed(), cpu_of_this_thread() - cpu);
        let mut state = self.lock();
        println!(
            "\n== {name} ({:.1} s)\n{}",
            wall.as_secs_f64(),
            said.trim_end()
        );
        if outcome.is_err() {
            state.tally.check(name, Err("it panicked".to_owned()));
        }
        state.tally.add(tally);
        let name = name.to_owned();
        state.rows.push(Row { name, wall, cpu });
    }

    /// Queues a step for the background; it runs as soon as a worker is free.
    pub(crate) fn background(&self, name: &str, step: impl FnOnce(&mut Tally) + Send + 'env) {
        let job: (String, Work<'env>) = (name.to_owned(), Box::new(step));
        self.lock().waiting.push_back(job);
        self.changed.notify_one();
    }

    /// Runs queued steps until none is left and no more will come.
    fn work(&self) {
        loop {
            let mut state = self.lock();
            let (name, step) = loop {
                if let Some(job) = state.waiting.pop_front() {
                    break job;
                }
                if state.is_over {
                    return;
                }
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            self.now(&name, step);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'env>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The times of each step, in the order in which they ended.
fn table(rows: &[Row], wall: Duration) -> String {
    let mut text = format!("\n{:>8} {:>8}\n", "wall s", "CPU s");
    let mut row = |wall: Duration, cpu: Duration, name: &str| {
        let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{wall:8.1} {cpu:8.1}  {name}");
    };
    let is_small = |row: &&Row| row.wall < SMALL && row.cpu < SMALL;
    for Row { name, wall, cpu } in rows.iter().filter(|row| !is_small(row)) {
        row(*wall, *cpu, name);
    }
    let small: Vec<&Row> = rows.iter().filter(is_small).collect();
    if !small.is_empty() {
        let sum = |what: fn(&Row) -> Duration| small.iter().copied().map(what).sum();
        let name = format!("{} steps of less than a second", small.len());
        row(sum(|row| row.wall), sum(|row| row.cpu), &name);
    }
    row(
        wall,
        rows.iter().map(|row| row.cpu).sum(),
        "all, side by side",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_steps_are_done_and_counted_before_the_chore_ends() {
        let outcome = steps(|steps| {
            for step in ["a", "b", "c"] {
                steps.background(step, |tally| {
                    tally.count_line("test result: ok. 2 passed; 0 failed")
                });
            }
            steps.now("d", |tally| tally.check("d", Err("it broke".to_owned())));
            Ok(())
        });
        assert_eq!(outcome, Err("6 passed, 1 failed".to_owned()));
    }

    #[test]
    fn step_that_panics_fails_the_chore() {
        let outcome = steps(|steps| {
            steps.background("a", |_| assert_eq!(1, 2));
            Ok(())
        });
        assert_eq!(outcome, Err("0 passed, 1 failed".to_owned()));
    }

    #[test]
    fn failing_chore_keeps_the_counts_so_far() {
        let outcome = steps(|steps| {
            steps.background("a", |tally| {
                tally.count_line("test result: ok. 2 passed; 0 failed")
            });
            Err("no target directory".to_owned())
        });
        assert_eq!(outcome, Err("2 passed, 1 failed".to_owned()));
    }

    #[test]
    fn table_sums_up_small_steps() {
        let row = |name: &str, wall, cpu| Row {
            name: name.to_owned(),
            wall: Duration::from_millis(wall),
            cpu: Duration::from_millis(cpu),
        };
        let rows = [row("a", 2500, 4000), row("b", 300, 100), row("c", 200, 100)];
        let expected = "\n  wall s    CPU s\n     2.5      4.0  a\n     0.5      0.2  2 steps of \
            less than a second\n     3.0      4.2  all, side by side\n";
        assert_eq!(table(&rows, Duration::from_secs(3)), expected);
    }
}
