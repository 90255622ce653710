//! The contents of a stopped thread's variables, read without running anything in it.
//!
//! An [`Inspector`] is made for one stopped thread: it needs the [`Modules`] of the address space, a [`Memory`] and the
//! thread's registers ([`ThreadState`]), be they of a traced process or of a core dump. It unwinds the stack when it is
//! made and caches pages of memory, so make a new one whenever the thread has moved; what is known of the executables
//! is kept in their [`Image`]s across inspectors.
//!
//! ```text
//! let inspector = Inspector::new(&modules, &memory, &state);
//! for frame in inspector.stack(100) {                        // inlined calls are frames of their own
//!     for scope in inspector.scopes(frame.id) {              // arguments, locals, globals
//!         for variable in inspector.named(&scope.handle) {   // `x`: `Point { x: 1, y: 2 }`
//!             inspector.named(&variable.handle);             // its members
//!             inspector.indexed(&variable.handle, 0..100);   // its elements, a page at a time
//!         }
//!     }
//! }
//! inspector.evaluate(frame, "points[3].x");
//! ```
//!
//! Everything is lazy: a [`Variable`] is a line of text and a [`Handle`] to its contents. A handle is plain data that
//! can be kept and sent; it means something only to inspectors of the same thread at the same place. A value that
//! cannot be known is given in words ([`Variable::value`]): `optimised out`, `unreadable memory at 0x…`, and bytes for
//! contents that have no meaning in their type; nothing is guessed, and no damaged file leads to a panic.
//!
//! [`Image`]: crate::debuginfo::Image

mod children;
mod evaluate;
mod globals;
mod pointee_type;
mod scopes;
mod stack_variable;
mod stopped;
mod values;
mod variable;
mod views;

use std::ops::Range;

use children::{indexed_children, named_children, scopes};
pub use evaluate::EvaluateError;
use evaluate::evaluate;
use pointee_type::pointee_type_at;
use stack_variable::local_at;
use stopped::stack::stack;
pub use stopped::stack::{FrameId, StackFrame};
pub use stopped::state::ThreadState;
use stopped::thread::StoppedThread;
pub use variable::{Handle, Scope, ScopeKind, Variable};

use super::entries::allocation_type::AllocationType;
use super::memory::Memory;
use super::modules::Modules;

/// Looks into one stopped thread.
pub struct Inspector<'a> {
    thread: StoppedThread<'a>,
}

impl<'a> Inspector<'a> {
    /// Unwinds the stack of a stopped thread.
    #[must_use]
    pub fn new(modules: &'a Modules, memory: &'a dyn Memory, state: &ThreadState) -> Self {
        Self { thread: StoppedThread::new(modules, memory, *state) }
    }

    /// The calls that have not returned, innermost first, at most `limit`; calls that were inlined count.
    #[must_use]
    pub fn stack(&self, limit: usize) -> Vec<StackFrame> {
        stack(&self.thread, limit)
    }

    /// The scopes of a frame that have variables in them: arguments, locals (of nested blocks too, innermost first),
    /// and the static variables of the user's code in the same compilation unit (in Rust: crate).
    #[must_use]
    pub fn scopes(&self, frame: FrameId) -> Vec<Scope> {
        scopes(&self.thread, frame)
    }

    /// The variables of a scope, the members of a structure, what a pointer points to.
    #[must_use]
    pub fn named(&self, handle: &Handle) -> Vec<Variable> {
        named_children(&self.thread, handle)
    }

    /// Elements of an array or of a library's container, by their positions; those past the end are left out.
    #[must_use]
    pub fn indexed(&self, handle: &Handle, range: Range<u64>) -> Vec<Variable> {
        indexed_children(&self.thread, handle, range)
    }

    /// The words for an address on the thread's stack: the variable of the function whose frame it is in, and the way
    /// into it (`queue.head`). `None` where no variable is there.
    #[must_use]
    pub fn local_at(&self, address: u64) -> Option<String> {
        local_at(&self.thread, address)
    }

    /// The contents of a block of memory to which a variable of the user's code points, and the index of the module
    /// that has their type. `None` where no variable points to it, or to something that does not fill the block.
    #[must_use]
    pub fn pointee_type_at(&self, block: &Range<u64>) -> Option<(usize, AllocationType)> {
        pointee_type_at(&self.thread, block)
    }

    /// The value of an expression in the frame's language: names, `.`, `->`, `[i]`, `*`, `&`, brackets and whole
    /// numbers. Runs nothing and changes nothing.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the expression.
    pub fn evaluate(&self, frame: FrameId, expression: &str) -> Result<Variable, EvaluateError> {
        evaluate(&self.thread, frame, expression)
    }
}
