//! Small programs of threads that access a few objects, and their partial orders.

use checker::model::Model;
use checker::strategy::SeededRng;
use rustc_hash::FxHashMap;

pub(crate) const THREADS: usize = 4;
pub(crate) const EVENTS: usize = 4;

/// One access: of which object, and whether it writes.
pub(crate) type Access = (usize, bool);
pub(crate) type Threads = [[Access; EVENTS]; THREADS];

/// The number of events of each thread that have run.
pub(crate) type Places = [usize; THREADS];

/// Of each object, the threads that accessed it, in order; neighbouring reads sorted, since their order is none.
pub(crate) type Order = [u64; 4];

/// Whether the order of two accesses matters.
pub(crate) fn conflict(one: Access, other: Access) -> bool {
    one.0 == other.0 && (one.1 || other.1)
}

/// A program with so many events of each object.
pub(crate) fn program(counts: [usize; 4], half_read: bool, seed: u64) -> Threads {
    let mut rng = SeededRng::new(seed, 0);
    let objects: Vec<usize> = counts.iter().enumerate().flat_map(|(obj, &count)| vec![obj; count]).collect();
    let writes = (0..objects.len()).map(|nth| !half_read || nth % 2 == 0);
    let mut all: Vec<Access> = objects.into_iter().zip(writes).collect();
    let mut drawn = || all.swap_remove(rng.below(all.len()));
    std::array::from_fn(|_| std::array::from_fn(|_| drawn()))
}

/// The program in the model's words; with a first event of its own for each thread, so that PCT can hold it back.
pub(crate) fn model(threads: &Threads, dummies: bool) -> Result<Model, Box<dyn std::error::Error>> {
    let thread = |(nth, accesses): (usize, &[Access; EVENTS])| {
        let dummy = dummies.then(|| format!("r d{nth}"));
        let words = |&(obj, writes): &Access| format!("{} o{obj}", if writes { "w" } else { "r" });
        dummy.into_iter().chain(accesses.iter().map(words)).collect::<Vec<_>>().join(", ")
    };
    let threads: Vec<String> = threads.iter().enumerate().map(thread).collect();
    Ok(format!("let o0=0 o1=0 o2=0 o3=0 | {}", threads.join(" | ")).parse()?)
}

/// The threads that have not ended.
pub(crate) fn able(places: &Places) -> impl Iterator<Item = usize> + Clone + use<> {
    let places = *places;
    (0..THREADS).filter(move |&thread| places[thread] < EVENTS)
}

/// Appends an access: three bits for each, thread and whether it writes, after a leading 1.
pub(crate) fn append(order: &mut Order, thread: usize, (obj, writes): Access) {
    let word = |place: u64, of: u64| of >> (3 * place) & 7;
    let mut sequence =
        if order[obj] == 0 { 1 } else { order[obj] } << 3 | (thread as u64) << 1 | u64::from(writes);
    let length = (63 - u64::from(sequence.leading_zeros())) / 3;
    let mut at = 0;
    // A read sinks below the reads of later threads before it.
    while at + 1 < length && word(at, sequence) & 1 == 0 && word(at + 1, sequence) & 1 == 0 {
        let (last, before) = (word(at, sequence), word(at + 1, sequence));
        if before <= last {
            break;
        }
        sequence ^= (last ^ before) << (3 * at) | (last ^ before) << (3 * at + 3);
        at += 1;
    }
    order[obj] = sequence;
}

/// The least number of preemptions of each partial order, by which its bound of PCT is told.
pub(crate) fn preemptions(threads: &Threads) -> FxHashMap<Order, u32> {
    type Least = [Option<u32>; THREADS];
    let mut now: FxHashMap<(Places, Order), Least> = FxHashMap::default();
    now.insert(Default::default(), [Some(0), None, None, None]);
    for _ in 0..THREADS * EVENTS {
        let mut next: FxHashMap<(Places, Order), Least> = FxHashMap::default();
        for ((places, order), least) in now {
            for thread in able(&places) {
                let (mut places, mut order) = (places, order);
                append(&mut order, thread, threads[thread][places[thread]]);
                let began = places.iter().any(|&place| place > 0);
                let cost = |last: usize| u32::from(began && last != thread && places[last] < EVENTS);
                let best = (0..THREADS).filter_map(|last| Some(least[last]? + cost(last))).min();
                places[thread] += 1;
                let entry = next.entry((places, order)).or_default();
                entry[thread] = entry[thread].into_iter().chain(best).min();
            }
        }
        now = next;
    }
    now.into_iter()
        .map(|((_, order), least)| (order, least.into_iter().flatten().min().unwrap_or(0)))
        .collect()
}
