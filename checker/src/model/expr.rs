//! Expressions over a thread's registers.

/// An expression; everything but 0 is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expr {
    Number(i64),
    Register(usize),
    Binary(Operator, Box<(Expr, Expr)>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Differs,
    Less,
    Greater,
    Plus,
    Minus,
    Times,
}

impl Operator {
    /// The operator with this sign, and how tightly it binds.
    pub(super) fn of(sign: &str) -> Option<(Self, u8)> {
        Some(match sign {
            "||" => (Self::Or, 1),
            "&&" => (Self::And, 2),
            "==" => (Self::Equal, 3),
            "!=" => (Self::Differs, 3),
            "<" => (Self::Less, 3),
            ">" => (Self::Greater, 3),
            "+" => (Self::Plus, 4),
            "-" => (Self::Minus, 4),
            "*" => (Self::Times, 5),
            _ => return None,
        })
    }
}

impl Expr {
    pub(super) fn value(&self, registers: &[i64]) -> i64 {
        match self {
            Self::Number(number) => *number,
            Self::Register(register) => registers[*register],
            Self::Binary(operator, sides) => {
                let (left, right) = (sides.0.value(registers), sides.1.value(registers));
                match operator {
                    Operator::Or => i64::from(left != 0 || right != 0),
                    Operator::And => i64::from(left != 0 && right != 0),
                    Operator::Equal => i64::from(left == right),
                    Operator::Differs => i64::from(left != right),
                    Operator::Less => i64::from(left < right),
                    Operator::Greater => i64::from(left > right),
                    Operator::Plus => left.wrapping_add(right),
                    Operator::Minus => left.wrapping_sub(right),
                    Operator::Times => left.wrapping_mul(right),
                }
            }
        }
    }
}
