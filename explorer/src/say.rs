//! The one place that all sentences of reports go through.
//!
//! Nothing may be read from a sentence: kinds, roles, reasons and identities are data beside it. With the feature
//! `scrambled` every sentence loses its words here, so that whatever read one shows.

/// A sentence of a report, as it is to be told.
#[must_use]
pub(crate) fn sentence(words: String) -> String {
    if is_scrambled() { scramble(&words) } else { words }
}

/// A sentence without its words: of the same length, and the same however often it is scrambled.
#[must_use]
pub fn scramble(words: &str) -> String {
    words
        .chars()
        .map(|c| {
            if c.is_alphabetic() {
                'x'
            } else if c.is_numeric() {
                '0'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(not(test))]
const fn is_scrambled() -> bool {
    cfg!(feature = "scrambled")
}

#[cfg(test)]
thread_local! {
    static SCRAMBLED: std::cell::Cell<bool> = const { std::cell::Cell::new(cfg!(feature = "scrambled")) };
}

#[cfg(test)]
fn is_scrambled() -> bool {
    SCRAMBLED.get()
}

/// Does something on this thread with all sentences scrambled.
#[cfg(test)]
pub(crate) fn scrambled<T>(run: impl FnOnce() -> T) -> T {
    let before = SCRAMBLED.replace(true);
    let result = run();
    SCRAMBLED.set(before);
    result
}
