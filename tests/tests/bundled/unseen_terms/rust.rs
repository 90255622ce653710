//! The program of a term in Rust.

use std::fmt;
use std::fmt::Write;

use super::term::{Deed, Term};
use crate::numbers::Numbers;

/// A place of cells.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    /// Atomic statics.
    Static,
    /// Behind a shared pointer.
    Arc,
    /// In the frame of `main`, lent to scoped threads.
    Frame,
    /// A boxed slice that is leaked.
    Leaked,
}

/// From where cells are accessed.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Inline,
    Function,
    /// A function of a trait.
    Trait,
}

/// The way in which the program of a seed is written and compiled.
#[derive(Clone)]
pub(super) struct Dress {
    place: Place,
    form: Form,
    /// The number of times that private memory is touched before.
    pub(super) rounds: u64,
    pub(super) is_optimised: bool,
}

impl Dress {
    pub(super) fn draw(numbers: &mut Numbers) -> Self {
        Self {
            place: numbers.one_of(&[Place::Static, Place::Arc, Place::Frame, Place::Leaked]),
            form: numbers.one_of(&[Form::Inline, Form::Function, Form::Trait]),
            rounds: numbers.one_of(&[0, 10, 300, 3_000]),
            is_optimised: numbers.below(2) == 0,
        }
    }

    /// The kinds to which it belongs.
    pub(super) fn kinds(&self) -> Vec<String> {
        let Self { place, form, rounds, .. } = self;
        vec![
            "Rust".into(),
            format!("Rust {place:?}"),
            format!("Rust {form:?}"),
            format!("Rust before {rounds}"),
        ]
    }

    /// The text of the program.
    pub(super) fn source(&self, term: &Term) -> String {
        let Self { place, form, rounds, .. } = self;
        let inline = if *form == Form::Inline { "#[inline(always)]" } else { "#[inline(never)]" };
        let by = if *form == Form::Trait { "&dyn Value" } else { "&Cell" };
        let mut text = format!(
            "#![allow(unused)]\nuse std::sync::atomic::*;\nuse std::sync::*;\n\
             type Cell = AtomicU16;\ntrait Value {{ fn get(&self) -> u16; fn put(&self, value: u16); }}\n\
             impl Value for Cell {{\n    {inline}\n    fn get(&self) -> u16 {{ self.load(Ordering::Relaxed) }}\n    {inline}\n    \
             fn put(&self, value: u16) {{ self.store(value, Ordering::Relaxed) }}\n}}\n\
             static LOCK: Mutex<()> = Mutex::new(());\n"
        );
        let (declared, start) = match place {
            Place::Static => {
                ("static CELLS: [Cell; 2] = [Cell::new(0), Cell::new(0)];\n", "let cells = &CELLS;")
            }
            Place::Arc => ("", "let cells = Arc::new(vec![Cell::new(0), Cell::new(0)]);"),
            Place::Frame => ("", "let cells = [Cell::new(0), Cell::new(0)]; let cells = &cells;"),
            Place::Leaked => (
                "",
                "let cells: &'static [Cell] = Box::leak(vec![Cell::new(0), Cell::new(0)].into_boxed_slice());",
            ),
        };
        text.push_str(declared);
        for (number, steps) in term.threads.iter().enumerate() {
            let _ = write!(
                text,
                "fn thread_{number}(cells: &[Cell]) -> Vec<u16> {{\n    let mut seen = Vec::new();\n    let own = [Cell::new(0), Cell::new(0)];\n    \
                 for i in 0..{rounds} {{\n        let p: {by} = std::hint::black_box(&own[i % 2]);\n        \
                 let v = p.get(); p.put((v + 1) % 90);\n    }}\n"
            );
            for step in steps {
                let _ = writeln!(text, "    let p: {by} = std::hint::black_box(&cells[{}]);", step.cell);
                if step.is_locked {
                    text.push_str("    let guard = LOCK.lock().unwrap();\n");
                }
                let _ = match step.deed {
                    Deed::Change { factor, more } => {
                        writeln!(text, "    let v = p.get(); p.put(v * {factor} + {more});")
                    }
                    Deed::Store(value) => writeln!(text, "    p.put({value});"),
                    Deed::Load => writeln!(text, "    let v = p.get();"),
                };
                if step.is_locked {
                    text.push_str("    drop(guard);\n");
                }
                if step.deed == Deed::Load {
                    text.push_str("    seen.push(v);\n");
                }
            }
            text.push_str("    seen\n}\n");
        }
        self.main(&mut text, term, start);
        text
    }

    /// Makes the cells and the threads, and looks at the outcome.
    fn main(&self, text: &mut String, term: &Term, start: &str) {
        let _ = writeln!(text, "fn main() {{\n    {start}");
        for (cell, value) in term.cells.iter().enumerate() {
            let _ = writeln!(text, "    cells[{cell}].put({value});");
        }
        let is_scoped = matches!(self.place, Place::Frame);
        text.push_str("    let mut all: Vec<u16> = Vec::new();\n");
        if is_scoped {
            text.push_str("    std::thread::scope(|scope| {\n");
        }
        for number in 0..term.threads.len() {
            let _ = match self.place {
                Place::Frame => {
                    writeln!(text, "    let thread_{number} = scope.spawn(|| thread_{number}(cells));")
                }
                Place::Arc => writeln!(
                    text,
                    "    let lent = cells.clone(); let thread_{number} = std::thread::spawn(move || thread_{number}(&lent));"
                ),
                _ => writeln!(
                    text,
                    "    let thread_{number} = std::thread::spawn(move || thread_{number}(cells));"
                ),
            };
        }
        for number in 0..term.threads.len() {
            let _ = writeln!(text, "    all.extend(thread_{number}.join().unwrap());");
        }
        if is_scoped {
            text.push_str("    });\n");
        }
        let _ = write!(
            text,
            "    let cells = cells.iter().take({}).map(|cell| cell.get()).collect::<Vec<u16>>();\n    \
             let words: Vec<String> = cells.iter().chain(&all).map(u16::to_string).collect();\n    \
             let outcome = words.join(\".\");\n    let wanted: Vec<String> = std::env::args().skip(1).collect();\n    \
             let is_known = wanted.contains(&outcome);\n    \
             if is_known == (wanted.len() == 1) {{\n        panic!(\"{{outcome}}\");\n    }}\n}}\n",
            term.cells.len()
        );
    }
}

impl fmt::Display for Dress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.kinds().join(", "), if self.is_optimised { "-O2" } else { "-O0" })
    }
}
