//! Dresses: how a program touches the cells of a term.

use std::fmt;

use super::access::{Access, CALLS, FILE, FUNCTIONS, INSTRUCTIONS, PLUG_INS, USUAL};
use super::kept::KEPT_ONES;
use super::place::{CONTAINERS, LIBRARY, PLACES, Place, TWICE};
use super::term::Term;
use crate::numbers::Numbers;

/// More accesses than these are none by calls that may block.
const MOST_BLOCKING: usize = 5;

/// The way in which a thread gets at the address of a cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Handing {
    /// In what it is started with.
    Job,
    /// In a structure that is passed by value.
    Value,
    /// In a global variable.
    Global,
    /// By a function, each time.
    Lookup,
}

/// From where a cell is accessed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Form {
    Inline,
    Function,
    Pointer,
    Qsort,
    Bsearch,
    Lfind,
    Handler,
}

/// In which part of a thread's life its deeds are done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Part {
    Body,
    /// In the destructor of its value of a key.
    Destructor,
    /// In a handler that runs when it exits.
    Cleanup,
    /// In a thread of its own, for which it waits.
    Nested,
}

/// The memory that the same instructions have touched before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum WarmUp {
    None,
    /// Private memory, so often, in a loop before the deed with this number.
    Before(u64, usize),
    /// Private memory, so often, in a loop around each deed.
    Around(u64),
}

impl WarmUp {
    pub(super) fn rounds(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Before(rounds, _) | Self::Around(rounds) => rounds,
        }
    }
}

/// The place of private memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Own {
    Job,
    Stack,
    Heap,
}

/// The way in which the program of a seed is written, compiled and explored.
#[derive(Clone)]
pub(super) struct Dress {
    pub(super) access: Access,
    pub(super) place: Place,
    pub(super) handing: Handing,
    pub(super) form: Form,
    pub(super) warm_up: WarmUp,
    pub(super) own: Own,
    pub(super) part: Part,
    /// The threads with a warm-up: bits.
    pub(super) warm: u64,
    /// Whether `main` is the last thread.
    pub(super) takes_part: bool,
    /// Whether threads are processes.
    pub(super) is_forked: bool,
    pub(super) is_optimised: bool,
    pub(super) is_stripped: bool,
    pub(super) is_fixed: bool,
    pub(super) strategy: &'static str,
}

impl Dress {
    pub(super) fn draw(numbers: &mut Numbers, term: &Term) -> Self {
        let access = match numbers.below(16) {
            0..5 => numbers.one_of(&USUAL),
            5..9 => numbers.one_of(&INSTRUCTIONS),
            9..11 => numbers.one_of(&FUNCTIONS),
            11..13 => numbers.one_of(&CALLS),
            13..15 => numbers.one_of(&KEPT_ONES),
            _ if numbers.below(3) == 0 => numbers.one_of(&PLUG_INS),
            _ => numbers.one_of(&CALLS),
        };
        let is_kept = KEPT_ONES.iter().any(|kept| kept.name == access.name);
        // All that may block is one object for the search, which has many orders of it.
        let is_many = term.threads.len() > 2 || term.accesses() > MOST_BLOCKING;
        let is_long = access.most_rounds == 0 && !is_kept && is_many;
        let access = if is_long { FILE } else { access };
        let place = match numbers.below(20) {
            0 => TWICE,
            1..3 => numbers.one_of(&CONTAINERS),
            _ => numbers.one_of(&PLACES),
        };
        let is_narrow = ["int", "short"].contains(&access.cell) && !is_kept;
        let place = if place.name == LIBRARY.name && !is_narrow { PLACES[0] } else { place };
        let handing = if place.is_cpp {
            Handing::Lookup
        } else {
            numbers.one_of(&[Handing::Job, Handing::Value, Handing::Global, Handing::Lookup])
        };
        let form = match numbers.below(12) {
            0..3 => Form::Inline,
            3..8 => Form::Function,
            8..10 => Form::Pointer,
            _ => numbers.one_of(&[Form::Qsort, Form::Bsearch, Form::Lfind, Form::Handler]),
        };
        let most = if matches!(form, Form::Inline | Form::Function | Form::Pointer) { 10_000 } else { 300 };
        let rounds = numbers.one_of(&[1, 10, 10, 300, 300, 3_000, 10_000]).min(access.most_rounds).min(most);
        let warm_up = match numbers.below(4) {
            _ if rounds == 0 => WarmUp::None,
            0 => WarmUp::None,
            1..3 => WarmUp::Before(rounds, numbers.below(2) as usize),
            _ => WarmUp::Around(rounds),
        };
        let has_locks = term.threads.iter().flatten().any(|step| step.is_locked);
        // Each process has its own of much that is kept.
        let is_forked = place.name == "shared-mapping" && !has_locks && !is_kept && numbers.below(3) == 0;
        let is_call = is_kept || CALLS.iter().any(|call| call.name == access.name);
        Self {
            access,
            place,
            handing,
            form,
            warm_up,
            own: numbers.one_of(&[Own::Job, Own::Stack, Own::Heap]),
            warm: numbers.one_of(&[1, 2, 7, 7]),
            takes_part: numbers.below(3) == 0,
            is_forked,
            is_optimised: numbers.below(2) == 0,
            is_stripped: numbers.below(4) == 0,
            is_fixed: numbers.below(8) == 0,
            strategy: match numbers.one_of(&["dpor", "dpor", "dpor", "auto", "icb", "bounded-dpor"]) {
                // Each access is several key points.
                _ if is_call || place.is_cpp || form == Form::Handler => "dpor",
                strategy => strategy,
            },
            part: match numbers.below(6) {
                0 if !is_forked => numbers.one_of(&[Part::Destructor, Part::Cleanup, Part::Nested]),
                _ => Part::Body,
            },
        }
    }

    /// Whether claims are to be made of the program.
    pub(super) fn is_claimable(&self) -> bool {
        let is_called_back = matches!(self.form, Form::Bsearch | Form::Lfind);
        self.access.is_claimable && self.place.is_claimable && !is_called_back && !self.is_forked
    }

    /// The kinds to which it belongs, by which programs are counted.
    pub(super) fn kinds(&self) -> Vec<String> {
        let warm_up = match self.warm_up {
            WarmUp::None => "none".to_owned(),
            WarmUp::Before(rounds, _) => format!("before {rounds}"),
            WarmUp::Around(rounds) => format!("around {rounds}"),
        };
        let mut kinds = vec![
            format!("access {}", self.access.name),
            format!("place {}", self.place.name),
            format!("handing {:?}", self.handing),
            format!("form {:?}", self.form),
            format!("warm-up {warm_up}"),
            format!("part {:?}", self.part),
            format!("strategy {}", self.strategy),
        ];
        if self.is_forked {
            kinds.push("processes".to_owned());
        }
        if self.is_fixed {
            kinds.push("fixed addresses".to_owned());
        }
        kinds
    }
}

impl fmt::Display for Dress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.is_optimised { "-O2" } else { "-O0" };
        let with = |is: bool, word: &'static str| if is { word } else { "" };
        let words = [with(self.takes_part, ", main takes part"), with(self.is_stripped, ", stripped")];
        write!(
            f,
            "{}, own {:?}, warm {}, {level}{}",
            self.kinds().join(", "),
            self.own,
            self.warm,
            words.concat()
        )
    }
}
