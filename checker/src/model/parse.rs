//! Reads a model program.

use super::code::{Code, Instruction, Operation};
use super::expr::{Expr, Operator};
use super::lexer::tokens;
use super::{Model, ParseError};

type Parsed<T> = Result<T, ParseError>;

pub(super) fn program(text: &str) -> Parsed<Model> {
    let tokens = tokens(text)?;
    let mut segments: Vec<&[&str]> = tokens.split(|&token| token == "|").collect();
    let mut objects = Vec::new();
    let first = segments[0].iter().position(|&token| token != ";").map(|at| &segments[0][at..]);
    if let Some(["let", values @ ..]) = first {
        objects = initial(values)?;
        segments.remove(0);
    }
    let names: Vec<String> = segments.iter().enumerate().map(|(nth, tokens)| name(nth, tokens)).collect();
    let mut threads = Vec::new();
    for tokens in segments {
        let mut parser = Parser {
            tokens,
            at: 0,
            objects: &mut objects,
            names: &names,
            registers: Vec::new(),
            code: vec![],
        };
        parser.header();
        parser.block(None)?;
        let Parser { registers, code, .. } = parser;
        threads.push(Code { registers: registers.len(), instructions: code, created: false });
    }
    mark_created(&mut threads)?;
    Ok(Model { threads: threads.into(), objects: objects.into() })
}

fn initial(tokens: &[&str]) -> Parsed<Vec<(String, i64)>> {
    let words: Vec<&str> = tokens.iter().copied().filter(|token| !matches!(*token, "," | ";")).collect();
    let value = |chunk: &[&str]| match chunk {
        [name, "=", number] => Ok(((*name).to_owned(), self::number(number)?)),
        _ => Err(ParseError("`let` takes name=number".to_owned())),
    };
    words.chunks(3).map(value).collect()
}

fn number(token: &str) -> Parsed<i64> {
    token.parse().map_err(|_| ParseError(format!("`{token}` is not a number")))
}

fn name(nth: usize, tokens: &[&str]) -> String {
    match tokens.iter().find(|&&token| token != ";") {
        Some(first) if is_name(first) => (*first).to_owned(),
        _ => format!("T{}", nth + 1),
    }
}

fn is_name(token: &str) -> bool {
    token.strip_prefix('T').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
}

fn mark_created(threads: &mut [Code]) -> Parsed<()> {
    let targets: Vec<usize> = threads
        .iter()
        .flat_map(|code| &code.instructions)
        .filter_map(|instruction| match instruction {
            Instruction::Do(Operation::Create(thread), _) => Some(*thread),
            _ => None,
        })
        .collect();
    for &target in &targets {
        if target == 0 {
            return Err(ParseError(
                "the first thread starts with the program and cannot be created".to_owned(),
            ));
        }
        threads[target].created = true;
    }
    Ok(())
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    at: usize,
    objects: &'a mut Vec<(String, i64)>,
    names: &'a [String],
    registers: Vec<&'a str>,
    code: Vec<Instruction>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Parsed<&'a str> {
        let token = self.peek().ok_or_else(|| ParseError("the program ends too early".to_owned()))?;
        self.at += 1;
        Ok(token)
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        let token = self.next()?;
        if token == sign { Ok(()) } else { Err(ParseError(format!("`{sign}` expected, `{token}` found"))) }
    }

    fn header(&mut self) {
        self.skip_separators();
        if self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        if self.peek() == Some(":") {
            self.at += 1;
        }
    }

    fn skip_separators(&mut self) {
        while matches!(self.peek(), Some("," | ";")) {
            self.at += 1;
        }
    }

    /// Operations up to `end`, or to the end of the thread.
    fn block(&mut self, end: Option<&str>) -> Parsed<()> {
        loop {
            self.skip_separators();
            if self.peek() == end {
                self.at += 1;
                return Ok(());
            }
            self.statement()?;
        }
    }

    fn braces(&mut self) -> Parsed<()> {
        self.expect("{")?;
        self.block(Some("}"))
    }

    fn statement(&mut self) -> Parsed<()> {
        match self.next()? {
            "if" => self.branch(),
            "while" => self.repeat(),
            "loop" => self.times(),
            "await" => self.wait_until(),
            "assert" => {
                let condition = self.expression(0)?;
                self.code.push(Instruction::Assert(condition));
                Ok(())
            }
            "set" => {
                let target = self.register()?;
                let value = self.expression(0)?;
                self.code.push(Instruction::Set(target, value));
                Ok(())
            }
            "crash" => {
                self.code.push(Instruction::Crash);
                Ok(())
            }
            word => self.operation(word),
        }
    }

    fn branch(&mut self) -> Parsed<()> {
        let condition = self.expression(0)?;
        let skip = self.hole();
        self.braces()?;
        if self.peek() == Some("else") {
            self.at += 1;
            let out = self.hole();
            self.code[skip] = Instruction::JumpUnless(condition, self.code.len());
            self.braces()?;
            self.code[out] = Instruction::Jump(self.code.len());
        } else {
            self.code[skip] = Instruction::JumpUnless(condition, self.code.len());
        }
        Ok(())
    }

    fn repeat(&mut self) -> Parsed<()> {
        let start = self.code.len();
        let condition = self.expression(0)?;
        let skip = self.hole();
        self.braces()?;
        self.code.push(Instruction::Jump(start));
        self.code[skip] = Instruction::JumpUnless(condition, self.code.len());
        Ok(())
    }

    fn times(&mut self) -> Parsed<()> {
        let times = number(self.next()?)?;
        let start = self.at;
        for _ in 0..times {
            self.at = start;
            self.braces()?;
        }
        Ok(())
    }

    /// A first look, then one event for each change that is seen.
    fn wait_until(&mut self) -> Parsed<()> {
        let name = self.next()?;
        let (object, register) = (self.object_named(name), self.register_named(name));
        let condition = self.optional_expression()?.unwrap_or(Expr::Register(register));
        self.code.push(Instruction::Do(Operation::Read(object), register));
        let check = self.hole();
        let out = self.hole();
        self.code[check] = Instruction::JumpUnless(condition, self.code.len());
        self.code.push(Instruction::Do(Operation::Await(object), register));
        self.code.push(Instruction::Jump(check));
        self.code[out] = Instruction::Jump(self.code.len());
        Ok(())
    }

    fn hole(&mut self) -> usize {
        self.code.push(Instruction::Crash);
        self.code.len() - 1
    }

    fn operation(&mut self, word: &str) -> Parsed<()> {
        use Operation as O;
        let simple = match word {
            "yield" => Some(O::Yield),
            "sleep" => Some(O::Sleep),
            "exit" => Some(O::Exit),
            _ => None,
        };
        if let Some(operation) = simple {
            self.code.push(Instruction::Do(operation, 0));
            self.register_named("_");
            return Ok(());
        }
        let name = self.next()?;
        if let "create" | "join" = word {
            let found = self.names.iter().position(|known| known == name);
            let thread = found.ok_or_else(|| ParseError(format!("there is no thread `{name}`")))?;
            let operation = if word == "create" { O::Create(thread) } else { O::Join(thread) };
            let register = self.register_named("_");
            self.code.push(Instruction::Do(operation, register));
            return Ok(());
        }
        let on = self.object_named(name);
        let mut register = self.register_named(name);
        let operation = match word {
            "r" => {
                if !matches!(self.peek(), None | Some("," | ";" | "}")) {
                    register = self.register()?;
                }
                O::Read(on)
            }
            "w" => O::Write(on, self.optional_expression()?.unwrap_or(Expr::Number(1))),
            "add" => O::Add(on, self.optional_expression()?.unwrap_or(Expr::Number(1))),
            "cas" => O::CompareExchange(on, self.atom()?, self.atom()?),
            "lock" => O::Lock(on),
            "timedlock" => O::TimedLock(on),
            "trylock" => O::TryLock(on),
            "unlock" => O::Unlock(on),
            "wait" | "timedwait" => O::Wait { cond: on, mutex: self.object()?, timed: word == "timedwait" },
            "signal" => O::Signal(on),
            "broadcast" => O::Broadcast(on),
            "down" => O::Down(on),
            "trydown" => O::TryDown(on),
            "up" => O::Up(on),
            "rdlock" => O::ReadLock(on),
            "wrlock" => O::WriteLock(on),
            "tryrdlock" => O::TryReadLock(on),
            "trywrlock" => O::TryWriteLock(on),
            "rdunlock" => O::ReadUnlock(on),
            "wrunlock" => O::WriteUnlock(on),
            "bar" => {
                let count = number(self.next()?)?;
                let count = u32::try_from(count).ok().filter(|&count| count > 0);
                O::Barrier {
                    barrier: on,
                    count: count.ok_or_else(|| ParseError("a barrier is for 1 or more".to_owned()))?,
                }
            }
            _ => return Err(ParseError(format!("`{word}` is no operation"))),
        };
        self.code.push(Instruction::Do(operation, register));
        Ok(())
    }

    fn object(&mut self) -> Parsed<usize> {
        let name = self.next()?;
        Ok(self.object_named(name))
    }

    fn object_named(&mut self, name: &str) -> usize {
        self.objects.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.objects.push((name.to_owned(), 0));
            self.objects.len() - 1
        })
    }

    fn register(&mut self) -> Parsed<usize> {
        let name = self.next()?;
        Ok(self.register_named(name))
    }

    fn register_named(&mut self, name: &'a str) -> usize {
        self.registers.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.registers.push(name);
            self.registers.len() - 1
        })
    }

    fn optional_expression(&mut self) -> Parsed<Option<Expr>> {
        match self.peek() {
            None | Some("," | ";" | "}") => Ok(None),
            Some(_) => self.expression(0).map(Some),
        }
    }

    /// Operators that bind more tightly than `least`.
    fn expression(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.atom()?;
        while let Some((operator, binding)) = self.peek().and_then(Operator::of) {
            if binding <= least {
                break;
            }
            self.at += 1;
            let right = self.expression(binding)?;
            left = Expr::Binary(operator, Box::new((left, right)));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Parsed<Expr> {
        match self.next()? {
            "(" => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            "-" => Ok(Expr::Number(-number(self.next()?)?)),
            token if token.starts_with(|c: char| c.is_ascii_digit()) => Ok(Expr::Number(number(token)?)),
            token if token.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                Ok(Expr::Register(self.register_named(token)))
            }
            token => Err(ParseError(format!("a value expected, `{token}` found"))),
        }
    }
}
