//! The probabilities with which random searches sample each partial order: computed, not sampled.
//!
//! All go through the program level by level: what has run, in which partial order, and what the search remembers. Two ways to
//! the same three are one from there on.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::programs::{Access, EVENTS, Order, Places, THREADS, Threads, able, append, conflict};

/// The probability of every partial order.
pub(crate) type Shares = FxHashMap<Order, f64>;

/// Takes what runs next, what is remembered after it, and the factor by which that weighs.
pub(crate) type Take<'a, M> = &'a mut dyn FnMut(&[usize], M, f64);

/// A search: its memory while it runs, and its next steps.
pub(crate) trait Search {
    type Memory: Clone + Eq + Hash;

    fn begin(&self) -> Vec<(Self::Memory, f64)>;

    /// Hands on each possible continuation of a point that was reached with one memory.
    fn step(&self, places: &Places, memory: &Self::Memory, next: Take<Self::Memory>);
}

/// # Panics
/// If the probabilities do not add up to 1.
pub(crate) fn shares<S: Search>(threads: &Threads, search: &S) -> Shares {
    type Level<M> = FxHashMap<(Places, Order), FxHashMap<M, f64>>;
    let mut levels: BTreeMap<usize, Level<S::Memory>> = BTreeMap::new();
    levels.entry(0).or_default().insert(Default::default(), search.begin().into_iter().collect());
    while let Some((level, states)) = levels.pop_first() {
        if level == THREADS * EVENTS {
            let total = |memories: FxHashMap<_, f64>| memories.into_values().sum();
            let shares: Shares =
                states.into_iter().map(|((_, order), memories)| (order, total(memories))).collect();
            assert!(
                (shares.values().sum::<f64>() - 1.0).abs() < 1e-9,
                "all partial orders have probability 1"
            );
            return shares;
        }
        for ((places, order), memories) in states {
            for (memory, weight) in memories {
                search.step(&places, &memory, &mut |run, memory, factor| {
                    let (mut places, mut order) = (places, order);
                    for &thread in run {
                        append(&mut order, thread, threads[thread][places[thread]]);
                        places[thread] += 1;
                    }
                    let after =
                        levels.entry(level + run.len()).or_default().entry((places, order)).or_default();
                    *after.entry(memory).or_default() += weight * factor;
                });
            }
        }
    }
    Shares::default()
}

struct Walk;

impl Search for Walk {
    type Memory = ();

    fn begin(&self) -> Vec<((), f64)> {
        vec![((), 1.0)]
    }

    fn step(&self, places: &Places, (): &(), next: Take<()>) {
        let able = able(places);
        let share = 1.0 / able.clone().count() as f64;
        able.for_each(|thread| next(&[thread], (), share));
    }
}

/// A random walk.
pub(crate) fn walk(threads: &Threads) -> Shares {
    shares(threads, &Walk)
}

/// Partial order sampling. Priorities are uniform on (0, 1), and the highest goes first. What is known of those of the pending
/// events is their order, and that some are below others which have run: their density is a sum of products of
/// (1 - v)^exponent over the priorities v in that order. A memory is one such product.
struct ByPriority<'a> {
    threads: &'a Threads,
    races: fn(Access, Access) -> bool,
}

/// Pending events, of which thread and with which exponent, the lowest priority first.
type Product = SmallVec<[(u8, u8); THREADS]>;

/// Integrates over the priority at a place, between its neighbours.
fn forget(product: &Product, place: usize, next: &mut dyn FnMut(Product, f64)) {
    let exponent = product[place].1 + 1;
    let factor = 1.0 / f64::from(exponent);
    let mut rest = product.clone();
    rest.remove(place);
    let mut below = rest.clone();
    if let Some(place) = place.checked_sub(1) {
        below[place].1 += exponent;
    }
    next(below, factor);
    if place < rest.len() {
        rest[place].1 += exponent;
        next(rest, -factor);
    }
}

/// Draws priorities of these threads' events, which are anywhere among the others.
fn draw(product: Product, fresh: &[u8], factor: f64, next: &mut dyn FnMut(Product, f64)) {
    let Some((&first, others)) = fresh.split_first() else { return next(product, factor) };
    for place in 0..=product.len() {
        let mut product = product.clone();
        product.insert(place, (first, 0));
        draw(product, others, factor, next);
    }
}

fn redraw(product: &Product, stale: &[u8], fresh: &[u8], factor: f64, next: &mut dyn FnMut(Product, f64)) {
    let Some((first, others)) = stale.split_first() else {
        return draw(product.clone(), fresh, factor, next);
    };
    let Some(place) = product.iter().position(|(thread, _)| thread == first) else { return };
    forget(product, place, &mut |product, more| redraw(&product, others, fresh, factor * more, next));
}

impl Search for ByPriority<'_> {
    type Memory = Product;

    fn begin(&self) -> Vec<(Product, f64)> {
        let mut all = Vec::new();
        draw(smallvec![], &[0, 1, 2, 3], 1.0, &mut |product, factor| all.push((product, factor)));
        all
    }

    fn step(&self, places: &Places, product: &Product, next: Take<Product>) {
        let Some(&(top, _)) = product.last() else { return };
        let pending =
            |thread: u8| self.threads[usize::from(thread)].get(places[usize::from(thread)]).copied();
        let Some(event) = pending(top) else { return };
        let others = product.iter().map(|&(thread, _)| thread).filter(|&thread| thread != top);
        let races = |&thread: &u8| pending(thread).is_some_and(|other| (self.races)(event, other));
        let stale: SmallVec<[u8; THREADS]> = others.filter(races).collect();
        let mut fresh = stale.clone();
        fresh.extend((places[usize::from(top)] + 1 < EVENTS).then_some(top));
        forget(product, product.len() - 1, &mut |rest, factor| {
            redraw(&rest, &stale, &fresh, factor, &mut |product, factor| {
                next(&[usize::from(top)], product, factor);
            });
        });
    }
}

/// Events of one object race: POS.
pub(crate) fn pos(threads: &Threads) -> Shares {
    shares(threads, &ByPriority { threads, races: |one, other| one.0 == other.0 })
}

/// Events that conflict race: POS\*.
pub(crate) fn pos_of_conflicts(threads: &Threads) -> Shares {
    shares(threads, &ByPriority { threads, races: conflict })
}

/// No events race: BasicPOS.
pub(crate) fn basic_pos(threads: &Threads) -> Shares {
    shares(threads, &ByPriority { threads, races: |_, _| false })
}

/// Batches of what commutes. A memory is the threads whose events were the last batch.
struct Batches<'a>(&'a Threads);

impl Batches<'_> {
    /// Goes on drawing a batch from what is left to draw from.
    fn draw(
        &self,
        places: &Places,
        left: &[usize],
        batch: &[usize],
        share: f64,
        next: &mut dyn FnMut(&[usize], f64),
    ) {
        if left.is_empty() {
            return next(batch, share);
        }
        let share = share / left.len() as f64;
        for (nth, &thread) in left.iter().enumerate() {
            let rest: SmallVec<[usize; THREADS]> = [&left[..nth], &left[nth + 1..]].concat().into();
            let access = |thread: usize| self.0[thread][places[thread]];
            let commutes = batch.iter().all(|&other| !conflict(access(thread), access(other)));
            let larger = [batch, &[thread]].concat();
            match (batch.is_empty(), commutes) {
                (true, _) => self.draw(places, &rest, &larger, share, next),
                (false, false) => self.draw(places, &rest, batch, share, next),
                (false, true) => {
                    self.draw(places, &rest, &larger, share / 2.0, next);
                    self.draw(places, &rest, batch, share / 2.0, next);
                }
            }
        }
    }

    fn depends(&self, places: &Places, thread: usize, batch: u8) -> bool {
        let members = (0..THREADS).filter(|member| batch >> member & 1 == 1);
        let ran = |member: usize| self.0[member][places[member] - 1];
        members
            .into_iter()
            .any(|member| member == thread || conflict(ran(member), self.0[thread][places[thread]]))
    }
}

impl Search for Batches<'_> {
    type Memory = u8;

    fn begin(&self) -> Vec<(u8, f64)> {
        vec![(0, 1.0)]
    }

    fn step(&self, places: &Places, &last: &u8, next: Take<u8>) {
        let able: SmallVec<[usize; THREADS]> = able(places).collect();
        let is_first = last == 0;
        let schedulable =
            able.iter().copied().filter(|&thread| is_first || self.depends(places, thread, last));
        let schedulable: SmallVec<[usize; THREADS]> = schedulable.collect();
        let mut put = |batch: &[usize], share| {
            next(batch, batch.iter().fold(0, |all, thread| all | 1 << thread), share)
        };
        if schedulable.is_empty() {
            able.iter().for_each(|&thread| put(&[thread], 1.0 / able.len() as f64));
        } else {
            self.draw(places, &schedulable, &[], 1.0, &mut put);
        }
    }
}

/// RAPOS.
pub(crate) fn rapos(threads: &Threads) -> Shares {
    shares(threads, &Batches(threads))
}
