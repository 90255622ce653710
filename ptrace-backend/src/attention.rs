//! No loop is deaf. Work that reads files ends where its limit is over ([`within`]): each of its loops says when it begins a
//! round ([`round`]). And the proof of that: in builds with debug assertions, a thread that uses a second of a processor's time
//! without having looked whether it may go on ends the process.
//!
//! The clock is that of the thread, so that a loaded machine makes no difference.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use checker::limit::{Limit, StopRequest};

use crate::os::own::alarm::Alarm;

/// As many rounds of a loop, or fewer, take no time.
const ROUNDS: u32 = 64;

thread_local! {
    /// Number of times that this thread has looked.
    static LOOKS: Cell<u64> = const { Cell::new(0) };
    /// The same when its alarm went off last.
    static HEARD: Cell<u64> = const { Cell::new(u64::MAX) };
    /// Whether it is looked at.
    static PAYS: Cell<bool> = const { Cell::new(false) };
    /// The limit that ends the work of this thread.
    static LIMIT: RefCell<Option<Limit>> = const { RefCell::new(None) };
    /// Rounds since it was looked at last.
    static SINCE: Cell<u32> = const { Cell::new(0) };
}

/// Work was ended: by its time, or by the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    pub(crate) is_cancelled: bool,
}

/// Does work of the calling thread that ends where the limit is over, however deep it is in its loops then: the stack is unwound,
/// and what was not worked out yet is as if it had not been asked for.
///
/// # Errors
/// When it was ended.
pub fn within<T>(limit: &Limit, work: impl FnOnce() -> T) -> Result<T, Ended> {
    let attention = Attention::pay();
    let before = LIMIT.replace(Some(limit.clone()));
    let done = catch_unwind(AssertUnwindSafe(|| {
        look_now();
        work()
    }));
    LIMIT.set(before);
    drop(attention);
    done.map_err(|why| *why.downcast::<Ended>().unwrap_or_else(|other| resume_unwind(other)))
}

/// A round of a loop over what a file holds begins. Ends the work, if there is a limit and that is over.
#[inline]
pub fn round() {
    let since = SINCE.get() + 1;
    if since < ROUNDS {
        SINCE.set(since);
    } else {
        look_now();
    }
}

/// The same for a round that takes its time.
pub fn look_now() {
    SINCE.set(0);
    let now = LIMIT.with_borrow(|limit| limit.as_ref().map(Limit::look));
    match now {
        Some(StopRequest::Cancelled) => resume_unwind(Box::new(Ended { is_cancelled: true })),
        Some(StopRequest::BudgetSpent) => resume_unwind(Box::new(Ended { is_cancelled: false })),
        Some(StopRequest::Continue | StopRequest::HalfSpent) => look(),
        // Nothing was heard.
        None => {}
    }
}

/// The result of a library's code; `None` where the code panics on damaged input. An end of the work is passed on as
/// one.
pub(crate) fn unless_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    let passed_on = |why: Box<dyn Any + Send>| if why.is::<Ended>() { resume_unwind(why) } else { None };
    catch_unwind(AssertUnwindSafe(work)).map_or_else(passed_on, Some)
}

/// The calling thread looks whether it may go on.
pub fn look() {
    if cfg!(debug_assertions) {
        LOOKS.set(LOOKS.get().wrapping_add(1));
    }
}

/// While this is there, the thread that made it has to look in time.
#[derive(Debug)]
#[must_use]
pub struct Attention {
    /// None where it is paid already.
    alarm: Option<Alarm>,
}

impl Attention {
    /// From now on the calling thread looks in time.
    pub fn pay() -> Self {
        look();
        if !cfg!(debug_assertions) || PAYS.replace(true) {
            return Self { alarm: None };
        }
        HEARD.set(u64::MAX);
        let alarm = Alarm::each_second(check).ok();
        PAYS.set(alarm.is_some());
        Self { alarm }
    }
}

impl Drop for Attention {
    fn drop(&mut self) {
        if self.alarm.take().is_some() {
            PAYS.set(false);
        }
    }
}

/// Within a signal handler.
fn check() -> bool {
    let looks = LOOKS.get();
    HEARD.replace(looks) != looks
}
