//! Durations as arguments.

use std::time::Duration;

/// A duration; `least` is 0 where it may last no time.
pub(crate) fn duration(text: &str, least: u64) -> Result<Duration, String> {
    let unclear = || format!("`{text}` is not a duration: write `500ms`, `20s` or `2m`");
    match humantime::parse_duration(text).map_err(|_| unclear())? {
        Duration::ZERO if least > 0 => Err("it must be longer than 0".to_owned()),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, expected) in [("500ms", 500), ("20s", 20_000), ("2m", 120_000), ("1m 30s", 90_000)] {
            assert_eq!(duration(text, 1), Ok(Duration::from_millis(expected)));
        }
        assert_eq!(duration("0s", 0), Ok(Duration::ZERO));
        for text in ["", "20", "s", "-1s", "1 fortnight", "0s"] {
            assert!(duration(text, 1).is_err(), "{text}");
        }
    }
}
