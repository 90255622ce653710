//! The options of the command line that are settings: made from their description, which `interleaver.toml` has as well.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use explorer::config::{SETTINGS, Setting, Settings, Value, ValueKind};

use crate::duration::duration;

/// The settings of a command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingArgs(pub(crate) Settings);

/// Settings of which one says that there is nothing for the other.
const EXCLUSIVE: [(&str, &str); 2] = [("explain", "explain-time"), ("fail-on-races", "races")];

fn option(setting: &Setting) -> Arg {
    let help = setting.option_doc().trim_end_matches('.').to_owned();
    let exclusive = EXCLUSIVE.into_iter().filter(|(one, _)| *one == setting.name).map(|(_, other)| other);
    let arg = Arg::new(setting.name).long(setting.option()).conflicts_with_all(exclusive);
    let arg = match setting.kind.value_name() {
        Some(value) => arg.value_name(value),
        None => arg,
    };
    let with_value = || {
        let help = format!("{help} [default: {}]", setting.default());
        arg.clone().help(help).action(ArgAction::Set)
    };
    match setting.kind {
        ValueKind::Text => arg.help(help).action(ArgAction::Set),
        ValueKind::Texts => arg.help(help).action(ArgAction::Append),
        ValueKind::Flag => arg.help(help).action(ArgAction::SetTrue),
        ValueKind::Duration => {
            let least = setting.range.0;
            with_value().value_parser(move |text: &str| duration(text, least))
        }
        ValueKind::Choice(names) => {
            let setting = *setting;
            let named = move |name: String| setting.choice(&name).ok_or("no value of this name");
            with_value().value_parser(PossibleValuesParser::new(names).try_map(named))
        }
        _ => with_value().value_parser(value_parser!(u64).range(setting.range.0..=setting.range.1)),
    }
}

fn said(setting: &Setting, matches: &ArgMatches) -> Option<Value> {
    let name = setting.name;
    match setting.kind {
        ValueKind::Flag => matches.get_flag(name).then_some(Value::Flag(!setting.is_on())),
        ValueKind::Duration => matches.get_one::<Duration>(name).copied().map(Value::Duration),
        ValueKind::Choice(_) => matches.get_one::<Value>(name).cloned(),
        ValueKind::Texts => {
            matches.get_many::<String>(name).map(|texts| Value::Texts(texts.cloned().collect()))
        }
        ValueKind::Text => matches.get_one::<String>(name).cloned().map(Value::Text),
        _ => matches.get_one::<u64>(name).copied().map(Value::Number),
    }
}

impl Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for setting in SETTINGS {
            if let Some(value) = said(setting, matches) {
                setting.set(&mut self.0, value);
            }
        }
        Ok(())
    }
}
