//! The scripts that the server knows, by their names.

use crate::limits::EVALUATED_MAX;
use crate::script::{Script, Sha};
use std::collections::HashMap;
use std::sync::Arc;

/// The scripts of a server.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    scripts: HashMap<Sha, Arc<Script>>,
    evaluated: usize,
    bytes: usize,
}

impl Cache {
    pub(crate) fn get(&self, sha: Sha) -> Option<Arc<Script>> {
        self.scripts.get(&sha).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.scripts.len()
    }

    /// The bytes of all scripts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a script, unless there is one of its name. Returns the one that is kept, and whether
    /// another one had to go. O(number of scripts) if so.
    pub(crate) fn add(&mut self, script: Script, is_loaded: bool) -> (Arc<Script>, bool) {
        if let Some(kept) = self.scripts.get(&script.sha) {
            if is_loaded && !kept.is_loaded() {
                kept.mark_loaded();
                self.evaluated -= 1;
            }
            return (Arc::clone(kept), false);
        }
        let mut has_evicted = false;
        if is_loaded {
            script.mark_loaded();
        } else {
            has_evicted = self.evaluated >= EVALUATED_MAX && self.evict();
            self.evaluated += 1;
        }
        self.bytes += script.bytes();
        let script = Arc::new(script);
        self.scripts.insert(script.sha, Arc::clone(&script));
        (script, has_evicted)
    }

    /// Removes the script of `EVAL` that has not run for the longest time.
    fn evict(&mut self) -> bool {
        let evaluated = self.scripts.values().filter(|script| !script.is_loaded());
        let Some(oldest) = evaluated.min_by_key(|script| script.used_us()) else {
            return false;
        };
        let oldest = oldest.sha;
        if let Some(script) = self.scripts.remove(&oldest) {
            self.bytes -= script.bytes();
            self.evaluated -= 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(number: usize) -> Script {
        let body = format!("return {number}");
        let script = Script::new(Sha::of(body.as_bytes()), body.as_bytes()).unwrap();
        script.use_at(number as u64);
        script
    }

    #[test]
    fn evaluated_scripts_are_bounded_and_loaded_ones_stay() {
        let mut cache = Cache::default();
        cache.add(script(0), true);
        let evicted = (1..=EVALUATED_MAX + 10).filter(|number| cache.add(script(*number), false).1);
        assert_eq!(evicted.count(), 10);
        assert_eq!(cache.len(), EVALUATED_MAX + 1);
        assert!(cache.get(script(0).sha).is_some());
        assert!(cache.get(script(1).sha).is_none());
        assert!(cache.get(script(11).sha).is_some());
        let bytes: usize = cache.scripts.values().map(|script| script.bytes()).sum();
        assert_eq!(cache.bytes(), bytes);
    }

    #[test]
    fn loading_an_evaluated_script_makes_it_stay() {
        let mut cache = Cache::default();
        cache.add(script(1), false);
        cache.add(script(1), true);
        assert_eq!((cache.len(), cache.evaluated), (1, 0));
    }
}
