//! What a search asks for. As in Redis, members are looked up while the arguments are read, so the first mistake is
//! the one that is reported.

use super::cell::Point;
use super::order::{sort_all, sort_first};
use super::read::{point, radius, width_and_height};
use super::shape::{Area, Shape};
use crate::errors::{GEO_ANY, GEO_COUNT, GEO_MEMBER, GEO_RADIUS_STORE, GEO_SEARCH_STORE, SYNTAX};
use crate::options::{Options, is_word};
use core::cmp::Ordering;
use respire_engine::{ArgList, Error};
use respire_store::ZSetRef;

/// The form of a command's arguments, and whether it may store what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `GEORADIUS`.
    Around { stores: bool },
    /// `GEORADIUSBYMEMBER`.
    AroundMember { stores: bool },
    /// `GEOSEARCH`, which has the place and the area among its options.
    Search { stores: bool },
}

/// Which of the found members come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// Those of the cells that are searched first.
    #[default]
    Unsorted,
    Nearest,
    Farthest,
}

/// What a search asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    /// Without meaning if there is no set.
    pub(super) shape: Shape,
    order: Order,
    /// The number of members wanted; 0 if all are.
    count: usize,
    /// Whether any members do, so that the search ends with the last one that is wanted.
    any: bool,
    pub(super) with_distance: bool,
    pub(super) with_hash: bool,
    pub(super) with_coordinates: bool,
    /// Whether distances are stored.
    pub(super) stores_distances: bool,
}

/// A member that was found, as a search keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<N> {
    pub(super) name: N,
    pub(super) score: f64,
    /// In meters. It may not be a number if the place is opposite to the center.
    pub(super) distance: f64,
}

impl Request {
    /// Reads the arguments, beginning with the key of the set that is searched. `name` is the command's name as it
    /// was sent.
    pub(super) fn parse(
        form: Form,
        name: &[u8],
        args: ArgList<'_>,
        set: Option<ZSetRef<'_>>,
    ) -> Result<Self, Error> {
        let mut parser = Parser {
            request: Self::default(),
            form,
            set,
            center: None,
            area: None,
            is_stored: form == Form::Search { stores: true },
        };
        let options = match form {
            Form::Around { .. } => {
                parser.request.shape.center = point(&args[1], &args[2])?;
                parser.circle(&args[3], &args[4])?;
                args.skip(5)
            }
            Form::AroundMember { .. } => {
                if parser.member(&args[1])? {
                    parser.circle(&args[2], &args[3])?;
                }
                args.skip(4)
            }
            Form::Search { .. } => args.skip(1),
        };
        let mut options = Options::new(options);
        while let Some(word) = options.next() {
            parser.option(word, &mut options)?;
        }
        parser.finish(name)
    }

    /// A request for all members in an area, in any order.
    #[cfg(test)]
    pub(super) fn of(shape: Shape) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }

    /// The number of members with which the search ends.
    pub(super) fn limit(&self) -> Option<usize> {
        self.any.then_some(self.count)
    }

    /// Orders the members that were found, and removes those that are not wanted.
    pub(super) fn choose<N: Clone>(&self, hits: &mut Vec<Hit<N>>) {
        let wanted = match self.count {
            0 => hits.len(),
            count => count.min(hits.len()),
        };
        let nearest = |a: &Hit<N>, b: &Hit<N>| {
            let order = a.distance.partial_cmp(&b.distance);
            order.unwrap_or(Ordering::Less)
        };
        let farthest = |a: &Hit<N>, b: &Hit<N>| nearest(a, b).reverse();
        let compare: &dyn Fn(&Hit<N>, &Hit<N>) -> Ordering = match self.order {
            Order::Unsorted => return hits.truncate(wanted),
            Order::Nearest => &nearest,
            Order::Farthest => &farthest,
        };
        if wanted == hits.len() {
            sort_all(hits, compare);
        } else {
            sort_first(hits, wanted, compare);
            hits.truncate(wanted);
        }
    }
}

/// How the center of a search was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Center {
    Member,
    Place,
}

struct Parser<'s> {
    request: Request,
    form: Form,
    set: Option<ZSetRef<'s>>,
    center: Option<Center>,
    /// The kind of the area, if it was among the options.
    area: Option<core::mem::Discriminant<Area>>,
    is_stored: bool,
}

impl Parser<'_> {
    fn option(&mut self, word: &[u8], options: &mut Options<'_>) -> Result<(), Error> {
        let request = &mut self.request;
        let left = options.len();
        let may_store = matches!(
            self.form,
            Form::Around { stores: true } | Form::AroundMember { stores: true }
        );
        if is_word(word, "WITHDIST") {
            request.with_distance = true;
        } else if is_word(word, "WITHHASH") {
            request.with_hash = true;
        } else if is_word(word, "WITHCOORD") {
            request.with_coordinates = true;
        } else if is_word(word, "ANY") {
            request.any = true;
        } else if is_word(word, "ASC") {
            request.order = Order::Nearest;
        } else if is_word(word, "DESC") {
            request.order = Order::Farthest;
        } else if left >= 1 && is_word(word, "COUNT") {
            let count = options.integer()?;
            if count <= 0 {
                return Err(GEO_COUNT);
            }
            request.count = usize::try_from(count).unwrap_or(usize::MAX);
        } else if may_store && left >= 1 && is_word(word, "STORE") {
            (self.is_stored, request.stores_distances) = (true, false);
            options.next();
        } else if may_store && left >= 1 && is_word(word, "STOREDIST") {
            (self.is_stored, request.stores_distances) = (true, true);
            options.next();
        } else if self.form == (Form::Search { stores: true }) && is_word(word, "STOREDIST") {
            request.stores_distances = true;
        } else if matches!(self.form, Form::Search { .. }) {
            return self.area_option(word, options);
        } else {
            return Err(SYNTAX);
        }
        Ok(())
    }

    /// Reads an option that only `GEOSEARCH` has.
    fn area_option(&mut self, word: &[u8], options: &mut Options<'_>) -> Result<(), Error> {
        let left = options.len();
        let is_free = |center| self.center.is_none_or(|given| given == center);
        let has_other = |area: &Area| {
            self.area
                .is_some_and(|given| given != core::mem::discriminant(area))
        };
        if left >= 1 && is_free(Center::Member) && is_word(word, "FROMMEMBER") {
            self.center = Some(Center::Member);
            self.member(options.value()?)?;
        } else if left >= 2 && is_free(Center::Place) && is_word(word, "FROMLONLAT") {
            self.center = Some(Center::Place);
            self.request.shape.center = point(options.value()?, options.value()?)?;
        } else if left >= 2 && !has_other(&Area::CIRCLE) && is_word(word, "BYRADIUS") {
            self.circle(options.value()?, options.value()?)?;
        } else if left >= 3 && !has_other(&Area::BOX) && is_word(word, "BYBOX") {
            let (width, height) = (options.value()?, options.value()?);
            let (width, height, unit) = width_and_height(width, height, options.value()?)?;
            self.set_area(Area::Box { width, height }, unit);
        } else {
            return Err(SYNTAX);
        }
        Ok(())
    }

    /// Searches around a member. Returns whether there is a set; without one, the arguments are still checked.
    fn member(&mut self, member: &[u8]) -> Result<bool, Error> {
        let Some(set) = self.set else {
            return Ok(false);
        };
        let score = set.score(member).ok_or(GEO_MEMBER)?;
        self.request.shape.center = Point::of_score(score);
        Ok(true)
    }

    fn circle(&mut self, number: &[u8], word: &[u8]) -> Result<(), Error> {
        let (radius, unit) = radius(number, word)?;
        self.set_area(Area::Circle { radius }, unit);
        Ok(())
    }

    fn set_area(&mut self, area: Area, unit: f64) {
        self.area = Some(core::mem::discriminant(&area));
        (self.request.shape.area, self.request.shape.unit) = (area, unit);
    }

    /// Checks the options together.
    fn finish(mut self, name: &[u8]) -> Result<Request, Error> {
        let request = &mut self.request;
        let is_search = matches!(self.form, Form::Search { .. });
        let replies_more = request.with_distance || request.with_hash || request.with_coordinates;
        if self.is_stored && replies_more {
            return Err(if is_search {
                GEO_SEARCH_STORE
            } else {
                GEO_RADIUS_STORE
            });
        }
        if is_search && self.center.is_none() {
            let text = "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ";
            return Err(Error::quoting(text, name, ""));
        }
        if is_search && self.area.is_none() {
            let text = "ERR exactly one of BYRADIUS and BYBOX can be specified for ";
            return Err(Error::quoting(text, name, ""));
        }
        if request.any && request.count == 0 {
            return Err(GEO_ANY);
        }
        if request.count > 0 && request.order == Order::Unsorted && !request.any {
            request.order = Order::Nearest;
        }
        Ok(self.request)
    }
}
