//! The program's output in the debug console: every byte once, as far as the session has been; and, where it has gone back,
//! a line that says how much of it is written up to there.

use std::io::Write;

use explorer::debug::{ProgramOutput, StepPosition};
use serde_json::json;

use crate::client::Client;

/// Output in the debug console.
#[derive(Debug, Default)]
pub(crate) struct Console {
    /// Of standard output and standard error, all that has been shown, in the order in which it is written.
    shown: [Vec<u8>; 2],
    /// Numbers of bytes at the place where the session stood last.
    here: [usize; 2],
    /// Whether the user knows that some of the output is never written.
    is_loss_told: bool,
}

impl Console {
    /// Shows what is new.
    pub(crate) fn show<W: Write>(
        &mut self,
        client: &mut Client<W>,
        written: &ProgramOutput,
        at: &StepPosition,
    ) {
        let streams = [("stdout", &written.stdout), ("stderr", &written.stderr)];
        for (shown, (category, bytes)) in self.shown.iter_mut().zip(streams) {
            let new = new_in(shown, bytes);
            let whole = whole_characters(&new);
            if whole == 0 {
                continue;
            }
            *shown = bytes[..bytes.len() - (new.len() - whole)].to_vec();
            let text = String::from_utf8_lossy(&new[..whole]);
            client.event("output", json!({"category": category, "output": text}));
        }
        if written.lost > 0 && !std::mem::replace(&mut self.is_loss_told, true) {
            client.say(&format!(
                "the program ends before it writes the last {} bytes of this standard output, which it has printed into its \
                 buffer: outside of the debugger nobody sees them",
                written.lost
            ));
        }
        let here = [written.stdout.len(), written.stderr.len()];
        if here != self.here && here != [self.shown[0].len(), self.shown[1].len()] {
            client.say(&words(written, at));
        }
        self.here = here;
    }
}

/// The part of a stream that was not shown yet; nothing where the session has been further. Output that is written past a
/// buffer comes before what waits in that, and may be later than it.
fn new_in(shown: &[u8], now: &[u8]) -> Vec<u8> {
    if now.len() <= shown.len() {
        return Vec::new();
    }
    let same = shown.iter().zip(now).take_while(|(shown, now)| shown == now).count();
    let (waited, rest) = (&shown[same..], &now[same..]);
    let place = rest.windows(waited.len().max(1)).position(|part| part == waited);
    match place.filter(|_| !waited.is_empty()) {
        Some(place) => [&rest[..place], &rest[place + waited.len()..]].concat(),
        None => rest.to_vec(),
    }
}

/// Number of bytes without a character that has only begun.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // Bytes that are no text at all are shown as they are.
        _ => bytes.len(),
    }
}

fn words(written: &ProgramOutput, at: &StepPosition) -> String {
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().last().map(|line| line.chars().take(100).collect::<String>())
    };
    let parts = [("standard output", &written.stdout), ("standard error", &written.stderr)];
    let ends: Vec<String> = parts
        .iter()
        .filter_map(|(name, bytes)| Some(format!("{name} ends with `{}`", last(bytes)?)))
        .collect();
    let ends = if ends.is_empty() { "nothing has been written yet".to_owned() } else { ends.join(", ") };
    format!("[step {} of {}: up to here, {ends}]", at.step, at.steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_shown_once_whatever_waits_in_the_buffer() {
        let new =
            |shown: &str, now: &str| String::from_utf8(new_in(shown.as_bytes(), now.as_bytes())).unwrap();
        assert_eq!(new("", "one"), "one");
        assert_eq!(new("one", "one, two"), ", two");
        // The session has gone back, or nowhere.
        assert_eq!(new("one, two", "one"), "");
        assert_eq!(new("one", "one"), "");
        // `!` is written directly, while `waits` waits.
        assert_eq!(new("one waits", "one !waits"), "!");
        assert_eq!(new("one !waits", "one !waits longer"), " longer");
    }
}
