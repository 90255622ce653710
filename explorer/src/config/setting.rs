//! Every setting of how a program is explored: its name, type, default, meaning, and where it holds, said once.
//!
//! The command line, `interleaver.toml`, the flags that the language server gives an exploration, completion in editors, and
//! the tables of `docs/configuration.md` and `docs/options.md` are made from this description.

use std::fmt;
use std::time::Duration;

use super::value_kind::ValueKind;
use crate::input::request::{MemoryModel, Request, Strategy};

/// The part of the file in which a key of `interleaver.toml`, or a setting, may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// In the file: at the top, for everything.
    Top,
    /// In the file: in `[[target]]`.
    Target,
    /// In the file: at both places; that in `[[target]]` wins.
    Both,
    /// Not in the file: on the command line alone.
    CommandLine,
}

impl Section {
    /// Whether it is one that a part of the file belongs to: a `[[target]]`, or the top.
    #[must_use]
    pub fn allows(self, in_target: bool) -> bool {
        match self {
            Self::Both => true,
            Self::Top => !in_target,
            Self::Target => in_target,
            Self::CommandLine => false,
        }
    }
}

/// A setting as it is described.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in `interleaver.toml`.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ValueKind,
    /// The smallest and the largest number that it takes, or the shortest time: more than none, where that is not 0.
    pub range: (u64, u64),
    /// The part of the file in which it may stand beside the command line, which has an option for each setting.
    pub section: Section,
    /// Its meaning, in one or two sentences.
    pub doc: &'static str,
    negated: &'static str,
    default: fn() -> Value,
    get: fn(&Settings) -> Option<Value>,
    set: fn(&mut Settings, Value) -> Option<()>,
    choice: fn(&str) -> Option<Value>,
}

impl Setting {
    /// The setting of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Its option on the command line, after two dashes. A flag that is set by default has one that turns it off.
    #[must_use]
    pub fn option(&self) -> &'static str {
        if self.is_on() { self.negated } else { self.name }
    }

    /// The meaning of its option.
    #[must_use]
    pub fn option_doc(&self) -> String {
        let mut letters = self.doc.chars();
        match letters.next().filter(|_| self.is_on()) {
            Some(first) => format!("Do not {}{}", first.to_lowercase(), letters.as_str()),
            None => self.doc.to_owned(),
        }
    }

    /// Whether it is a flag that is set where nothing is said.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.default() == Value::Flag(true)
    }

    /// Its value where nothing is said.
    #[must_use]
    pub fn default(&self) -> Value {
        (self.default)()
    }

    /// Its value in some settings.
    #[must_use]
    pub fn get(&self, settings: &Settings) -> Option<Value> {
        (self.get)(settings)
    }

    /// The value of that name, where it is one of several that have names.
    #[must_use]
    pub fn choice(&self, name: &str) -> Option<Value> {
        (self.choice)(name)
    }

    /// Has settings say this of it; without effect where the value is of another type, or out of range.
    pub fn set(&self, settings: &mut Settings, value: Value) {
        let _ = (self.set)(settings, value);
    }
}

/// The value of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A text; empty for none.
    Text(String),
    /// Texts. On the command line each has an option of its own.
    Texts(Vec<String>),
    /// A whole number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// A time.
    Duration(Duration),
    /// A search.
    Strategy(Strategy),
    /// A memory model.
    MemoryModel(MemoryModel),
}

/// As it is written on a command line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Texts(texts) => f.write_str(&texts.join(", ")),
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Duration(time) if time.subsec_nanos() == 0 => write!(f, "{}s", time.as_secs()),
            Self::Duration(time) => write!(f, "{}s {}ns", time.as_secs(), time.subsec_nanos()),
            Self::Strategy(strategy) => f.write_str(strategy.name()),
            Self::MemoryModel(model) => f.write_str(model.name()),
        }
    }
}

impl Value {
    /// As it is written in `interleaver.toml`.
    #[must_use]
    pub fn in_file(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Texts(texts) => format!("{texts:?}"),
            Self::Number(_) | Self::Flag(_) => self.to_string(),
            Self::Duration(_) | Self::Strategy(_) | Self::MemoryModel(_) => format!("\"{self}\""),
        }
    }
}

/// A type of settings.
trait Typed: Clone {
    const KIND: ValueKind;
    const MOST: u64 = u64::MAX;

    /// `None` where the value is of another type, or too large.
    fn of(value: Value) -> Option<Self>;

    fn value(self) -> Value;

    /// The value of that name, for types whose values have names.
    fn named(_name: &str) -> Option<Self> {
        None
    }
}

macro_rules! typed {
    ($type:ty, $variant:ident, $kind:expr $(, $named:path)?) => {
        impl Typed for $type {
            const KIND: ValueKind = $kind;

            fn of(value: Value) -> Option<Self> {
                if let Value::$variant(value) = value { Some(value) } else { None }
            }

            fn value(self) -> Value {
                Value::$variant(self)
            }

            $(fn named(name: &str) -> Option<Self> {
                $named(name)
            })?
        }
    };
}

typed!(String, Text, ValueKind::Text);
typed!(Vec<String>, Texts, ValueKind::Texts);
typed!(u64, Number, ValueKind::Number);
typed!(bool, Flag, ValueKind::Flag);
typed!(Duration, Duration, ValueKind::Duration);
typed!(Strategy, Strategy, ValueKind::Choice(&Strategy::NAMES), Strategy::named);
typed!(MemoryModel, MemoryModel, ValueKind::Choice(&MemoryModel::NAMES), MemoryModel::named);

impl Typed for u32 {
    const KIND: ValueKind = ValueKind::Number;
    const MOST: u64 = Self::MAX as u64;

    fn of(value: Value) -> Option<Self> {
        u64::of(value)?.try_into().ok()
    }

    fn value(self) -> Value {
        Value::Number(self.into())
    }
}

/// `FIELD: TYPE = DEFAULT, from LEAST, in SECTION, "NAME", "MEANING";` where the field is one of [`Request`] as well.
macro_rules! settings {
    ($($field:ident: $type:ty = $default:expr, from $least:literal, in $section:ident, $name:literal, $doc:literal;)*) => {
        /// Settings for an exploration, as far as they are given.
        #[derive(Clone, PartialEq, Eq, Default, Debug)]
        pub struct Settings {
            $(#[doc = $doc] pub $field: Option<$type>,)*
        }

        impl Settings {
            /// These, and where they say nothing, `others`.
            #[must_use]
            pub fn or(&self, others: &Self) -> Self {
                Self { $($field: self.$field.clone().or_else(|| others.$field.clone()),)* }
            }

            /// Changes what they say of a request, and nothing else.
            pub fn apply(&self, request: &mut Request) {
                $(if let Some(value) = &self.$field {
                    request.$field = value.clone();
                })*
            }

            /// All that a request says.
            #[must_use]
            pub fn of(request: &Request) -> Self {
                Self { $($field: Some(request.$field.clone()),)* }
            }
        }

        /// The value of each setting where nothing is said.
        pub(crate) struct Defaults;

        impl Defaults {
            $(pub(crate) fn $field() -> $type { $default })*
        }

        /// Every setting, in the order in which they are documented.
        pub const SETTINGS: &[Setting] = &[$(
            Setting {
                name: $name,
                negated: concat!("no-", $name),
                kind: <$type as Typed>::KIND,
                range: ($least, <$type as Typed>::MOST),
                section: Section::$section,
                doc: $doc,
                default: || Defaults::$field().value(),
                get: |settings| settings.$field.clone().map(Typed::value),
                set: |settings, value| {
                    settings.$field = Some(<$type as Typed>::of(value)?);
                    Some(())
                },
                choice: |name| <$type as Typed>::named(name).map(Typed::value),
            },
        )*];
    };
}

settings! {
    strategy: Strategy = Strategy::unless_named(false), from 0, in Both,
        "strategy", "The search; docs/searches.md says what each of them does.";
    max_preemptions: u32 = 2, from 0, in Both,
        "max-preemptions", "Largest number of preemptions of a schedule (auto, icb, bounded-dpor).";
    max_delays: u32 = 2, from 0, in Both,
        "max-delays", "Largest number of delays of a schedule (idb).";
    depth: u32 = 3, from 0, in Both,
        "depth", "The depth of the failures that are looked for (pct, pctvb).";
    max_variables: u32 = 2, from 0, in Both,
        "max-variables", "Largest number of variables at which a schedule preempts (vtb, pctvb).";
    max_threads: u32 = 3, from 0, in Both,
        "max-threads", "Largest number of threads whose order matters (vtb).";
    max_periods: u32 = 6, from 0, in Both,
        "max-periods", "Largest number of periods of a schedule (period).";
    max_stall: Duration = Duration::ZERO, from 0, in Both,
        "max-stall", "Longest time for which a thread that could run may stand still while the time of a sleep or of a timed wait runs out. A failure that takes longer stalls, up to 100 ms, is a warning.";
    memory_model: MemoryModel = MemoryModel::X86, from 0, in Both,
        "memory-model", "Memory model of a claim about all schedules: x86, which carries out stores after later loads, or sequential consistency (sc) alone.";
    max_schedules: u64 = 10_000, from 1, in Both,
        "max-schedules", "The search ends after this many executions.";
    time_limit: Duration = Duration::from_secs(60), from 1, in Both,
        "time-limit", "The search ends after this time.";
    explain_time: Duration = Duration::from_secs(10), from 1, in Both,
        "explain-time", "Longest time for the explanation of each bug.";
    run_timeout: Duration = Duration::from_secs(10), from 1, in Both,
        "run-timeout", "Longest time that a thread may run, in processor time, or wait without coming to its next key point.";
    step_limit: u32 = 100_000, from 1, in Both,
        "step-limit", "Largest number of events of an execution, which is cut there.";
    seed: u64 = 0, from 0, in Both,
        "seed", "Number that random choices start from.";
    keep_going: bool = false, from 0, in Both,
        "keep-going", "Look for further distinct bugs after the first. Editors do so unless this says otherwise.";
    ignore_exit_code: bool = false, from 0, in Both,
        "ignore-exit-code", "Take an exit code other than 0, of the program or of its client, for no failure.";
    fresh_directory: bool = false, from 0, in Both,
        "fresh-dir", "Give each execution its own copy of the working directory.";
    lock_order: bool = true, from 0, in Both,
        "lock-order", "Tell potential deadlocks: locks that threads take in opposite orders, where no execution deadlocked.";
    client: String = String::new(), from 0, in Both,
        "client", "A command that is started with each execution when the program is ready for it, as a client of a server: its steps are explored with those of threads, and its end ends the execution. It is no line for a shell; write sh -c '…' for one.";
    ready: String = String::new(), from 0, in Both,
        "ready", "Sign that the program is ready for its client: the port at which it listens, or a regular expression that a line of its output matches. Unless given, it is ready when it listens at any socket, or waits for input.";
    assume: Vec<String> = Vec::new(), from 0, in Both,
        "assume", "Entries of the account that the user answers for: libraries by their file names, with or without the version, or kinds of what reports call not seen.";
    explain: bool = true, from 0, in CommandLine,
        "explain", "Look for simpler schedules and causes of what was found.";
    races: bool = true, from 0, in CommandLine,
        "races", "Look for data races.";
    fail_on_races: bool = false, from 0, in CommandLine,
        "fail-on-races", "Count a data race as a bug; else it is a warning, which changes neither verdict nor exit code.";
}

impl Settings {
    /// The options of a command line that says the same.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let options = |setting: &Setting| match setting.get(self) {
            None => Vec::new(),
            Some(value @ Value::Flag(_)) if value == setting.default() => Vec::new(),
            Some(Value::Flag(_)) => vec![format!("--{}", setting.option())],
            Some(Value::Text(text)) if text.is_empty() => Vec::new(),
            Some(Value::Texts(texts)) => {
                texts.iter().map(|text| format!("--{}={text}", setting.option())).collect()
            }
            Some(value) => vec![format!("--{}={value}", setting.option())],
        };
        SETTINGS.iter().flat_map(options).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_that_of_a_request() {
        let said = Settings::of(&Request::new("x".into()));
        let mut settings = Settings::default();
        for setting in SETTINGS {
            assert_eq!(setting.get(&settings), None, "{}", setting.name);
            assert_eq!(setting.get(&said), Some(setting.default()), "{}", setting.name);
            setting.set(&mut settings, setting.default());
        }
        assert_eq!(settings, said);
    }

    #[test]
    fn options_say_what_settings_say() {
        let settings = Settings {
            strategy: Some(Strategy::Icb),
            max_preemptions: Some(3),
            time_limit: Some(Duration::from_millis(1_500)),
            keep_going: Some(true),
            fresh_directory: Some(false),
            lock_order: Some(false),
            assume: Some(vec!["libtbb.so".to_owned(), "file".to_owned()]),
            races: Some(false),
            fail_on_races: Some(false),
            ..Settings::default()
        };
        let expected = [
            "--strategy=icb",
            "--max-preemptions=3",
            "--time-limit=1s 500000000ns",
            "--keep-going",
            "--no-lock-order",
            "--assume=libtbb.so",
            "--assume=file",
            "--no-races",
        ];
        assert_eq!(settings.options(), expected);
        assert_eq!(humantime::parse_duration("1s 500000000ns"), Ok(Duration::from_millis(1_500)));
    }

    #[test]
    fn a_value_of_another_type_or_out_of_range_changes_nothing() {
        let mut settings = Settings::default();
        for (name, value) in [("seed", Value::Flag(true)), ("depth", Value::Number(u64::MAX))] {
            Setting::named(name).unwrap().set(&mut settings, value);
        }
        assert_eq!(settings, Settings::default());
    }
}
