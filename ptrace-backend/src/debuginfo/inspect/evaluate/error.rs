//! Reasons for which an expression has no value.

/// A reason for which an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvaluateError {
    /// No text.
    #[error("there is nothing to evaluate")]
    Empty,
    /// A function call.
    #[error("nothing is run in the program: calls cannot be evaluated")]
    Call,
    /// An assignment or increment.
    #[error("nothing is changed in the program: assignments cannot be evaluated")]
    Assignment,
    /// Something else that is no part of an expression.
    #[error("`{0}` is not understood here: names, `.`, `->`, `[i]`, `*` and `&` are")]
    NotUnderstood(String),
    /// The text ends too early.
    #[error("the expression is not finished")]
    Unfinished,
    /// More nesting than in any expression that a user writes.
    #[error("the expression is nested too deep")]
    TooDeep,
    /// A malformed or very large number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// No variable of this name can be seen.
    #[error("`{0}` is not a variable here")]
    NotAVariable(String),
    /// Several files have a variable of this name.
    #[error("`{0}` is a variable of several other files")]
    Ambiguous(String),
    /// The type has no such member.
    #[error("`{kind}` has no member `{member}`")]
    NoMember {
        /// The type.
        kind: String,
        /// The name asked for.
        member: String,
    },
    /// `*` of something that points nowhere.
    #[error("a value of type `{0}` cannot be dereferenced")]
    NotAPointer(String),
    /// `[i]` of something without elements.
    #[error("a value of type `{0}` has no elements")]
    NoElements(String),
    /// `[i]` of a container whose elements have no numbers.
    #[error("elements of a `{0}` cannot be looked up: expand it to see them")]
    NoPositions(String),
    /// `[i]` past the end.
    #[error("there is no element {index}: the length is {count}")]
    PastTheEnd {
        /// The index asked for.
        index: i128,
        /// Number of elements.
        count: u64,
    },
    /// An index that is no whole number.
    #[error("the index is no whole number")]
    NoIndex,
    /// `&` of something that is not in memory.
    #[error("it has no address: the compiler does not keep it in memory")]
    NoAddress,
    /// A value on the way is not known.
    #[error("the value on the way is not known: {0}")]
    Unknown(String),
}
