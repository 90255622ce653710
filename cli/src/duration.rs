//! Durations as arguments.

use std::time::Duration;

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let unclear = || format!("`{text}` is not a duration: write `500ms`, `20s` or `2m`");
    match humantime::parse_duration(text).map_err(|_| unclear())? {
        Duration::ZERO => Err("it must be longer than 0".to_owned()),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, expected) in [("500ms", 500), ("20s", 20_000), ("2m", 120_000), ("1m 30s", 90_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(expected)));
        }
        for text in ["", "20", "s", "-1s", "1 fortnight", "0s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
