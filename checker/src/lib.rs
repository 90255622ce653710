//! Thread interleavings as a search problem: operations, events, schedules, happens-before and the searches over them.
//!
//! This crate is pure: it knows no operating system, does no I/O and starts no thread. It drives anything that
//! implements [`program::Program`] and [`program::Execution`].
//!
//! A search is a planner ([`strategy::Strategy`]), which hands out executions, and a guide ([`strategy::Guide`]), which chooses
//! at the scheduling points of one execution. This one runs a model program round-robin, with shorter time slices each time:
//!
//! ```
//! use checker::cache::Cache;
//! use checker::event::failure::FailureKind;
//! use checker::model::Model;
//! use checker::program::{Epoch, Until};
//! use checker::search::{Options, SilentObserver, explore_by};
//! use checker::state::scheduling_point::SchedulingPoint;
//! use checker::strategy::{Coverage, Decision, Guide, Next, Notes, Strategy, WorkItem};
//! use checker::trace::Trace;
//!
//! /// The planner: one execution for each length of a time slice.
//! struct TimeSlices(u64);
//!
//! impl Strategy for TimeSlices {
//!     fn next(&mut self, _: &Cache) -> Next {
//!         self.0 += 1;
//!         let item = WorkItem { id: self.0, prefix: Vec::new(), cost: 0, branch: None };
//!         if self.0 <= 5 { Next::Work(item) } else { Next::Done }
//!     }
//!     fn guide<'a>(&'a self, item: &WorkItem, _: &'a Cache) -> Box<dyn Guide + 'a> {
//!         Box::new(RoundRobin { slice: 6 - item.id as usize })
//!     }
//!     fn learn(&mut self, _: &WorkItem, _: &Trace, _: Notes, _: &Cache) {}
//!     fn reset(&mut self, _: Epoch) {}
//!     fn coverage(&self, _: Option<u32>) -> Coverage { Coverage::default() }
//!     fn bound(&self) -> Option<u32> { None }
//! }
//!
//! /// The guide: lets another thread go, where there is one, once a time slice is over.
//! struct RoundRobin { slice: usize }
//!
//! impl Guide for RoundRobin {
//!     fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
//!         let is_over = at.position().count() % self.slice == 0;
//!         let another = at.choices.iter().find(|choice| Some(choice.agent.thread()) != at.last.thread());
//!         let choice = another.copied().filter(|_| is_over).or_else(|| at.default_choice());
//!         choice.map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
//!     }
//!     fn pass(&mut self, _: &SchedulingPoint<'_>) {}
//!     fn notes(self: Box<Self>) -> Notes { Notes::default() }
//! }
//!
//! let counter = "create T2, r x, w x x+1, join T2, r x, assert x == 2 | T2: r x, w x x+1";
//! let program: Model = counter.parse()?;
//! let planner = Box::new(TimeSlices(0));
//! let outcome = explore_by(&program, planner, &Options::default(), &mut SilentObserver)?;
//! let lost_update = &outcome.findings[0];
//! assert_eq!(lost_update.failure.kind, FailureKind::Assertion);
//! assert_eq!(lost_update.preemptions, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

pub mod account;
pub mod cache;
pub mod event;
pub mod execution;
pub mod explain;
pub mod hb;
pub mod limit;
pub mod lock_order;
pub mod model;
pub mod peculiarity;
pub mod program;
pub mod race;
pub mod search;
pub mod state;
pub mod strategy;
pub mod trace;

pub use self::event::ranges::byte_set;
pub use self::event::{
    divergence, failure, lock_action, names, object_description, operation, position, recorded, refusal,
    timing,
};
pub use self::trace::cost;
