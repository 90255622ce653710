//! Raw futexes: waits and wakes that no named operation accounts for.

use checker::names::EventId;
use checker::op::{Effect, Op, OpKind};
use checker::seam::Pick;

use super::perform::Next;
use super::process::Process;
use super::sync::Index;
use super::thread::{Act, Need, Pending};
use super::waiting::take_waiter;

impl Process {
    /// A wait: it returns at once if the word has changed, else the thread parks.
    pub(super) fn futex_wait(
        &mut self,
        index: Index,
        pending: &Pending,
        addr: u64,
        value: u32,
    ) -> (Effect, Next) {
        let all = pending.op.may.clone();
        if self.number(addr, 4) as u32 != value {
            return (all, Next::Answer(-i64::from(libc::EAGAIN)));
        }
        self.objects.futexes.entry(addr).or_default().waiters.push(index);
        let op = Op::new(OpKind::FutexResume, []);
        let act = Act::FutexResume { addr, result: 0 };
        let need = Need::Wake(addr);
        let resume = Pending { op, site: pending.site, need, act, deadline: pending.deadline };
        (all, Next::Stay(Box::new(resume)))
    }

    /// Wakes up to `count` waiters of a futex and says how many.
    pub(crate) fn futex_wake(&mut self, addr: u64, count: u32, pick: Pick, id: Option<EventId>) -> i64 {
        let mut woken = 0;
        while woken < i64::from(count) {
            let waiter = take_waiter(self.objects.futexes.get_mut(&addr), pick, &self.threads);
            let Some(waiter) = waiter else { break };
            self.resume_futex(waiter, 0);
            self.threads[waiter].woken_by = id;
            woken += 1;
        }
        woken
    }

    /// A parked waiter may go on, its call returning this.
    pub(super) fn resume_futex(&mut self, waiter: Index, value: i64) {
        if let Some(pending) = &mut self.threads[waiter].pending
            && let Act::FutexResume { result, .. } = &mut pending.act
        {
            *result = value;
            pending.need = Need::Nothing;
            pending.deadline = None;
        }
    }

    /// The kernel has cleared a word that somebody waits for, as it does when a thread ends.
    pub(crate) fn wake_changed_futexes(&mut self) {
        let words: Vec<u64> =
            self.objects.futexes.iter().filter(|(_, q)| !q.waiters.is_empty()).map(|(&a, _)| a).collect();
        for addr in words {
            if self.number(addr, 4) == 0 {
                self.futex_wake(addr, u32::MAX, Pick::Only, None);
            }
        }
    }
}
