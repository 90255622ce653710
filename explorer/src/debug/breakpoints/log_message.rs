//! Message of a log point: text with expressions in braces.

use super::condition::Evaluate;

/// A message, in parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::debug) struct LogMessage(Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Text(String),
    Expression(String),
}

impl LogMessage {
    /// Every text is a message: a brace that is not closed stands for itself.
    pub(in crate::debug) fn parse(mut text: &str) -> Self {
        let mut parts = Vec::new();
        while let Some((before, rest)) = text.split_once('{')
            && let Some((expression, after)) = rest.split_once('}')
        {
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Expression(expression.trim().to_owned()));
            text = after;
        }
        parts.push(Part::Text(text.to_owned()));
        Self(parts)
    }

    /// The message with values in place of expressions; where there is none, why.
    pub(in crate::debug) fn words(&self, evaluate: &Evaluate<'_>) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Expression(expression) => {
                evaluate(expression).unwrap_or_else(|why| format!("{{{expression}: {why}}}"))
            }
        };
        self.0.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_replaced_by_their_values() {
        let evaluate = |expression: &str| match expression {
            "i" => Ok("3".to_owned()),
            _ => Err("it is not a variable".to_owned()),
        };
        for (text, expected) in [
            ("i is { i }, and i {i}", "i is 3, and i 3"),
            ("{j}", "{j: it is not a variable}"),
            ("{i", "{i"),
            ("i}", "i}"),
            ("", ""),
        ] {
            assert_eq!(LogMessage::parse(text).words(&evaluate), expected, "{text}");
        }
    }
}
