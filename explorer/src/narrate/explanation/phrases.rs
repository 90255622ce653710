//! Common phrases of an explanation: accesses with their threads, places, times.

use checker::explain::ObservedAccess;
use checker::names::Obj;
use checker::position::Position;

use super::context::ExplanationContext;
use crate::report::Location;

/// The thread of an event, and its place.
pub(super) fn done<'a>(context: &'a ExplanationContext<'_>, position: Position) -> (&'a str, String) {
    context.event(position).map(|event| (event.thread.as_str(), at(&event.place))).unwrap_or_default()
}

/// Accesses in words: thread, object and place. Of objects that overlap, the part that they have in common is named. The
/// object of the first access is named once.
pub(super) fn accesses<const N: usize>(
    context: &ExplanationContext<'_>,
    seen: &[ObservedAccess],
) -> [String; N] {
    let common =
        |obj: Obj| seen.iter().fold(obj, |common, other| common.common(&other.obj).unwrap_or(common));
    let first = seen.first().map(|seen| context.object(common(seen.obj))).unwrap_or_default();
    std::array::from_fn(|nth| {
        let Some(seen) = seen.get(nth) else { return String::new() };
        let object = match context.object(common(seen.obj)) {
            object if nth > 0 && object == first => "it".to_owned(),
            object => object,
        };
        let verb = if seen.writes { "writes" } else { "reads" };
        let line = context.event(seen.position).map(|event| at(&event.place)).unwrap_or_default();
        format!("{} {verb} {object}{line}", context.labels.label(seen.thread))
    })
}

pub(super) fn since(context: &ExplanationContext<'_>, taken: Option<Position>) -> String {
    let words = taken.and_then(|position| context.event(position)).map(|event| words(&event.place));
    words.filter(|words| !words.is_empty()).map(|words| format!(" since {words}")).unwrap_or_default()
}

pub(super) fn at(place: &Location) -> String {
    let words = words(place);
    if words.is_empty() { words } else { format!(" ({words})") }
}

/// The line, or what is known where there are none.
fn words(place: &Location) -> String {
    match place.short_words() {
        line if line.is_empty() => place.words(),
        line => line,
    }
}
