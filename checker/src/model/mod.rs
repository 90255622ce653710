//! A program in memory, written in a few characters: what searches, costs and oracles are tested on.
//!
//! Threads stand between bars; operations between commas, semicolons or line ends. `let` gives initial values. A thread
//! that no other one creates starts with the program; the first one is the main thread.
//!
//! ```text
//! let s=1 | T1: r x, w x x+1 | T2: lock m; if x == 0 { signal c }; unlock m
//! ```
//!
//! | written | means |
//! | --- | --- |
//! | `r x`, `r x a` | reads `x` into the thread's own register `x`, or `a` |
//! | `w x`, `w x a+1` | writes 1, or the value of an expression over registers |
//! | `add x`, `add x 2` | adds in one indivisible step; the value of before goes to register `x` |
//! | `cas x 0 1` | compare-and-swap; register `x` becomes 1 if it succeeded, else 0 |
//! | `lock m`, `unlock m`, `trylock m`, `timedlock m` | a mutex; register `m` says whether it was had |
//! | `wait c m`, `timedwait c m`, `signal c`, `broadcast c` | a condition variable; register `c` is 0 after a time-out |
//! | `down s`, `trydown s`, `up s` | a semaphore; register `s` says whether it was had |
//! | `rdlock l`, `wrlock l`, `tryrdlock l`, `trywrlock l`, `rdunlock l`, `wrunlock l` | a read-write lock |
//! | `bar b 2` | a barrier for 2 |
//! | `create T2`, `join T2` | starts a thread, waits for its end |
//! | `await x`, `await x x>1` | spins until `x` is not 0, or until the expression holds |
//! | `yield`, `sleep`, `exit` | gives way; ends the process |
//! | `assert a==1`, `crash`, `set a a+1` | no events: on registers only |
//! | `if a { … } else { … }`, `while a { … }`, `loop 3 { … }` | branches on registers |

mod code;
mod expr;
mod lexer;
mod names;
mod parse;
mod program;
mod run;
mod sync;
#[cfg(test)]
mod tests;
mod views;

use std::str::FromStr;

pub use self::lexer::ParseError;
pub use self::program::Model;
pub use self::run::ModelRun;
use crate::event::failure::Failure;
use crate::event::names::Obj;
use crate::event::object_description::ObjectDescription;
use crate::program::{Epoch, ExecutionSummary, Program, Scope, StartError};
use crate::trace::Trace;

impl Model {
    /// The name of an object in the program's text.
    #[must_use]
    pub fn name_of(&self, obj: Obj) -> Option<String> {
        let index = usize::try_from(obj.name.0).ok()?.checked_sub(1)?;
        self.objects.get(index).map(|(name, _)| name.clone())
    }
}

impl FromStr for Model {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::program(text)
    }
}

impl Program for Model {
    type Run = ModelRun;

    fn start(&self, scope: &Scope) -> Result<ModelRun, StartError> {
        Ok(ModelRun::new(self.clone(), scope.clone()))
    }

    fn epoch(&self) -> Epoch {
        Epoch::default()
    }

    fn describe(&self, obj: Obj) -> Option<ObjectDescription> {
        self.name_of(obj).map(ObjectDescription::Named)
    }

    fn is_reference_count(&self, _obj: Obj) -> bool {
        false
    }

    fn needs_audit(&self, _trace: &Trace) -> bool {
        false
    }

    fn attribute(&self, _failure: &mut Failure, _trace: &Trace, _ending: &ExecutionSummary) -> u64 {
        0
    }
}
