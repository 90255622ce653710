//! The names of the schedule files of a finding.

/// Where the schedule of the finding of this name is kept.
pub(crate) fn file_name(id: &str) -> String {
    format!("schedules/{id}.json")
}

/// Where the schedule is kept that ends well, next to that of the finding of this name.
pub(crate) fn passing_name(id: &str) -> String {
    format!("schedules/{id}.passing.json")
}

/// Where a schedule is kept in which it was found again, while a better one that was found before keeps its place.
pub(crate) fn again_name(id: &str) -> String {
    format!("schedules/{id}.again.json")
}

/// Where the schedule is kept in which it was found, if a simpler one has taken its place.
pub(crate) fn original_name(id: &str) -> String {
    format!("schedules/{id}.original.json")
}
