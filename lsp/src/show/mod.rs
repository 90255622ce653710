//! Lenses, diagnostics, hints, hovers, actions and the tree, as functions of the known facts.

pub(crate) mod actions;
pub(crate) mod configuration;
pub(crate) mod diagnostics;
pub(crate) mod hints;
pub(crate) mod hover;
pub(crate) mod lenses;
mod markdown;
mod terms;
pub(crate) mod tree;
pub(crate) mod warnings;
pub(crate) mod why_no_lens;
pub(crate) mod words;
