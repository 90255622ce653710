//! The program's output in the debug console: every byte once, as far as the session has been; and, where it has gone back,
//! a line that says how much of it is written up to there.

use std::io::Write;

use explorer::debug::{Standing, Written};
use serde_json::json;

use crate::client::Client;

/// What the console shows.
#[derive(Debug, Default)]
pub(crate) struct Console {
    /// How many bytes of standard output and standard error.
    shown: [usize; 2],
    /// How many were written where the session stood last.
    here: [usize; 2],
}

impl Console {
    /// Shows what is new.
    pub(crate) fn show<W: Write>(&mut self, client: &mut Client<W>, written: &Written, at: &Standing) {
        let streams = [("stdout", &written.stdout), ("stderr", &written.stderr)];
        for (shown, (category, bytes)) in self.shown.iter_mut().zip(streams) {
            let Some(new) = bytes.get(*shown..).filter(|new| !new.is_empty()) else { continue };
            let whole = whole_characters(new);
            *shown += whole;
            let text = String::from_utf8_lossy(&new[..whole]);
            client.event("output", json!({"category": category, "output": text}));
        }
        let here = [written.stdout.len(), written.stderr.len()];
        if here != self.here && here != self.shown {
            client.say(&words(written, at));
        }
        self.here = here;
    }
}

/// How many bytes there are without a character that has only begun.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // What is no text at all is shown as it is.
        _ => bytes.len(),
    }
}

fn words(written: &Written, at: &Standing) -> String {
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
