//! The options of the command line that are settings: made from their description, which `interleaver.toml` has as well.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use explorer::config::{SETTINGS, Setting, Settings, Value, ValueKind};

use crate::duration::duration;

/// The settings of a command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingArgs(pub(crate) Settings);

fn option(setting: &Setting) -> Arg {
    let help = setting.doc.trim_end_matches('.');
    let arg = Arg::new(setting.name).long(setting.option());
    let with_value = |value: &'static str| {
        let help = format!("{help} [default: {}]", setting.default());
        arg.clone().help(help).value_name(value).action(ArgAction::Set)
    };
    match setting.kind {
        ValueKind::Text => arg.help(help.to_owned()).value_name("TEXT").action(ArgAction::Set),
        ValueKind::Flag => {
            let help = if is_on(setting) { format!("Turns this off: {help}") } else { help.to_owned() };
            arg.help(help).action(ArgAction::SetTrue)
        }
        ValueKind::Duration => {
            let least = setting.range.0;
            with_value("DURATION").value_parser(move |text: &str| duration(text, least))
        }
        ValueKind::Choice(names) => {
            let setting = *setting;
            let named = move |name: String| setting.choice(&name).ok_or("no value of this name");
            with_value("NAME").value_parser(PossibleValuesParser::new(names).try_map(named))
        }
        _ => with_value("N").value_parser(value_parser!(u64).range(setting.range.0..=setting.range.1)),
    }
}

/// Whether it is a flag that is set unless something is said.
fn is_on(setting: &Setting) -> bool {
    setting.default() == Value::Flag(true)
}

fn said(setting: &Setting, matches: &ArgMatches) -> Option<Value> {
    let name = setting.name;
    match setting.kind {
        ValueKind::Flag => matches.get_flag(name).then_some(Value::Flag(!is_on(setting))),
        ValueKind::Duration => matches.get_one::<Duration>(name).copied().map(Value::Duration),
        ValueKind::Choice(_) => matches.get_one::<Value>(name).cloned(),
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
