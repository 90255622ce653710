//! Conditions of breakpoints: comparisons of expressions and literals, joined by `&&`, `||` and `!`.

use std::cmp::Ordering;

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::debug) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Compare(String, Comparison, String),
    /// A value that is neither 0 nor false.
    Truth(String),
}

/// A comparison of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::debug) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The longer ones first, which begin with shorter ones.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Different),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Nesting that a person would write; more would only exhaust the stack.
const DEEPEST: usize = 50;

/// Gives the words of an expression's value, or says in a sentence why there are none.
pub(in crate::debug) type Evaluate<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

impl Condition {
    /// Reads a condition; the error is a sentence.
    pub(in crate::debug) fn parse(text: &str) -> Result<Self, String> {
        Self::nested(text, 0)
    }

    fn nested(text: &str, depth: usize) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("a part of the condition is missing".to_owned());
        }
        if depth > DEEPEST {
            return Err("the condition is nested too deep".to_owned());
        }
        let parts = |parts: Vec<&str>| -> Result<Vec<Self>, String> {
            parts.into_iter().map(|part| Self::nested(part, depth + 1)).collect()
        };
        let any = split(text, "||")?;
        if any.len() > 1 {
            return parts(any).map(Self::Any);
        }
        let all = split(text, "&&")?;
        if all.len() > 1 {
            return parts(all).map(Self::All);
        }
        if let Some((left, comparison, right)) = comparison(text)? {
            return Ok(Self::Compare(operand(left)?, comparison, operand(right)?));
        }
        if let Some(inner) = text.strip_prefix('!') {
            return Ok(Self::Not(Box::new(Self::nested(inner, depth + 1)?)));
        }
        match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => Self::nested(inner, depth + 1),
            None => operand(text).map(Self::Truth),
        }
    }

    /// Whether it holds; the error is a sentence with the reason for which that is not known.
    pub(in crate::debug) fn holds(&self, evaluate: &Evaluate<'_>) -> Result<bool, String> {
        match self {
            Self::Any(parts) => {
                parts.iter().try_fold(false, |holds, part| Ok(holds || part.holds(evaluate)?))
            }
            Self::All(parts) => parts.iter().try_fold(true, |holds, part| Ok(holds && part.holds(evaluate)?)),
            Self::Not(inner) => inner.holds(evaluate).map(|holds| !holds),
            Self::Compare(left, comparison, right) => {
                comparison.holds(&Operand::of(left, evaluate)?, &Operand::of(right, evaluate)?)
            }
            Self::Truth(operand) => match Operand::of(operand, evaluate)? {
                Operand::Whole(number) => Ok(number != 0),
                Operand::Real(number) => Ok(number != 0.0),
                Operand::Words(words) => Err(format!("`{words}` is neither a number nor true or false")),
            },
        }
    }
}

/// The text on one side of a comparison.
fn operand(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("a part of the condition is missing".to_owned()) } else { Ok(text.to_owned()) }
}

/// The places of a text that are in no parentheses, brackets or quotes.
fn open_places(text: &str) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut is_escaped = false;
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => {
                depth = depth.checked_sub(1).ok_or_else(|| format!("`{letter}` closes nothing"))?;
            }
            (None, _) if depth == 0 => places.push(place),
            (None, _) => {}
        }
    }
    if depth > 0 || quote.is_some() { Err("the condition is not finished".to_owned()) } else { Ok(places) }
}

/// The parts between a mark, where that is in no parentheses.
fn split<'a>(text: &'a str, mark: &str) -> Result<Vec<&'a str>, String> {
    let mut parts = Vec::new();
    let mut from = 0;
    for place in open_places(text)? {
        if place >= from && text[place..].starts_with(mark) {
            parts.push(&text[from..place]);
            from = place + mark.len();
        }
    }
    parts.push(&text[from..]);
    Ok(parts)
}

/// The sides of the only comparison in a text, if it is one.
fn comparison(text: &str) -> Result<Option<(&str, Comparison, &str)>, String> {
    let mut found = None;
    let mut from = 0;
    for place in open_places(text)? {
        // The arrow of a member is no comparison.
        let is_arrow = text[..place].ends_with('-') && text[place..].starts_with('>');
        let mark = COMPARISONS.iter().find(|(mark, _)| text[place..].starts_with(mark));
        let Some((mark, comparison)) = mark.filter(|_| !is_arrow && place >= from) else { continue };
        if found.is_some() {
            return Err("two comparisons need `&&` or `||` between them".to_owned());
        }
        from = place + mark.len();
        found = Some((&text[..place], *comparison, &text[from..]));
    }
    Ok(found)
}

/// One side of a comparison.
#[derive(Clone, PartialEq, Debug)]
enum Operand {
    Whole(i128),
    Real(f64),
    Words(String),
}

impl Operand {
    fn of(operand: &str, evaluate: &Evaluate<'_>) -> Result<Self, String> {
        Ok(match literal(operand) {
            Some(value) => value,
            // A character is shown as its number and its glyph, an address perhaps with what is there.
            None => {
                let words = evaluate(operand)?;
                let first = words.split_whitespace().next().unwrap_or_default();
                number(first).unwrap_or(Self::Words(words))
            }
        })
    }
}

/// A value that needs no program.
fn literal(text: &str) -> Option<Operand> {
    if matches!(text, "nullptr" | "NULL") {
        return Some(Operand::Whole(0));
    }
    if text.starts_with('"') {
        return Some(Operand::Words(text.to_owned()));
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let code = match quoted {
            "\\n" => '\n',
            "\\t" => '\t',
            "\\0" => '\0',
            "\\\\" => '\\',
            "\\'" => '\'',
            _ => quoted.chars().next().filter(|glyph| glyph.len_utf8() == quoted.len())?,
        };
        return Some(Operand::Whole(u32::from(code).into()));
    }
    number(text)
}

fn number(text: &str) -> Option<Operand> {
    match text {
        "true" => return Some(Operand::Whole(1)),
        "false" => return Some(Operand::Whole(0)),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().map(Operand::Whole);
    }
    let begins_with_digit =
        text.trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit());
    let whole = || text.parse().ok().map(Operand::Whole);
    let real = || text.parse().ok().map(Operand::Real);
    begins_with_digit.then(|| whole().or_else(real))?
}

impl Comparison {
    fn holds(self, left: &Operand, right: &Operand) -> Result<bool, String> {
        let order = match (left, right) {
            (Operand::Whole(left), Operand::Whole(right)) => Some(left.cmp(right)),
            (Operand::Real(left), Operand::Real(right)) => left.partial_cmp(right),
            (Operand::Whole(left), Operand::Real(right)) => (*left as f64).partial_cmp(right),
            (Operand::Real(left), Operand::Whole(right)) => left.partial_cmp(&(*right as f64)),
            (Operand::Words(left), Operand::Words(right))
                if matches!(self, Self::Equal | Self::Different) =>
            {
                Some(if left == right { Ordering::Equal } else { Ordering::Less })
            }
            (Operand::Words(words), _) | (_, Operand::Words(words)) => {
                return Err(format!("`{words}` cannot be compared like that"));
            }
        };
        Ok(match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::Different => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(expression: &str) -> Result<String, String> {
        let known = [
            ("i", "3"),
            ("p->n", "-7"),
            ("a[i]", "0"),
            ("flag", "true"),
            ("c", "120 'x'"),
            ("x", "2.5"),
            ("name", "\"a || b\""),
            ("null", "0x0"),
            ("gone", "optimised out"),
        ];
        let found = known.iter().find(|(name, _)| *name == expression);
        found.map(|(_, value)| (*value).to_owned()).ok_or_else(|| format!("`{expression}` is not a variable"))
    }

    #[test]
    fn conditions_hold_or_not() {
        for (text, expected) in [
            ("i", true),
            ("a[i]", false),
            ("!a[i]", true),
            ("i == 3", true),
            ("i==0x3", true),
            ("i != 3", false),
            ("p->n < -6", true),
            ("p->n>=-6", false),
            ("x <= 2.5 && x > 2", true),
            ("i > 5 || (flag && !(i < 3))", true),
            ("flag == true", true),
            ("c == 'x'", true),
            ("c == '\\n'", false),
            ("name == \"a || b\"", true),
            ("name != \"a\"", true),
            ("null == nullptr", true),
            ("3 < i", false),
            // A part that decides the whole already is enough.
            ("i == 3 || unknown", true),
        ] {
            assert_eq!(Condition::parse(text).unwrap().holds(&evaluate), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_said_in_a_sentence() {
        for (text, expected) in [
            ("", "a part of the condition is missing"),
            ("i ==", "a part of the condition is missing"),
            ("i && ", "a part of the condition is missing"),
            ("(i", "the condition is not finished"),
            ("i)", "`)` closes nothing"),
            ("name == \"a", "the condition is not finished"),
            ("1 < i < 3", "two comparisons need `&&` or `||` between them"),
        ] {
            assert_eq!(Condition::parse(text), Err(expected.to_owned()), "{text}");
        }
        assert!(Condition::parse(&"!".repeat(1000)).is_err());
        assert!(Condition::parse(&"(".repeat(1000)).is_err());
    }

    #[test]
    fn what_is_not_known_is_not_decided() {
        for (text, expected) in [
            ("j", "`j` is not a variable"),
            ("j == 3", "`j` is not a variable"),
            ("gone == 3", "`optimised out` cannot be compared like that"),
            ("gone", "`optimised out` is neither a number nor true or false"),
        ] {
            let condition = Condition::parse(text).unwrap();
            assert_eq!(condition.holds(&evaluate), Err(expected.to_owned()), "{text}");
        }
    }
}
