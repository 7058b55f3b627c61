//! Orders what a search has found, with ties as Redis leaves them.

use core::cmp::Ordering;

/// Compares items. It need not be an order: distances may not be numbers.
type Compare<'c, T> = &'c dyn Fn(&T, &T) -> Ordering;

/// Orders all items like the `qsort` of the GNU C library, which keeps the order of equal ones. O(n log n).
pub(super) fn sort_all<T: Clone>(items: &mut [T], compare: Compare<'_, T>) {
    if items.len() < 2 {
        return;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    sort_all(left, compare);
    sort_all(right, compare);
    let left = left.to_vec();
    let (mut from_left, mut from_right) = (0, left.len());
    for at in 0..items.len() {
        if from_left == left.len() {
            return;
        }
        let takes_left = from_right == items.len()
            || compare(&left[from_left], &items[from_right]) != Ordering::Greater;
        if takes_left {
            items[at] = left[from_left].clone();
            from_left += 1;
        } else {
            items.swap(at, from_right);
            from_right += 1;
        }
    }
}

/// Orders items so far that the first `wanted` are right, by the quicksort of Bentley and McIlroy that Redis has for it.
///
/// O(n log n): items that are arranged against the quicksort are ordered by [`sort_all`].
pub(super) fn sort_first<T: Clone>(items: &mut [T], wanted: usize, compare: Compare<'_, T>) {
    let depth_max = 4 * (items.len() | 1).ilog2() + 8;
    sort_first_within(items, wanted, compare, depth_max);
}

fn sort_first_within<T: Clone>(
    mut items: &mut [T],
    mut wanted: usize,
    compare: Compare<'_, T>,
    mut depth_max: u32,
) {
    loop {
        let len = items.len();
        if len < 7 {
            for end in 1..len {
                let mut at = end;
                while at > 0 && compare(&items[at - 1], &items[at]) == Ordering::Greater {
                    items.swap(at, at - 1);
                    at -= 1;
                }
            }
            return;
        }
        if depth_max == 0 {
            return sort_all(items, compare);
        }
        depth_max -= 1;
        items.swap(0, pivot(items, compare));
        let (less, greater) = partition(items, compare);
        if less > 1 {
            sort_first_within(&mut items[..less], wanted, compare, depth_max);
        }
        // The part behind the pivots is ordered if it has wanted items.
        let behind = len - greater;
        if greater <= 1 || wanted <= behind {
            return;
        }
        wanted -= behind;
        items = &mut items[behind..];
    }
}

/// Chooses the item around which others are ordered.
fn pivot<T>(items: &[T], compare: Compare<'_, T>) -> usize {
    let len = items.len();
    let median = |a: usize, b: usize, c: usize| {
        let is = |a: usize, b: usize, order| compare(&items[a], &items[b]) == order;
        if is(a, b, Ordering::Less) {
            if is(b, c, Ordering::Less) {
                b
            } else if is(a, c, Ordering::Less) {
                c
            } else {
                a
            }
        } else if is(b, c, Ordering::Greater) {
            b
        } else if is(a, c, Ordering::Less) {
            a
        } else {
            c
        }
    };
    let (mut first, mut middle, mut last) = (0, len / 2, len - 1);
    if len > 7 {
        if len > 40 {
            let eighth = len / 8;
            first = median(first, first + eighth, first + 2 * eighth);
            middle = median(middle - eighth, middle, middle + eighth);
            last = median(last - 2 * eighth, last - eighth, last);
        }
        middle = median(first, middle, last);
    }
    middle
}

/// Moves the items that belong before the first one to the front, and those behind it to the end. Returns the lengths
/// of both parts.
fn partition<T>(items: &mut [T], compare: Compare<'_, T>) -> (usize, usize) {
    let len = items.len();
    // Equal ones are collected at both ends: before `low_end`, and from `high_end` on. `high` is one behind.
    let (mut low_end, mut low) = (1, 1);
    let (mut high, mut high_end) = (len, len);
    loop {
        while low < high {
            let order = compare(&items[low], &items[0]);
            if order == Ordering::Greater {
                break;
            }
            if order == Ordering::Equal {
                items.swap(low_end, low);
                low_end += 1;
            }
            low += 1;
        }
        while low < high {
            let order = compare(&items[high - 1], &items[0]);
            if order == Ordering::Less {
                break;
            }
            if order == Ordering::Equal {
                high_end -= 1;
                items.swap(high - 1, high_end);
            }
            high -= 1;
        }
        if low >= high {
            break;
        }
        items.swap(low, high - 1);
        low += 1;
        high -= 1;
    }
    let (less, greater) = (low - low_end, high_end - high);
    let swap_ranges = |items: &mut [T], a: usize, b: usize, len: usize| {
        (0..len).for_each(|at| items.swap(a + at, b + at));
    };
    let moved = low_end.min(less);
    swap_ranges(items, 0, low - moved, moved);
    let moved = greater.min(len - high_end);
    swap_ranges(items, low, len - moved, moved);
    (less, greater)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_ordered_and_equal_ones_stay_in_order() {
        for len in 0..60_u64 {
            let items: Vec<(u64, u64)> = (0..len).map(|nth| (nth * 7 % 5, nth)).collect();
            let compare = |a: &(u64, u64), b: &(u64, u64)| a.0.cmp(&b.0);
            let (mut all, mut expected) = (items.clone(), items.clone());
            expected.sort_by_key(|item| item.0);
            sort_all(&mut all, &compare);
            assert_eq!(all, expected);
            for wanted in 1..=len as usize {
                let mut some = items.clone();
                sort_first(&mut some, wanted, &compare);
                let keys = |items: &[(u64, u64)]| {
                    items[..wanted]
                        .iter()
                        .map(|item| item.0)
                        .collect::<Vec<_>>()
                };
                assert_eq!(keys(&some), keys(&expected));
                some.sort_unstable();
                let mut whole = items.clone();
                whole.sort_unstable();
                assert_eq!(some, whole);
            }
        }
    }

    #[test]
    fn comparison_that_is_no_order_ends() {
        let compare = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or(Ordering::Less);
        for len in 0..100_usize {
            let mut items: Vec<f64> = (0..len)
                .map(|nth| if nth % 3 == 0 { f64::NAN } else { nth as f64 })
                .collect();
            sort_first(&mut items, 5, &compare);
            sort_all(&mut items, &compare);
            assert_eq!(items.len(), len);
        }
    }
}
