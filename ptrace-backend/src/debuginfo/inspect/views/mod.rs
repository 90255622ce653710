//! Values as their users think of them: lists, texts, parts with names.

pub(crate) mod items;
pub(crate) mod libraries;
pub(crate) mod presentation;
pub(crate) mod summary;
pub(crate) mod traversal;
pub(crate) mod view;
