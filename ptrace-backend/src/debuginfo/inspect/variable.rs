//! What a user sees of scopes and variables.

use super::stopped::stack::FrameId;
use super::views::view::Shown;

/// A group of variables of a frame.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Which group.
    pub kind: ScopeKind,
    /// What to ask for the variables with: [`super::Inspector::named`].
    pub handle: Handle,
}

/// Which variables a scope has.
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
    /// The value in one line; for what cannot be known, why.
    pub value: String,
    /// Where it is in memory, if it is there.
    pub address: Option<u64>,
    /// What [`super::Inspector::evaluate`] would find it with.
    pub expression: Option<String>,
    /// How many parts [`super::Inspector::named`] would give.
    pub named: u64,
    /// How many elements [`super::Inspector::indexed`] can give.
    pub indexed: u64,
    /// What to ask for parts and elements with.
    pub handle: Handle,
}

impl Variable {
    /// Whether there is something inside.
    #[must_use]
    pub fn is_expandable(&self) -> bool {
        self.named > 0 || self.indexed > 0
    }
}

/// What is inside a scope or variable, before anybody looks.
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
