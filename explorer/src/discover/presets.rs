//! CMake's presets, by which their author builds a project.

use std::path::Path;

use files::Kind;
use serde::Deserialize;
use serde_json::{Map, Value};

/// So many presets may inherit from one another.
const DEEPEST: usize = 16;

/// A file of presets, as far as it matters here.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Presets {
    configure_presets: Vec<Preset>,
    build_presets: Vec<Preset>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Preset {
    name: String,
    hidden: bool,
    inherits: Option<Value>,
    binary_dir: Option<String>,
    configure_preset: Option<String>,
    cache_variables: Map<String, Value>,
}

/// The preset that a project is built with, where it has any.
pub(super) struct ChosenPreset {
    /// The way to configure it.
    pub(super) configure: String,
    /// The way to build it then: by a preset, or in a folder.
    pub(super) build: Build,
}

pub(super) enum Build {
    Preset(String),
    Folder(String),
}

/// The preset for a project: one that keeps line numbers before others, and then the first.
pub(super) fn chosen(project: &Path) -> Option<ChosenPreset> {
    let mut all = Presets::default();
    for name in ["CMakePresets.json", "CMakeUserPresets.json"] {
        let text = files::read_text(&project.join(name), Kind::Settings).ok();
        let read: Option<Presets> = text.and_then(|text| serde_json::from_str(&text).ok());
        let Some(Presets { configure_presets, build_presets }) = read else { continue };
        all.configure_presets.extend(configure_presets);
        all.build_presets.extend(build_presets);
    }
    let usable: Vec<&Preset> = all.configure_presets.iter().filter(|preset| !preset.hidden).collect();
    let has_lines = |preset: &&&Preset| {
        let kind = all.inherited(preset, &|preset| text(preset.cache_variables.get("CMAKE_BUILD_TYPE")?));
        kind.is_some_and(|kind| matches!(kind.as_str(), "Debug" | "RelWithDebInfo"))
    };
    let can_build = |preset: &&&Preset| all.build_of(preset, project).is_some();
    let buildable = || usable.iter().filter(can_build);
    let preset = buildable().find(has_lines).or_else(|| buildable().next())?;
    Some(ChosenPreset { configure: preset.name.clone(), build: all.build_of(preset, project)? })
}

/// A value of a cache variable: a text, or an object that has one.
fn text(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value.get("value")?.as_str()).map(str::to_owned)
}

impl Presets {
    fn build_of(&self, configure: &Preset, project: &Path) -> Option<Build> {
        let of = |build: &&Preset| build.configure_preset.as_deref() == Some(&configure.name);
        if let Some(build) = self.build_presets.iter().filter(|build| !build.hidden).find(of) {
            return Some(Build::Preset(build.name.clone()));
        }
        let folder = self.inherited(configure, &|preset| preset.binary_dir.clone())?;
        let source = project.to_string_lossy();
        let folder = folder.replace("${sourceDir}", &source).replace("${presetName}", &configure.name);
        // Other names are known to CMake alone.
        (!folder.contains('$')).then_some(Build::Folder(folder))
    }

    /// The value that a preset gives, or the first of those that it inherits from.
    fn inherited(&self, preset: &Preset, get: &dyn Fn(&Preset) -> Option<String>) -> Option<String> {
        self.inherited_within(preset, get, DEEPEST)
    }

    fn inherited_within(
        &self,
        preset: &Preset,
        get: &dyn Fn(&Preset) -> Option<String>,
        depth: usize,
    ) -> Option<String> {
        if let Some(own) = get(preset) {
            return Some(own);
        }
        let names: Vec<&str> = match &preset.inherits {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let left = depth.checked_sub(1)?;
        let named = |name: &str| self.configure_presets.iter().find(|preset| preset.name == name);
        names.into_iter().find_map(|name| self.inherited_within(named(name)?, get, left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("CMakePresets.json"), text).unwrap();
        let ChosenPreset { configure, build } = chosen(folder.path())?;
        let build = match build {
            Build::Preset(name) => name,
            Build::Folder(path) => path.replace(&*folder.path().to_string_lossy(), "HERE"),
        };
        Some(format!("{configure}: {build}"))
    }

    #[test]
    fn a_preset_with_line_numbers_that_can_be_built_is_chosen() {
        let hidden = r#"{ "name": "base", "hidden": true, "binaryDir": "${sourceDir}/out/${presetName}" }"#;
        let fast =
            r#"{ "name": "fast", "inherits": "base", "cacheVariables": { "CMAKE_BUILD_TYPE": "Release" } }"#;
        let slow = r#"{ "name": "slow", "inherits": ["base"], "cacheVariables": { "CMAKE_BUILD_TYPE": { "type": "STRING", "value": "Debug" } } }"#;
        let lost = r#"{ "name": "lost", "binaryDir": "$env{HOME}/x" }"#;
        let file = |presets: &[&str], builds: &str| {
            format!(
                r#"{{ "version": 3, "configurePresets": [{}], "buildPresets": [{builds}] }}"#,
                presets.join(",")
            )
        };
        let build = r#"{ "name": "tests", "configurePreset": "slow" }"#;
        for (text, expected) in [
            (file(&[hidden, fast, slow], build), Some("slow: tests")),
            (file(&[hidden, fast, slow], ""), Some("slow: HERE/out/slow")),
            (file(&[lost, hidden, fast], ""), Some("fast: HERE/out/fast")),
            (file(&[lost], ""), None),
            (file(&[hidden], ""), None),
            (file(&[r#"{ "name": "x", "inherits": "x" }"#], ""), None),
            ("{".to_owned(), None),
        ] {
            assert_eq!(words(&text).as_deref(), expected, "{text}");
        }
    }
}
