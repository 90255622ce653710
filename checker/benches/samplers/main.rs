//! The micro-benchmarks of the POS paper (CAV 2018, section 6.1): how evenly random searches sample partial orders.
//!
//! Four threads of four events each on four objects, which have 4, 4, 4, 4 or 2, 2, 6, 6 events; all of them writes, or
//! half of them reads. The coverage of a search is the least probability of any partial order of a program. It is computed,
//! and what the search samples is compared with all that was computed. Prints the table of
//! `docs/searches.md`: `cargo bench -p checker --bench samplers -- RUNS`.

mod exact;
mod pct;
mod programs;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};

use checker::model::Model;
use checker::operation::Mode;
use checker::search::sample;
use checker::strategy::{Pct, Pos, Racing, Rapos, Sample, Sampler};
use checker::trace::Trace;
use rustc_hash::FxHashMap;

use exact::Shares;
use programs::{Order, Threads, append, model, preemptions, program};

/// The number of programs of each kind.
const PROGRAMS: u64 = 3;
/// So few that the table is only shown to work, unless a number is given.
const RUNS: u64 = 2_000;

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

/// The number of times that each partial order is sampled.
fn sampled(model: &Model, what: impl Sample, runs: u64) -> Result<FxHashMap<Order, u64>, Box<dyn Error>> {
    let mut hits: FxHashMap<Order, u64> = FxHashMap::default();
    let mut strategy = Sampler::new(what, 1);
    sample(model, &mut strategy, runs, 1_000, &mut |trace, _| *hits.entry(order(trace)).or_default() += 1)?;
    Ok(hits)
}

/// The number of its standard deviations by which Pearson's statistic of a sample is above its mean, which is one less than
/// there are partial orders. The variance is the exact one: many of them are expected less than once.
fn deviation(hits: &FxHashMap<Order, u64>, shares: &Shares, runs: u64) -> f64 {
    let (runs, cells) = (runs as f64, shares.len() as f64);
    let surplus = |(order, share): (&Order, &f64)| {
        let hits = hits.get(order).copied().unwrap_or(0) as f64;
        (hits - runs * share).powi(2) / (runs * share)
    };
    let statistic: f64 = shares.iter().map(surplus).sum();
    let inverse: f64 = shares.values().map(|share| 1.0 / share).sum();
    let variance = 2.0 * (cells - 1.0) + (inverse - cells * cells - 2.0 * cells + 2.0) / runs;
    (statistic - (cells - 1.0)) / variance.sqrt()
}

/// The results of the programs of a table.
#[derive(Default)]
struct Measured {
    /// Of each search, its coverage of each program.
    columns: BTreeMap<&'static str, Vec<f64>>,
    /// Of the samples, the one furthest from what was computed, in standard deviations.
    furthest: f64,
}

impl Measured {
    fn put(&mut self, name: &'static str, shares: &Shares) {
        let least = shares.values().copied().fold(f64::INFINITY, f64::min);
        self.columns.entry(name).or_default().push(least);
    }

    /// Computes, and samples to see that the search is what was computed.
    fn compare(&mut self, name: &'static str, shares: &Shares, hits: &FxHashMap<Order, u64>, runs: u64) {
        let deviation = deviation(hits, shares, runs);
        if deviation.abs() > self.furthest.abs() {
            self.furthest = deviation;
        }
        self.put(name, shares);
    }

    /// Measures a program, and returns the number of its partial orders and the number of preemptions that they need.
    fn measure(&mut self, threads: &Threads, runs: u64) -> Result<(usize, u32), Box<dyn Error>> {
        let orders = preemptions(threads);
        let preemptions = orders.values().copied().max().unwrap_or(0);
        let (plain, delayed) = (model(threads, false)?, model(threads, true)?);
        self.put("random walk", &exact::walk(threads));
        let hits = sampled(&delayed, Pct::new(preemptions + 1), runs)?;
        self.compare("PCT", &pct::pct(threads, preemptions), &hits, runs);
        self.compare("RAPOS", &exact::rapos(threads), &sampled(&plain, Rapos, runs)?, runs);
        let mut pos = |name, shares: Shares, racing| -> Result<(), Box<dyn Error>> {
            self.compare(name, &shares, &sampled(&plain, Pos::new(racing), runs)?, runs);
            Ok(())
        };
        pos("BasicPOS", exact::basic_pos(threads), Racing::Nothing)?;
        pos("POS", exact::pos(threads), Racing::SameObject)?;
        pos("POS*", exact::pos_of_conflicts(threads), Racing::Conflicts)?;
        Ok((orders.len(), preemptions))
    }
}

/// The geometric mean of the factors by which one search covers the programs better.
fn ratio(one: &[f64], other: &[f64]) -> f64 {
    let logarithms = one.iter().zip(other).map(|(one, other)| (one / other).ln());
    (logarithms.sum::<f64>() / one.len() as f64).exp()
}

const COLUMNS: [&str; 6] = ["random walk", "PCT", "RAPOS", "BasicPOS", "POS", "POS*"];

fn table(half_read: bool, runs: u64) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout();
    let what = if half_read { "Half of the events read" } else { "All events write" };
    writeln!(out, "{what}; {runs} schedules of each search and program.\n")?;
    writeln!(out, "| objects | partial orders | preemptions | {} |", COLUMNS.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(COLUMNS.len() + 3))?;
    let mut measured = Measured::default();
    for (name, counts) in [("4 4 4 4", [4; 4]), ("2 2 6 6", [2, 2, 6, 6])] {
        for seed in 1..=PROGRAMS {
            let (orders, preemptions) = measured.measure(&program(counts, half_read, seed), runs)?;
            let cells = COLUMNS.map(|column| {
                measured.columns[column].last().map_or_else(String::new, |share| format!("{share:.1e}"))
            });
            writeln!(out, "| {name} | {orders} | {preemptions} | {} |", cells.join(" | "))?;
        }
    }
    let best = if half_read { "POS*" } else { "POS" };
    for other in COLUMNS.into_iter().filter(|&other| other != best) {
        let ratio = ratio(&measured.columns[best], &measured.columns[other]);
        writeln!(out, "\n{best} to {other}: {ratio:.1}")?;
    }
    let furthest = measured.furthest;
    writeln!(out, "\nOf what was computed, the furthest sample is {furthest:+.1} standard deviations away.")?;
    writeln!(out)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(RUNS);
    table(false, runs)?;
    table(true, runs)
}
