//! Long work of a command that holds no keys: others are served meanwhile.

use super::long_calls::LongCall;
use crate::{App, Engine, Error, Host};
use std::fmt;

/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u32 = 256;

/// Work of so many nanoseconds is long. From then on, others are served this often.
const RELIEF_NS: u64 = 250_000;

/// The error for probes that ask whether the server is busy ([`Flags::PROBE`](crate::Flags::PROBE)).
const BUSY: Error = Error::fixed("BUSY Redis is busy running a command.");

/// Begins long work: an engine, whatever its application.
pub trait BeginLongWork {
    /// Returns the work, none of which is done yet. O(1), without a look at the clock.
    fn begin_long_work(&self) -> LongWork<'_>;
}

/// Work of a command on data of its own, such as snapshots. It says when it has done a step, and lets the driver
/// serve other connections if it takes long.
///
/// The command must hold no keys meanwhile: another command that needs them would wait for this one.
///
/// ```
/// use respire_engine::{BeginLongWork, Router};
///
/// let router = Router::new(()).command("SUM", |cx, ()| {
///     let mut work = cx.engine().begin_long_work();
///     let numbers = (0..1_000_000_i64).inspect(|_| work.step());
///     numbers.sum::<i64>()
/// });
/// # let mut client = router.client();
/// # assert_eq!(client.call("SUM"), 499_999_500_000);
/// ```
pub struct LongWork<'e> {
    begin: &'e dyn BeginLongCall,
    steps: u32,
    /// When the clock was read last, on the host's stopwatch; `None` before the first look.
    looked_ns: Option<u64>,
    call: Option<LongCall<'e>>,
}

/// What [`LongWork`] needs of an engine.
trait BeginLongCall {
    fn host(&self) -> &dyn Host;
    fn begin(&self, began_ns: u64) -> LongCall<'_>;
}

impl<A: App> BeginLongCall for Engine<A> {
    fn host(&self) -> &dyn Host {
        Engine::host(self)
    }

    fn begin(&self, began_ns: u64) -> LongCall<'_> {
        self.begin_long_call(began_ns, BUSY)
    }
}

impl<A: App> BeginLongWork for Engine<A> {
    fn begin_long_work(&self) -> LongWork<'_> {
        LongWork {
            begin: self,
            steps: 0,
            looked_ns: None,
            call: None,
        }
    }
}

impl LongWork<'_> {
    /// Says that a step is done, of at most a microsecond or so. Others may be served before it returns.
    #[inline]
    pub fn step(&mut self) {
        self.steps += 1;
        if self.steps == STEPS_PER_LOOK {
            self.steps = 0;
            self.look();
        }
    }

    #[inline(never)]
    fn look(&mut self) {
        let now_ns = self.begin.host().stopwatch_ns();
        let looked_ns = *self.looked_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(looked_ns) < RELIEF_NS {
            return;
        }
        let begin = self.begin;
        let call = self.call.get_or_insert_with(|| begin.begin(looked_ns));
        call.relieve();
        self.looked_ns = Some(self.begin.host().stopwatch_ns());
    }
}

impl fmt::Debug for LongWork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LongWork")
            .field("is_long", &self.call.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Now, Options, Relief, Router};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// A stopwatch that goes on by a step at each look.
    struct Stopwatch {
        now_ns: AtomicU64,
        step_ns: u64,
    }

    impl Host for Stopwatch {
        fn stopwatch_ns(&self) -> u64 {
            self.now_ns.fetch_add(self.step_ns, Ordering::Relaxed)
        }
    }

    /// Counts how often others were served, and the long calls at that time.
    #[derive(Default)]
    struct Others(AtomicU64);

    impl Relief for Others {
        fn relieve(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn others_are_served_every_quarter_of_a_millisecond_of_long_work() {
        for (step_ns, served) in [(1_000, 0), (RELIEF_NS / 4, 2), (RELIEF_NS, 9)] {
            let now = Now::new(Duration::ZERO, Duration::ZERO);
            let host = Arc::new(Stopwatch {
                now_ns: AtomicU64::new(7),
                step_ns,
            });
            let options = Options {
                host,
                ..Options::default()
            };
            let engine = Engine::new(Router::new(()), options, now);
            let others = Arc::new(Others::default());
            engine.set_relief(Arc::clone(&others) as Arc<dyn Relief>);
            let mut work = engine.begin_long_work();
            for _ in 0..10 * STEPS_PER_LOOK {
                work.step();
            }
            assert_eq!(others.0.load(Ordering::Relaxed), served, "{step_ns}");
            assert_eq!(engine.long_calls(), usize::from(served > 0));
            drop(work);
            assert_eq!(engine.long_calls(), 0);
        }
    }
}
