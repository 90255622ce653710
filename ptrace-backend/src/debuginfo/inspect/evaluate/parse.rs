//! From text to the steps of an expression.

use super::error::EvaluateError;

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expression {
    Number(i128),
    /// A variable, perhaps with namespaces in front.
    Name(String),
    Dereference(Box<Expression>),
    AddressOf(Box<Expression>),
    Negated(Box<Expression>),
    /// `.name` and `->name`
    Member(Box<Expression>, String),
    Index(Box<Expression>, Box<Expression>),
}

/// Nesting that a person would write; more would only exhaust the stack.
const DEEPEST: usize = 100;

pub(super) fn parse(text: &str) -> Result<Expression, EvaluateError> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    if parser.rest.is_empty() {
        return Err(EvaluateError::Empty);
    }
    let expression = parser.unary()?;
    if parser.rest.is_empty() { Ok(expression) } else { Err(parser.unexpected()) }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn unary(&mut self) -> Result<Expression, EvaluateError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(EvaluateError::TooDeep);
        }
        let found = if self.take("*") {
            Expression::Dereference(Box::new(self.unary()?))
        } else if self.rest.starts_with("&&") {
            return Err(self.unexpected());
        } else if self.take("&") {
            // Rust's `&mut` asks for the same address.
            if self.rest.starts_with("mut ") {
                self.skip("mut ".len());
            }
            Expression::AddressOf(Box::new(self.unary()?))
        } else if self.take("-") {
            Expression::Negated(Box::new(self.unary()?))
        } else {
            self.postfix()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn postfix(&mut self) -> Result<Expression, EvaluateError> {
        let mut found = self.primary()?;
        loop {
            if self.take("->") || self.take(".") {
                let name = self.word().ok_or_else(|| self.unexpected())?;
                if name.ends_with("::") {
                    return Err(self.unexpected());
                }
                found = Expression::Member(Box::new(found), name.to_owned());
            } else if self.take("[") {
                let index = self.unary()?;
                if !self.take("]") {
                    return Err(self.unexpected());
                }
                found = Expression::Index(Box::new(found), Box::new(index));
            } else {
                return Ok(found);
            }
        }
    }

    fn primary(&mut self) -> Result<Expression, EvaluateError> {
        if self.take("(") {
            let inner = self.unary()?;
            return if self.take(")") { Ok(inner) } else { Err(self.unexpected()) };
        }
        let global = self.take("::");
        let Some(word) = self.word() else { return Err(self.unexpected()) };
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return if global { Err(self.unexpected()) } else { number(word).map(Expression::Number) };
        }
        let mut name = word.to_owned();
        while self.rest.starts_with("::") {
            self.skip(2);
            name.push_str("::");
            name.push_str(self.word().ok_or_else(|| self.unexpected())?);
        }
        Ok(Expression::Name(name))
    }

    /// Letters, digits and underscores.
    fn word(&mut self) -> Option<&'a str> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.skip(end);
        (!word.is_empty()).then_some(word)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.rest.starts_with(mark);
        if found {
            self.skip(mark.len());
        }
        found
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest[length..].trim_start();
    }

    fn unexpected(&self) -> EvaluateError {
        let is_assignment = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>="]
            .iter()
            .any(|mark| self.rest.starts_with(mark))
            && !self.rest.starts_with("==");
        match self.rest.chars().next() {
            Some('(') => EvaluateError::Call,
            Some(_) if is_assignment => EvaluateError::Assignment,
            Some(_) => EvaluateError::NotUnderstood(self.rest.chars().take(20).collect()),
            None => EvaluateError::Unfinished,
        }
    }
}

fn number(word: &str) -> Result<i128, EvaluateError> {
    let plain = word.replace('_', "");
    let digits = plain.trim_end_matches(['u', 'U', 'l', 'L']);
    let read = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    read.map_err(|_| EvaluateError::NotANumber(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match parse(text) {
            Ok(expression) => written(&expression),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    /// With all brackets.
    fn written(expression: &Expression) -> String {
        match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Name(name) => name.clone(),
            Expression::Dereference(inner) => format!("(*{})", written(inner)),
            Expression::AddressOf(inner) => format!("(&{})", written(inner)),
            Expression::Negated(inner) => format!("(-{})", written(inner)),
            Expression::Member(inner, name) => format!("({}.{name})", written(inner)),
            Expression::Index(inner, index) => format!("({}[{}])", written(inner), written(index)),
        }
    }

    #[test]
    fn expressions_bind_as_in_their_languages() {
        check("x", "x");
        check(" * p -> next . value ", "(*((p.next).value))");
        check("(*p).value", "((*p).value)");
        check("a[i][0x1F].b", "(((a[i])[31]).b)");
        check("pair.0.1", "((pair.0).1)");
        check("&mut queue.head", "(&(queue.head))");
        check("ns::Type::counter", "ns::Type::counter");
        check("::counter", "counter");
        check("a[-1]", "(a[(-1)])");
        check("1_000ul", "1000");
    }

    #[test]
    fn what_is_not_evaluated_is_said() {
        check("f(1)", "nothing is run in the program: calls cannot be evaluated");
        check("v.len()", "nothing is run in the program: calls cannot be evaluated");
        check("x = 1", "nothing is changed in the program: assignments cannot be evaluated");
        check("x++", "nothing is changed in the program: assignments cannot be evaluated");
        check("x == 1", "`== 1` is not understood here: names, `.`, `->`, `[i]`, `*` and `&` are");
        check("a[1", "the expression is not finished");
        check("", "there is nothing to evaluate");
        check("0x", "`0x` is not a number");
        check("a + b", "`+ b` is not understood here: names, `.`, `->`, `[i]`, `*` and `&` are");
        check(&"*".repeat(5000), "the expression is nested too deep");
        check(&"(".repeat(5000), "the expression is nested too deep");
    }
}
