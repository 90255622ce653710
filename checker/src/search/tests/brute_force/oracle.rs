//! Brute force: every execution of a model program, its class and its costs, by the definitions and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::failure::Failure;
use crate::event::names::ThreadName;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::event::step::Event;
use crate::hb::HappensBefore;
use crate::hb::hash::HbHash;
use crate::model::ModelRun;
use crate::program::{Execution, Program, Scope, Until};
use crate::state::agents::AgentTable;
use crate::state::{blocked_state, scheduling_point};
use crate::trace::{Previous, Trace};

/// A class of executions.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) hash: HbHash,
    pub(super) preemptions: u32,
    pub(super) delays: u32,
    pub(super) failures: BTreeSet<Identity>,
}

/// Everything about a program.
#[derive(Default)]
pub(super) struct Oracle {
    /// By canonical form.
    pub(super) classes: BTreeMap<String, Class>,
    /// The number of executions with each number of preemptions.
    pub(super) executions: BTreeMap<u32, u64>,
}

/// The oracle's answer, if there are at most `limit` executions.
pub(super) fn oracle(model: &Model, timeouts: u32, limit: u64) -> Option<Oracle> {
    oracle_with(model, timeouts, Options::default().max_yields, limit)
}

/// The same where a thread is let past so many yields in a row.
pub(super) fn oracle_with(model: &Model, timeouts: u32, yields: u32, limit: u64) -> Option<Oracle> {
    let mut oracle = Oracle::default();
    At::beginning(model, timeouts, yields).visit(&mut oracle, limit).then_some(oracle)
}

/// The same without a bound on time-outs, and where giving way puts no thread under an obligation.
pub(super) fn unfair_oracle(model: &Model, limit: u64) -> Option<Oracle> {
    oracle_with(model, u32::MAX, u32::MAX, limit)
}

/// Whether every continuation after these choices fails.
pub(crate) fn always_fails_after(model: &Model, choices: &[Choice]) -> bool {
    let begun = At::beginning(model, u32::MAX, Options::default().max_yields);
    let at = choices.iter().fold(begun, |at, &choice| at.after(choice, &[choice]));
    let mut oracle = Oracle::default();
    at.visit(&mut oracle, u64::MAX);
    oracle.classes.values().all(|class| !class.failures.is_empty())
}

impl Oracle {
    /// The hashes and the failures of the classes within a bound.
    pub(super) fn within(&self, cost: impl Fn(&Class) -> bool) -> (BTreeSet<HbHash>, BTreeSet<Identity>) {
        let within: Vec<&Class> = self.classes.values().filter(|class| cost(class)).collect();
        let failures = within.iter().copied().flat_map(|class| class.failures.clone()).collect();
        (within.iter().map(|class| class.hash).collect(), failures)
    }
}

#[derive(Clone)]
struct At {
    run: ModelRun,
    events: Vec<Event>,
    last: Option<ThreadName>,
    /// The number of yields that the last thread went past, each after an event of its own, with no event of others since.
    yields: u32,
    preemptions: u32,
    delays: u32,
    timeouts: u32,
    max_yields: u32,
}

impl At {
    fn beginning(model: &Model, timeouts: u32, max_yields: u32) -> Self {
        Self {
            run: model.start(&Scope::All).unwrap(),
            events: Vec::new(),
            last: None,
            yields: 0,
            preemptions: 0,
            delays: 0,
            timeouts,
            max_yields,
        }
    }

    fn visit(&self, oracle: &mut Oracle, limit: u64) -> bool {
        let mut agents = AgentTable::default();
        agents.start(self.run.agents());
        let mut choices = Vec::new();
        let last = match self.last.filter(|&last| self.is_at_yield(last)) {
            Some(last) => Previous::Yielding(last),
            None => Previous::Nobody,
        };
        scheduling_point::choices(
            &agents,
            (last, self.yields >= self.max_yields),
            self.timeouts > 0,
            0,
            &mut choices,
        );
        if choices.is_empty() {
            return self.end(&agents, oracle, limit);
        }
        choices.iter().all(|&choice| self.after(choice, &choices).visit(oracle, limit))
    }

    fn after(&self, choice: Choice, choices: &[Choice]) -> Self {
        let mut next = self.clone();
        let mut batch = next.run.run(choice, &Until::one()).unwrap();
        next.events.push(batch.steps.remove(0).event);
        match choice.agent {
            Agent::Thread(chosen) => {
                let goes_on = self.last == Some(chosen);
                next.yields = if goes_on { self.yields + u32::from(self.is_at_yield(chosen)) } else { 0 };
                next.last = Some(chosen);
                next.preemptions += u32::from(self.is_preemption(chosen));
                next.delays += self.skipped(chosen, choices);
            }
            Agent::Timeout(_) => {
                next.yields = 0;
                next.timeouts = self.timeouts.saturating_sub(1);
            }
            Agent::Flush(_) => unreachable!(),
        }
        next
    }

    fn is_preemption(&self, chosen: ThreadName) -> bool {
        self.last.is_some_and(|last| {
            let can_go_on = self.view(last).is_some_and(|view| view.status == Status::Enabled);
            last != chosen && can_go_on && !self.is_at_yield(last)
        })
    }

    fn view(&self, thread: ThreadName) -> Option<&AgentView> {
        self.run.agents().iter().find(|view| view.agent == Agent::Thread(thread))
    }

    fn is_at_yield(&self, thread: ThreadName) -> bool {
        let pending = self.view(thread).and_then(|view| view.pending.as_ref());
        pending.is_some_and(|op| matches!(op.kind, OpKind::Yield | OpKind::Sleep))
    }

    /// Walks round from the last thread to the chosen one. A thread that gives way again comes last.
    fn skipped(&self, chosen: ThreadName, choices: &[Choice]) -> u32 {
        let can_go: BTreeSet<ThreadName> = choices
            .iter()
            .filter_map(|choice| if let Agent::Thread(name) = choice.agent { Some(name) } else { None })
            .collect();
        let mut round: Vec<ThreadName> = self.run.agents().iter().map(|view| view.agent.thread()).collect();
        round.sort();
        round.dedup();
        let start = self.last.map_or(0, |last| round.iter().position(|&name| name == last).unwrap());
        round.rotate_left(start);
        if self.yields > 0 && self.is_at_yield(round[0]) {
            round.rotate_left(1);
        }
        round.iter().take_while(|&&name| name != chosen).filter(|name| can_go.contains(name)).count() as u32
    }

    fn end(&self, agents: &AgentTable, oracle: &mut Oracle, limit: u64) -> bool {
        let count = oracle.executions.entry(self.preemptions).or_default();
        *count += 1;
        let failures = self.failures(agents).iter().map(Identity::of).collect();
        let fresh =
            Class { hash: self.hash(agents), preemptions: self.preemptions, delays: self.delays, failures };
        let known = oracle.classes.entry(self.canonical()).or_insert_with(|| fresh.clone());
        assert_eq!((known.hash, &known.failures), (fresh.hash, &fresh.failures), "one class, two results");
        known.preemptions = known.preemptions.min(fresh.preemptions);
        known.delays = known.delays.min(fresh.delays);
        oracle.executions.values().sum::<u64>() <= limit
    }

    fn failures(&self, agents: &AgentTable) -> Vec<Failure> {
        let mut run = self.run.clone();
        let mut stack = |thread| run.stack(thread);
        let failed = agents.threads().iter().find(|view| matches!(view.status, Status::Failed(_)));
        if let Some(view) = failed {
            return blocked_state::failed(agents, view.agent.thread(), &mut stack);
        }
        let over = self.events.iter().any(|event| event.op.kind == OpKind::Exit);
        let stuck = blocked_state::stuck(agents, &Trace::default(), &mut stack);
        stuck.into_iter().filter(|_| !over).collect()
    }

    fn hash(&self, agents: &AgentTable) -> HbHash {
        let mut hb = HappensBefore::default();
        let mut threads: Vec<ThreadName> = Vec::new();
        let children: BTreeSet<ThreadName> = self.events.iter().filter_map(created).collect();
        for view in agents.threads().iter().filter(|view| !children.contains(&view.agent.thread())) {
            threads.push(view.agent.thread());
            hb.add_thread(view.agent.thread(), None);
        }
        for (at, event) in self.events.iter().enumerate() {
            let index = |name| threads.iter().position(|&known| known == name);
            hb.push(index(event.id.thread).unwrap(), &event.clone().into(), index);
            if let Some(child) = created(event) {
                threads.push(child);
                hb.add_thread(child, Some(Position::after(at)));
            }
        }
        hb.state()
    }

    /// The partial order itself, spelled out.
    fn canonical(&self) -> String {
        let mut before: Vec<BTreeSet<usize>> = Vec::new();
        for (later, b) in self.events.iter().enumerate() {
            let direct = (0..later).filter(|&earlier| depends(&self.events[earlier], b));
            let all = direct.flat_map(|earlier| before[earlier].iter().copied().chain([earlier])).collect();
            before.push(all);
        }
        let spelled = self.events.iter().zip(&before).map(|(event, before)| {
            let names: BTreeSet<_> = before.iter().map(|&at| self.events[at].id).collect();
            (event.id, format!("{:?} {:?} {:?} after {names:?}", event.op.kind, event.did, event.outcome))
        });
        format!("{:?}", spelled.collect::<BTreeMap<_, _>>())
    }
}

fn created(event: &Event) -> Option<ThreadName> {
    event.op.peer.filter(|_| event.op.kind == OpKind::Create)
}

fn depends(a: &Event, b: &Event) -> bool {
    a.id.thread == b.id.thread
        || a.did.conflicts(&b.did)
        || created(a) == Some(b.id.thread)
        || (b.op.kind == OpKind::Join && b.op.peer == Some(a.id.thread))
        || b.woken_by == Some(a.id)
}
