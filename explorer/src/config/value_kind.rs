//! Types of values, and their words.

/// The kind of value that a key takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Any text.
    Text,
    /// A file or folder, relative to the folder of `interleaver.toml`.
    Path,
    /// A list of texts.
    Texts,
    /// A list of files or folders.
    Paths,
    /// A whole number, from 0.
    Number,
    /// `true` or `false`.
    Flag,
    /// A text such as `"500ms"`, `"20s"` or `"2m"`.
    Duration,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A table of texts by name.
    Variables,
    /// A list of tables: `[[target]]`.
    Targets,
    /// A list of tables: `[[suppress]]`.
    Suppressions,
}

impl ValueKind {
    /// Completes "`key` must be …".
    #[must_use]
    pub fn words(self) -> String {
        let plain = match self {
            Self::Text => "a text in quotes",
            Self::Path => "a path in quotes",
            Self::Texts => "a list of texts, such as [\"a\", \"b\"]",
            Self::Paths => "a list of paths, such as [\"out/bin\"]",
            Self::Number => "a whole number, not below 0",
            Self::Flag => "true or false",
            Self::Duration => "a duration such as \"500ms\", \"20s\" or \"2m\"",
            Self::Variables => "a table of texts, such as { LIMIT = \"8\" }",
            Self::Targets => "written as [[target]], once for each target",
            Self::Suppressions => "written as [[suppress]], once for each warning",
            Self::Choice(choices) => {
                let quoted: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
                return format!("one of {}", quoted.join(", "));
            }
        };
        plain.to_owned()
    }
}

impl ValueKind {
    /// The value of an option as its help names it; none for a flag.
    #[must_use]
    pub fn value_name(self) -> Option<&'static str> {
        match self {
            Self::Flag => None,
            Self::Text => Some("TEXT"),
            Self::Texts | Self::Choice(_) => Some("NAME"),
            Self::Duration => Some("DURATION"),
            Self::Path | Self::Paths => Some("PATH"),
            Self::Number | Self::Variables | Self::Targets | Self::Suppressions => Some("N"),
        }
    }
}

impl ValueKind {
    /// As a table in the manual has it.
    #[must_use]
    pub fn short(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Path => "path".to_owned(),
            Self::Texts => "list of texts".to_owned(),
            Self::Paths => "list of paths".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Flag => "`true`, `false`".to_owned(),
            Self::Duration => "duration".to_owned(),
            Self::Variables => "table of texts".to_owned(),
            Self::Targets | Self::Suppressions => "tables".to_owned(),
            Self::Choice(choices) => {
                choices.iter().map(|choice| format!("`\"{choice}\"`")).collect::<Vec<_>>().join(", ")
            }
        }
    }
}
