//! Reads `interleaver.toml`, and says everything that is wrong in it at once.

use std::path::Path;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::content::{Config, TargetConfig};
use super::problem::{Problem, Severity};
use super::reader::{ConfigReader, text};
use super::schema::{self, Key};
use super::setting::{self, Setting, Settings};
use super::value_kind::ValueKind;

pub(super) fn parse(text: &str, root: &Path) -> (Config, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = ConfigReader::new(text, root);
    for error in errors {
        let range = error.span().unwrap_or_default();
        reader.problem(Severity::Error, range, format!("this is no TOML: {}", one_line(error.message())));
    }
    let config = reader.config(table.get_ref());
    (config, reader.into_problems())
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value that its key accepts.
enum ReadValue {
    Text(String),
    Texts(Vec<String>),
    Number(u64),
    Flag(bool),
    Duration(Duration),
    Variables(Vec<(String, String)>),
}

impl ConfigReader<'_> {
    fn config(&mut self, table: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        for (name, value) in table {
            let Some(key) = self.key(name, false) else { continue };
            if key.kind == ValueKind::Targets {
                config.targets = self.targets(value);
                continue;
            }
            if key.kind == ValueKind::Suppressions {
                config.suppressions = self.suppressions(value);
                continue;
            }
            let Some(read) = self.value(key, value) else { continue };
            let path = |text: &String| self.root.join(text);
            match (key.name, read) {
                ("build", ReadValue::Text(command)) => config.build = Some(command),
                ("search", ReadValue::Texts(texts)) => config.search = texts.iter().map(path).collect(),
                ("ignore", ReadValue::Texts(texts)) => config.ignore = texts.iter().map(path).collect(),
                (_, read) => self.setting(&mut config.settings, key, value, read),
            }
        }
        config
    }

    fn targets(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<TargetConfig> {
        let all = self.tables("target", value);
        if all.is_empty() {
            let sentence = format!("`target` must be {}", ValueKind::Targets.words());
            self.problem(Severity::Error, value.span(), sentence);
        }
        let mut found: Vec<TargetConfig> = Vec::new();
        for (range, table) in all {
            let target = self.target(table, range.clone());
            if target.program.as_os_str().is_empty() {
                self.problem(
                    Severity::Error,
                    range,
                    "this [[target]] names no `program`: add `program = \"build/app\"`".to_owned(),
                );
            } else if found.iter().any(|other| other.program == target.program && other.name == target.name) {
                let sentence =
                    "there is another [[target]] for this program: give each a `name` of its own".to_owned();
                self.problem(Severity::Error, range, sentence);
            } else {
                found.push(target);
            }
        }
        found
    }

    fn target(&mut self, table: &DeTable<'_>, range: std::ops::Range<usize>) -> TargetConfig {
        let line = self.text.line(range.start);
        let mut target = TargetConfig { line, ..TargetConfig::default() };
        for (name, value) in table {
            let Some(key) = self.key(name, true) else { continue };
            let Some(read) = self.value(key, value) else { continue };
            match (key.name, read) {
                ("name", ReadValue::Text(name)) => target.name = Some(name),
                ("program", ReadValue::Text(path)) => target.program = self.root.join(path),
                ("build", ReadValue::Text(command)) => target.build = Some(command),
                ("args", ReadValue::Texts(arguments)) => target.arguments = Some(arguments),
                ("cwd", ReadValue::Text(path)) => target.directory = Some(self.root.join(path)),
                ("stdin", ReadValue::Text(path)) => target.stdin = Some(self.root.join(path)),
                ("env", ReadValue::Variables(variables)) => target.variables = variables,
                ("creates-threads", ReadValue::Flag(flag)) => target.creates_threads = Some(flag),
                (_, read) => self.setting(&mut target.settings, key, value, read),
            }
        }
        target
    }

    fn setting(&mut self, settings: &mut Settings, key: &Key, value: &Spanned<DeValue<'_>>, read: ReadValue) {
        let Some(setting) = Setting::named(key.name) else { return };
        let read = match read {
            ReadValue::Number(number) => self.in_range(setting, value, number).map(setting::Value::Number),
            ReadValue::Flag(flag) => Some(setting::Value::Flag(flag)),
            ReadValue::Duration(Duration::ZERO) if setting.range.0 > 0 => {
                self.problem(
                    Severity::Error,
                    value.span(),
                    format!("`{}` must be longer than 0", setting.name),
                );
                None
            }
            ReadValue::Duration(time) => Some(setting::Value::Duration(time)),
            ReadValue::Text(text) if setting.kind == ValueKind::Text => Some(setting::Value::Text(text)),
            ReadValue::Text(name) => setting.choice(&name),
            ReadValue::Texts(texts) => Some(setting::Value::Texts(texts)),
            ReadValue::Variables(_) => None,
        };
        if let Some(read) = read {
            setting.set(settings, read);
        }
    }

    fn in_range(&mut self, setting: &Setting, value: &Spanned<DeValue<'_>>, number: u64) -> Option<u64> {
        let (least, most) = setting.range;
        let bound = if number < least {
            format!("at least {least}")
        } else if number > most {
            format!("at most {most}")
        } else {
            return Some(number);
        };
        self.problem(Severity::Error, value.span(), format!("`{}` must be {bound}", setting.name));
        None
    }

    /// The key of that name; unknown ones are warned of.
    fn key(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, in_target: bool) -> Option<&'static Key> {
        let written = name.get_ref().as_ref();
        let found = schema::find(written, in_target);
        if found.is_none() {
            let advice = match (schema::find(written, !in_target), schema::similar(written, in_target)) {
                (Some(_), _) if in_target => {
                    "it stands at the top of the file, before any [[target]]".to_owned()
                }
                (Some(_), _) => "it stands in a [[target]]".to_owned(),
                (None, Some(similar)) => format!("did you mean `{}`?", similar.name),
                (None, None) => "it has no effect".to_owned(),
            };
            let sentence = format!("`{written}` is not known here: {advice}");
            self.problem(Severity::Warning, name.span(), sentence);
        }
        found
    }

    fn value(&mut self, key: &Key, value: &Spanned<DeValue<'_>>) -> Option<ReadValue> {
        let read = read(key.kind, value.get_ref());
        // Invalid TOML has been reported already; the parser guessed what was meant.
        let (at, known) = (value.span(), &self.problems);
        let is_said = known.iter().any(|other| other.range.start <= at.end && at.start <= other.range.end);
        if read.is_none() && !is_said {
            let sentence = format!("`{}` must be {}", key.name, key.kind.words());
            self.problem(Severity::Error, value.span(), sentence);
        }
        read
    }
}

fn read(kind: ValueKind, value: &DeValue<'_>) -> Option<ReadValue> {
    match kind {
        ValueKind::Text | ValueKind::Path => text(value).filter(|text| !text.is_empty()).map(ReadValue::Text),
        ValueKind::Texts | ValueKind::Paths => {
            let all = value.as_array()?.iter().map(|one| text(one.get_ref()));
            all.collect::<Option<_>>().map(ReadValue::Texts)
        }
        ValueKind::Number => {
            let number = value.as_integer()?;
            u64::from_str_radix(number.as_str(), number.radix()).ok().map(ReadValue::Number)
        }
        ValueKind::Flag => value.as_bool().map(ReadValue::Flag),
        ValueKind::Duration => humantime::parse_duration(value.as_str()?).ok().map(ReadValue::Duration),
        ValueKind::Choice(choices) => {
            text(value).filter(|text| choices.contains(&text.as_str())).map(ReadValue::Text)
        }
        ValueKind::Variables => {
            let pairs = value.as_table()?.iter();
            let pairs = pairs.map(|(name, value)| Some((name.get_ref().to_string(), text(value.get_ref())?)));
            pairs.collect::<Option<_>>().map(ReadValue::Variables)
        }
        ValueKind::Targets | ValueKind::Suppressions => None,
    }
}
