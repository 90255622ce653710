//! A cause that was not found out: a search for it that ended early shows nothing.

use std::time::Duration;

use checker::explain::{ExplanationStage, Missing, WhyMissing};

/// Whether a stage could come to something with more time or executions.
pub(super) fn is_cut(missing: &Missing) -> bool {
    matches!(missing.why, WhyMissing::Spent | WhyMissing::Late | WhyMissing::Stopped)
}

/// The reason for which the cause is not known, where a stage came to nothing that could have shown it: `not found out in
/// 10 s`.
pub(super) fn words(missing: &[Missing], time: Duration) -> Option<String> {
    let is_telling = |missing: &&Missing| {
        matches!(missing.stage, ExplanationStage::Patterns | ExplanationStage::CriticalPair)
    };
    let why = &missing.iter().find(is_telling)?.why;
    Some(match why {
        WhyMissing::Late => format!("not found out in {}", time_words(time)),
        WhyMissing::Spent => "not found out within its executions".to_owned(),
        WhyMissing::Stopped => "not found out before it was stopped".to_owned(),
        WhyMissing::Promoted => "not found out, since more key points were found on the way".to_owned(),
        WhyMissing::Failed(error) => format!("not found out: {error}"),
    })
}

/// `10 s`, `100 ms`.
fn time_words(time: Duration) -> String {
    let short = format!("{time:?}");
    let unit = short.find(|c: char| c.is_alphabetic()).unwrap_or(short.len());
    format!("{} {}", &short[..unit], &short[unit..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_short_is_told_as_that() {
        let missing = |stage, why| Missing { stage, why };
        for (missing, expected, is_cut) in [
            (missing(ExplanationStage::Patterns, WhyMissing::Late), Some("not found out in 10 s"), true),
            (
                missing(ExplanationStage::CriticalPair, WhyMissing::Spent),
                Some("not found out within its executions"),
                true,
            ),
            (
                missing(ExplanationStage::Patterns, WhyMissing::Stopped),
                Some("not found out before it was stopped"),
                true,
            ),
            (
                missing(ExplanationStage::Patterns, WhyMissing::Promoted),
                Some("not found out, since more key points were found on the way"),
                false,
            ),
            (missing(ExplanationStage::PointOfNoReturn, WhyMissing::Late), None, true),
        ] {
            assert_eq!(super::is_cut(&missing), is_cut);
            assert_eq!(words(&[missing], Duration::from_secs(10)).as_deref(), expected);
        }
        assert_eq!(time_words(Duration::from_millis(100)), "100 ms");
        assert_eq!(words(&[], Duration::ZERO), None);
    }
}
