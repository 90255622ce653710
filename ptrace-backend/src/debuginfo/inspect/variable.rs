//! Scopes and variables as a user sees them.

use super::stopped::stack::FrameId;
use super::views::view::Shown;

/// A group of variables of a frame.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The kind of group.
    pub kind: ScopeKind,
    /// The handle by which the variables are asked for: [`super::Inspector::named`].
    pub handle: Handle,
}

/// The kind of variables that a scope has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScopeKind {
    /// The function's parameters.
    Arguments,
    /// Variables declared in the function.
    Locals,
    /// Static variables of the user's code in the same compilation unit; listing them may take long.
    Globals,
}

/// A variable, a part of one, or the result of an expression.
#[derive(Clone, Debug)]
pub struct Variable {
    /// `count`, `x`, `[3]`, `*p`; a variable that one of an inner block hides has ` (shadowed)` behind its name.
    pub name: String,
    /// The type as its programmer writes it, as far as that is known.
    pub type_name: String,
    /// The value in one line; for one that cannot be known, the reason.
    pub value: String,
    /// Its address in memory, if it is there.
    pub address: Option<u64>,
    /// The expression with which [`super::Inspector::evaluate`] would find it.
    pub expression: Option<String>,
    /// Number of parts that [`super::Inspector::named`] would give.
    pub named: u64,
    /// Number of elements that [`super::Inspector::indexed`] can give.
    pub indexed: u64,
    /// The handle by which parts and elements are asked for.
    pub handle: Handle,
}

impl Variable {
    /// Whether there is something inside.
    #[must_use]
    pub fn is_expandable(&self) -> bool {
        self.named > 0 || self.indexed > 0
    }
}

/// The contents of a scope or variable, before they are looked at.
#[derive(Clone, Debug)]
pub struct Handle(pub(super) Inside);

#[derive(Clone, Debug)]
pub(super) enum Inside {
    Scope(FrameId, ScopeKind),
    Part { shown: Shown, expression: Option<String> },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_can_be_sent_to_other_threads() {
        fn sendable<T: Send + Sync>() {}
        sendable::<(Handle, Scope, Variable)>();
    }
}
