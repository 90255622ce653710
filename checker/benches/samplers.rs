//! The micro-benchmarks of the POS paper (CAV 2018, section 6.1): how evenly random searches sample partial orders.
//!
//! Four threads of four events each on four objects, which have 4, 4, 4, 4 or 2, 2, 6, 6 events; all of them writes, or
//! half of them reads. The coverage of a search is the least share of its schedules that any partial order of a program
//! got. For the random walk it is computed, for the others sampled. Prints the table of `docs/searches.md`:
//! `cargo bench -p checker --bench samplers -- RUNS`.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};

use checker::model::Model;
use checker::op::Mode;
use checker::search::sample;
use checker::strategy::{Dice, Pct, Pos, Racing, Rapos, Sample, Sampler};
use checker::trace::Trace;
use rustc_hash::FxHashMap;

const THREADS: usize = 4;
const EVENTS: usize = 4;
/// How many programs of each kind.
const PROGRAMS: u64 = 3;
/// So few that the table is only shown to work, unless a number is given.
const RUNS: u64 = 2_000;

/// One access: of which object, and whether it writes.
type Access = (usize, bool);
type Threads = [[Access; EVENTS]; THREADS];

/// Of each object, who accessed it in which order; neighbouring reads sorted, since their order is none.
type Order = [u64; 4];

fn program(counts: [usize; 4], half_read: bool, seed: u64) -> Threads {
    let mut dice = Dice::new(seed, 0);
    let objects: Vec<usize> = counts.iter().enumerate().flat_map(|(obj, &count)| vec![obj; count]).collect();
    let writes = (0..objects.len()).map(|nth| !half_read || nth % 2 == 0);
    let mut all: Vec<Access> = objects.into_iter().zip(writes).collect();
    let mut drawn = || all.swap_remove(dice.below(all.len()));
    std::array::from_fn(|_| std::array::from_fn(|_| drawn()))
}

/// The program in the model's words; with a first event of its own for each thread, so that PCT can hold it back.
fn model(threads: &Threads, dummies: bool) -> Result<Model, Box<dyn Error>> {
    let thread = |(nth, accesses): (usize, &[Access; EVENTS])| {
        let dummy = dummies.then(|| format!("r d{nth}"));
        let words = |&(obj, writes): &Access| format!("{} o{obj}", if writes { "w" } else { "r" });
        dummy.into_iter().chain(accesses.iter().map(words)).collect::<Vec<_>>().join(", ")
    };
    let threads: Vec<String> = threads.iter().enumerate().map(thread).collect();
    Ok(format!("let o0=0 o1=0 o2=0 o3=0 | {}", threads.join(" | ")).parse()?)
}

/// Appends an access: three bits for each, thread and whether it writes, after a leading 1.
fn append(order: &mut Order, thread: usize, (obj, writes): Access) {
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

fn order(trace: &Trace) -> Order {
    let mut order = Order::default();
    for event in trace.steps.iter().map(|step| &step.event) {
        let thread = event.id.thread.path().first().map_or(0, |&nth| usize::from(nth));
        for access in event.did.accesses.iter().filter(|access| access.obj.name.0 <= 4) {
            append(&mut order, thread, (access.obj.name.0 as usize - 1, access.mode != Mode::Read));
        }
    }
    order
}

/// Every partial order of a program: its probability in a random walk, and its least number of preemptions.
fn partial_orders(threads: &Threads) -> FxHashMap<Order, (f64, u32)> {
    type State = ([usize; THREADS], Order);
    let mut now: FxHashMap<State, (f64, [Option<u32>; THREADS])> = FxHashMap::default();
    now.insert(([0; THREADS], Order::default()), (1.0, [Some(0), None, None, None]));
    for _ in 0..THREADS * EVENTS {
        let mut next: FxHashMap<State, (f64, [Option<u32>; THREADS])> = FxHashMap::default();
        for ((places, order), (share, least)) in now {
            let able: Vec<usize> = (0..THREADS).filter(|&thread| places[thread] < EVENTS).collect();
            for &thread in &able {
                let (mut places, mut order) = (places, order);
                append(&mut order, thread, threads[thread][places[thread]]);
                let began = places.iter().any(|&place| place > 0);
                let cost = |last: usize| u32::from(began && last != thread && able.contains(&last));
                let best = (0..THREADS).filter_map(|last| Some(least[last]? + cost(last))).min();
                places[thread] += 1;
                let entry = next.entry((places, order)).or_default();
                entry.0 += share / able.len() as f64;
                entry.1[thread] = entry.1[thread].into_iter().chain(best).min();
            }
        }
        now = next;
    }
    let least = |all: [Option<u32>; THREADS]| all.into_iter().flatten().min().unwrap_or(0);
    now.into_iter().map(|((_, order), (share, costs))| (order, (share, least(costs)))).collect()
}

/// What one search makes of one program.
enum Coverage {
    /// The least share of any partial order.
    Least(f64),
    /// So many partial orders were sampled, not all.
    Incomplete(usize),
}

fn coverage(model: &Model, what: impl Sample, runs: u64, orders: usize) -> Result<Coverage, Box<dyn Error>> {
    let mut hits: FxHashMap<Order, u64> = FxHashMap::default();
    let mut strategy = Sampler::new(what, 1);
    sample(model, &mut strategy, runs, 1_000, &mut |trace, _| *hits.entry(order(trace)).or_default() += 1)?;
    let least = hits.values().min().copied().unwrap_or(0);
    Ok(if hits.len() < orders {
        Coverage::Incomplete(hits.len())
    } else {
        Coverage::Least(least as f64 / runs as f64)
    })
}

/// Of each search, its coverage of each program.
type Columns = BTreeMap<&'static str, Vec<Coverage>>;

fn measure(threads: &Threads, runs: u64, columns: &mut Columns) -> Result<(usize, u32), Box<dyn Error>> {
    let orders = partial_orders(threads);
    let preemptions = orders.values().map(|&(_, least)| least).max().unwrap_or(0);
    let least = orders.values().map(|&(share, _)| share).fold(f64::INFINITY, f64::min);
    let (plain, delayed) = (model(threads, false)?, model(threads, true)?);
    let count = orders.len();
    let mut put = |name, coverage| columns.entry(name).or_default().push(coverage);
    put("random walk", Coverage::Least(least));
    put("PCT", coverage(&delayed, Pct::new(preemptions + 1), runs, count)?);
    put("RAPOS", coverage(&plain, Rapos, runs, count)?);
    put("BasicPOS", coverage(&plain, Pos::new(Racing::Nothing), runs, count)?);
    put("POS", coverage(&plain, Pos::new(Racing::SameObject), runs, count)?);
    put("POS*", coverage(&plain, Pos::new(Racing::Conflicts), runs, count)?);
    Ok((count, preemptions))
}

/// The geometric mean of how many times better one search covers the programs that both cover, and how many these are.
fn ratio(one: &[Coverage], other: &[Coverage]) -> Option<(f64, usize)> {
    let both = one.iter().zip(other).filter_map(|pair| match pair {
        (Coverage::Least(one), Coverage::Least(other)) => Some((one / other).ln()),
        _ => None,
    });
    let logarithms: Vec<f64> = both.collect();
    let count = logarithms.len();
    (count > 0).then(|| ((logarithms.iter().sum::<f64>() / count as f64).exp(), count))
}

const COLUMNS: [&str; 6] = ["random walk", "PCT", "RAPOS", "BasicPOS", "POS", "POS*"];

fn table(half_read: bool, runs: u64) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout();
    let what = if half_read { "Half of the events read" } else { "All events write" };
    writeln!(out, "{what}; {runs} schedules of each search and program.\n")?;
    writeln!(out, "| objects | partial orders | preemptions | {} |", COLUMNS.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(COLUMNS.len() + 3))?;
    let mut columns = Columns::new();
    for (name, counts) in [("4 4 4 4", [4; 4]), ("2 2 6 6", [2, 2, 6, 6])] {
        for seed in 1..=PROGRAMS {
            let (orders, preemptions) = measure(&program(counts, half_read, seed), runs, &mut columns)?;
            let cells = COLUMNS.map(|column| match columns[column].last() {
                Some(Coverage::Least(share)) => format!("{share:.1e}"),
                Some(Coverage::Incomplete(count)) => format!("0({count})"),
                None => String::new(),
            });
            writeln!(out, "| {name} | {orders} | {preemptions} | {} |", cells.join(" | "))?;
        }
    }
    let best = if half_read { "POS*" } else { "POS" };
    for other in COLUMNS.into_iter().filter(|&other| other != best) {
        match ratio(&columns[best], &columns[other]) {
            Some((ratio, count)) => writeln!(out, "\n{best} to {other}: {ratio:.1} over {count} programs")?,
            None => writeln!(out, "\n{best} to {other}: there is no program that both cover")?,
        }
    }
    writeln!(out)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(RUNS);
    table(false, runs)?;
    table(true, runs)
}
