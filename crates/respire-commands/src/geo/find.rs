//! Finds the members of a set in an area: those of a few cells, each of which is a range of scores.

use super::cell::Point;
use super::request::{Hit, Request};
use super::shape::Shape;
use core::ops::Range;
use respire_store::packed::listpack::Element;
use respire_store::{Bound, Elements, Scored, ZSetRef};

/// This many members are looked at before it is asked whether they are enough.
const CHUNK: usize = 64;

/// The members in the cells that cover an area.
pub(super) struct Points<'e> {
    members: Members<'e>,
    /// The ranks of the members of each cell.
    cells: Vec<Range<usize>>,
}

enum Members<'e> {
    /// All members of a packed set, which is searched from its start, so each would be read for each cell.
    Few(Vec<Scored<'e>>),
    Many(ZSetRef<'e>),
}

impl<'e> Members<'e> {
    fn new(set: ZSetRef<'e>) -> Self {
        if matches!(set, ZSetRef::Large(_)) {
            return Self::Many(set);
        }
        let mut members = Vec::with_capacity(set.len());
        set.for_each(&mut |member| members.push(member));
        Self::Few(members)
    }

    /// The number of members with lower scores.
    fn count_below(&self, score: f64) -> usize {
        match self {
            Self::Few(members) => members.partition_point(|(_, its)| *its < score),
            Self::Many(set) => set.count_below(Bound::BelowScore(score)),
        }
    }

    fn for_range(&self, ranks: Range<usize>, f: &mut dyn FnMut(Scored<'e>)) {
        match self {
            Self::Few(members) => members[ranks].iter().copied().for_each(f),
            Self::Many(set) => set.for_range(ranks.start, ranks.len(), false, f),
        }
    }
}

impl<'e> Points<'e> {
    /// Finds the cells of the area. O(log n), or O(n) if the set is packed.
    pub(super) fn new(set: ZSetRef<'e>, shape: &Shape) -> Self {
        let members = Members::new(set);
        let ranks = |(min, max)| members.count_below(min)..members.count_below(max);
        let cells = shape.cells().map(|cell| ranks(cell.scores())).collect();
        Self { members, cells }
    }

    /// The number of members in the cells.
    pub(super) fn len(&self) -> usize {
        self.cells.iter().map(ExactSizeIterator::len).sum()
    }

    /// Returns the members in the area, in the order of the cells. `step` is called for each member of a cell, `name`
    /// for each in the area. O(members in the cells).
    pub(super) fn find<N>(
        &self,
        request: &Request,
        step: &mut dyn FnMut(),
        name: &mut dyn FnMut(Element<'e>) -> N,
    ) -> Vec<Hit<N>> {
        let limit = request.limit().unwrap_or(usize::MAX);
        let mut hits = Vec::new();
        for cell in &self.cells {
            let mut start = cell.start;
            while start < cell.end && hits.len() < limit {
                let end = match request.limit() {
                    Some(_) => cell.end.min(start + CHUNK),
                    None => cell.end,
                };
                self.members.for_range(start..end, &mut |(member, score)| {
                    step();
                    let distance = request.shape.distance_within(Point::of_score(score));
                    let distance = distance.filter(|_| hits.len() < limit);
                    hits.extend(distance.map(|distance| Hit {
                        name: name(member),
                        score,
                        distance,
                    }));
                });
                start = end;
            }
        }
        hits
    }
}
