//! Refusals that several requests have in common, as sentences.

pub(crate) const NOT_TRUSTED: &str =
    "the workspace is not trusted, so that nothing is built, run or looked into; trust it to explore";

pub(crate) const NOT_LOOKED_AT: &str = "the workspace has not been looked at yet";

pub(crate) const NO_FOLDER: &str = "the folder is no longer part of the workspace";

pub(crate) fn no_finding(id: &str) -> String {
    format!("there is no finding `{id}` any more")
}

pub(crate) fn no_target(id: &str) -> String {
    format!("`{id}` is not there any more: build it again")
}
