//! The names of the schedule files of a finding.

/// File of the schedule of the finding of this name.
pub(crate) fn file_name(id: &str) -> String {
    format!("schedules/{id}.json")
}

/// File of the schedule that ends well, next to that of the finding of this name.
pub(crate) fn passing_name(id: &str) -> String {
    format!("schedules/{id}.passing.json")
}

/// File of a schedule in which the finding was found again, while a better one that was found before keeps its place.
pub(crate) fn again_name(id: &str) -> String {
    format!("schedules/{id}.again.json")
}

/// File of the schedule in which the finding was found, if a simpler one has taken its place.
pub(crate) fn original_name(id: &str) -> String {
    format!("schedules/{id}.original.json")
}
