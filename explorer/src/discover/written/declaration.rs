//! A `main` or a test, as a text declares it.

/// Something that could be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::discover) struct SourceDeclaration {
    pub(in crate::discover) what: DeclarationKind,
    /// From 1.
    pub(in crate::discover) line: u32,
}

/// The kind of a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::discover) enum DeclarationKind {
    Main,
    /// The words that its framework will make a name of: suite and name, or the text, or the path within the file.
    Test(String),
}
