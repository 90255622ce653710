//! The planner that runs each initial schedule once.

use super::initial_schedule::InitialSchedule;
use super::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::cache::Cache;
use crate::program::Epoch;
use crate::trace::Trace;

/// Each of them once; the one under which key points were added is run again.
#[derive(Clone, Copy, Debug, Default)]
pub struct InitialSchedules {
    next: usize,
    /// So many came to an end with the key points that they began with.
    learnt: usize,
}

impl Strategy for InitialSchedules {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.next == InitialSchedule::ALL.len() {
            return Next::Done;
        }
        let id = self.next as u64;
        self.next += 1;
        Next::Work(WorkItem { id, prefix: Vec::new(), cost: 0, branch: None })
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        InitialSchedule::ALL[item.id as usize].guide()
    }

    fn learn(&mut self, item: &WorkItem, _run: &Trace, _notes: Notes, _cache: &Cache) {
        self.learnt = self.learnt.max(item.id as usize + 1);
    }

    /// The first one has done what it can: which accesses are key points makes no difference to it.
    fn reset(&mut self, _epoch: Epoch) {
        self.next = self.learnt.max(1);
    }

    fn coverage(&self, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}
