//! The choice of coming executions that are run ahead of their turn.

/// So many executions are chosen at once, whatever the number of workers is: what one of them leads to comes after all of
/// these, so that they can be run side by side. With one alone, a search that goes deep would always come to executions that
/// could not be known of before.
pub(super) const WINDOW: usize = 32;

/// Chooses among the coming executions, in order, the one that is run ahead now; `taken` says of each whether a worker has it
/// already. The first is left to the worker that runs the search, and so is one in `others` + 1 of those behind it: it should
/// find results when it gets there, and not wait for others that have just begun. Where all the rest is taken, of these the
/// last.
pub(super) fn choose(taken: impl Iterator<Item = bool>, others: usize) -> Option<usize> {
    let (mut in_row, mut last) = (others, None);
    for (at, taken) in taken.enumerate() {
        if taken {
            in_row += 1;
        } else if in_row < others {
            return Some(at);
        } else {
            in_row = 0;
            last = (at > 0).then_some(at);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_has_its_share_until_all_others_are_taken() {
        let order = |others| {
            let mut taken = [false; 7];
            let mut order = Vec::new();
            while let Some(at) = choose(taken.iter().copied(), others) {
                assert!(!std::mem::replace(&mut taken[at], true));
                order.push(at);
            }
            order
        };
        assert_eq!(order(1), [1, 3, 5, 6, 4, 2]);
        assert_eq!(order(2), [1, 2, 4, 5, 6, 3]);
        assert_eq!(choose([].into_iter(), 1), None);
        assert_eq!(choose([false].into_iter(), 1), None);
    }
}
