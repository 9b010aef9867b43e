//! Flags that are options of searches, made from the engine's table of them.

use anyhow::Result;
use chunkwright_engine::{
    Filter, Mode, OptionGroup, OptionValues, SEARCH_OPTIONS, SearchOption, SearchRequest,
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use serde_json::Value;

use crate::choice::choice;

/// A value parser for search modes.
pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    choice(&[("hybrid", ""), ("dense", ""), ("sparse", ""), ("lexical", "")])
}

/// Options that were given as flags, by their names.
pub(crate) type Given = Vec<(&'static str, Value)>;

/// Declares the flags of groups of options.
macro_rules! flags_of {
    ($($(#[doc = $doc:literal])+ $Flags:ident = $($group:ident $heading:expr),+;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $Flags(pub(crate) Given);

        impl FromArgMatches for $Flags {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Ok(Self([$(OptionGroup::$group),+].into_iter().flat_map(|group| read(group, matches)).collect()))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Args for $Flags {
            fn augment_args(command: Command) -> Command {
                $(let command = augment(OptionGroup::$group, $heading, command);)+
                command
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }
    )*};
}

flags_of! {
    /// Flags that say what is in an answer.
    AnswerFlags = Answer None;
    /// Flags that say how far hits are ranked.
    RankingFlags = Ranking None;
    /// Flags that say how rankings become one.
    FusionFlags = Fusion Some("Searching");
    /// Flags that say what a chunk is read with.
    ExpandFlags = Expansion Some("Expansion");
    /// Flags that say which collections are searched, beside their names.
    ScopeFlags = Collections Some("Collection");
}

/// The search that flags alone describe.
pub(crate) fn request_of(given: &Given) -> Result<SearchRequest> {
    Ok(SearchRequest::read("", given.clone())?)
}

/// Options that a letter stands for too.
const LETTERS: [(&str, char); 3] = [("mode", 'm'), ("top_k", 'k'), ("expand", 'e')];

fn options(group: OptionGroup) -> impl Iterator<Item = &'static SearchOption> {
    SEARCH_OPTIONS.iter().filter(move |option| option.group == group)
}

fn read(group: OptionGroup, matches: &ArgMatches) -> Given {
    let given = |option: &&SearchOption| matches.value_source(option.name) == Some(ValueSource::CommandLine);
    let value = |option: &'static SearchOption| match option.values {
        OptionValues::Filter => {
            let filters = matches.get_many::<Filter>(option.name).unwrap_or_default();
            serde_json::to_value(filters.cloned().fold(Filter::default(), Filter::and)).unwrap_or_default()
        }
        _ => match option.switch {
            Some(switch) => switch.value.into(),
            None if option.values == OptionValues::Flag => true.into(),
            None => matches.get_one::<String>(option.name).cloned().into(),
        },
    };
    options(group).filter(given).map(|option| (option.name, value(option))).collect()
}

fn augment(group: OptionGroup, heading: Option<&'static str>, command: Command) -> Command {
    let command = command.next_help_heading(heading);
    let command = command.args(options(group).filter_map(|option| Some(flag(option, option.flag()?))));
    command.next_help_heading(None)
}

fn flag(option: &'static SearchOption, name: String) -> Arg {
    let help = option.help();
    let first = help.split("\n\n").next().unwrap_or_default().to_owned();
    let mut arg =
        Arg::new(option.name).long(name).hide_short_help(option.group == OptionGroup::Fusion).help(first);
    if let Some((_, letter)) = LETTERS.iter().find(|(name, _)| *name == option.name) {
        arg = arg.short(*letter);
    }
    if help.contains("\n\n") {
        arg = arg.long_help(help.clone());
    }
    if let Some(switch) = option.switch {
        return arg.action(ArgAction::SetTrue).help(switch.help);
    }
    if option.group == OptionGroup::Collections {
        arg = arg.conflicts_with("collection");
    }
    arg = match option.values {
        OptionValues::Flag => return arg.action(ArgAction::SetTrue),
        OptionValues::OneOf(names) => arg.value_parser(PossibleValuesParser::new(names)),
        OptionValues::Number(..) | OptionValues::Decimal(..) => arg.allow_negative_numbers(true),
        OptionValues::Expand => arg.visible_alias("window"),
        OptionValues::Filter => arg
            .action(ArgAction::Append)
            .value_parser(Filter::parse)
            .help(format!("{help}; if given twice, both must hold")),
        _ => arg,
    };
    let default = match (option.default)() {
        // A third.
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map(|it| ((it * 1e2).round() / 1e2).to_string())
        }
        Value::Number(number) => Some(number.to_string()),
        Value::String(name) => Some(name),
        _ => None,
    };
    if let Some(default) = default {
        arg = arg.default_value(default);
    }
    arg.value_name(value_name(option))
}

/// What help texts show in place of a value.
fn value_name(option: &SearchOption) -> &'static str {
    match (option.name, option.values) {
        ("mode", _) => "MODE",
        ("fusion", _) => "HOW",
        ("rrf_k", _) => "K",
        ("min_relevance", _) => "X",
        (_, OptionValues::Decimal(..)) => "0..1",
        (_, OptionValues::Expand) => "parent|merge|N",
        (_, OptionValues::Filter) => "EXPRESSION",
        _ => "N",
    }
}
