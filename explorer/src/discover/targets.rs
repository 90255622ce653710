//! From executables to targets: where and with what each program and each test is run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build_step::{self, BuildStep};
use super::cargo;
use super::target::shown;
use super::test::Test;
use super::{Candidate, Kind, Target, Workspace, ctest};
use crate::config::TargetConfig;
use crate::input::environment::Variables;
use crate::input::portable_path::Place;
use crate::store::findings::program_id;

impl Workspace {
    /// Everything that can be explored in an executable: the program, if it has a `main` of the user's or no tests; each
    /// test; and what the configuration adds.
    #[must_use]
    pub fn targets_in(&self, candidate: &Candidate) -> Vec<Target> {
        let whole = has_whole(candidate).then(|| self.whole(candidate));
        let tests = candidate.tests.iter().map(|test| self.of_test(candidate, test));
        let named = self.config.targets.iter().filter(|target| target.program == candidate.path);
        let named = named.filter_map(|target| self.named(candidate, target));
        whole.into_iter().chain(tests).chain(named).collect()
    }

    /// The target with this ID, in the freshest program that has it; of several checkouts in the workspace, in the one that
    /// has it first.
    #[must_use]
    pub fn target(&self, id: &str) -> Option<Target> {
        self.find(id, None)
    }

    /// The target with this ID in the checkout at `root`, in the freshest program that has it.
    #[must_use]
    pub fn target_in(&self, id: &str, root: &Path) -> Option<Target> {
        self.find(id, Some(root))
    }

    fn find(&self, id: &str, root: Option<&Path>) -> Option<Target> {
        let program = id.split_once('#').map_or(id, |(program, _)| program);
        let usable =
            self.usable().filter(|candidate| program.starts_with("toml:") || self.id(candidate) == program);
        let inside = usable.filter(|candidate| root.is_none_or(|root| self.root_of(&candidate.path) == root));
        inside.flat_map(|candidate| self.targets_in(candidate)).find(|target| target.id == id)
    }

    /// The programs, and the tests in them, that use a file: the targets that can be explored where the file itself has
    /// neither.
    #[must_use]
    pub fn programs_using(&self, file: &Path) -> Vec<Target> {
        let file = self.file(file);
        let mut found: Vec<Target> = Vec::new();
        for candidate in self
            .usable()
            .filter(|candidate| self.is_part_of(&file, candidate) && self.may_create_threads(candidate))
        {
            let targets = self.targets_in(candidate);
            found.extend(
                targets
                    .into_iter()
                    .filter(|new| !found.iter().any(|known| known.id == new.id))
                    .collect::<Vec<_>>(),
            );
        }
        found
    }

    /// The command that builds a target again; `None` if that is not known.
    #[must_use]
    pub fn build_step(&self, target: &Target) -> Option<BuildStep> {
        let candidate = self.candidates.iter().find(|candidate| candidate.path == target.program);
        let needed = match candidate {
            Some(candidate) => !candidate.path.exists() || self.newer_source(candidate).is_some(),
            None => true,
        };
        let (command, directory) = self.build_command(&target.program, candidate)?;
        Some(BuildStep { command, directory, needed })
    }

    /// The command that builds something from a file that no program was built from yet; `None` if that is not known.
    #[must_use]
    pub fn build_step_of_file(&self, file: &Path) -> Option<BuildStep> {
        let file = self.file(file);
        let listing = || self.usable().filter(|candidate| candidate.lists(&file));
        let listing = listing().find(|candidate| candidate.declares_in(&file)).or_else(|| listing().next());
        let (command, directory) = match listing {
            Some(candidate) => self.build_command(&candidate.path, Some(candidate))?,
            None => {
                let configured = self.configured_build().or_else(|| self.build_to_come());
                configured.or_else(|| self.detected_build(&file))?
            }
        };
        Some(BuildStep { command, directory, needed: true })
    }

    fn build_command(&self, program: &Path, candidate: Option<&Arc<Candidate>>) -> Option<(String, PathBuf)> {
        let own =
            self.config.targets.iter().find(|target| target.program == program && target.build.is_some());
        if let Some(command) = own.and_then(|target| target.build.clone()) {
            return Some((command, self.root.clone()));
        }
        if let Some(configured) = self.configured_build() {
            return Some(configured);
        }
        if let Some(Kind::Cargo(target)) = candidate.map(|candidate| &candidate.kind)
            && let Some(manifest) = self.manifest(target)
        {
            return Some((target.build_command(), manifest.folder().to_owned()));
        }
        self.detected_build(program)
    }

    /// The command of the configuration that builds a program that is not there yet.
    fn build_to_come(&self) -> Option<(String, PathBuf)> {
        Some((self.to_come().find_map(|target| target.build.clone())?, self.root.clone()))
    }

    /// Programs that the configuration names and that are not there yet.
    pub(super) fn to_come(&self) -> impl Iterator<Item = &TargetConfig> {
        self.config.targets.iter().filter(|target| !target.program.exists())
    }

    fn configured_build(&self) -> Option<(String, PathBuf)> {
        Some((self.config.build.clone()?, self.root.clone()))
    }

    fn detected_build(&self, file: &Path) -> Option<(String, PathBuf)> {
        build_step::detect(file, &self.root, &self.found.cmake_folders)
    }

    /// The candidates that can be explored, the freshest first.
    pub(super) fn usable(&self) -> impl Iterator<Item = &Arc<Candidate>> {
        self.candidates.iter().filter(|candidate| self.reason(candidate).is_none())
    }

    /// The reason for which a candidate cannot be explored.
    pub(super) fn reason(&self, candidate: &Candidate) -> Option<String> {
        let fresher = || {
            let fresher = self.fresher(candidate)?;
            Some(format!(
                "`{}` is an older build of `{}`",
                self.shown(&candidate.path),
                self.shown(&fresher.path)
            ))
        };
        candidate.left_out.clone().or_else(fresher)
    }

    /// Whether a program can create threads, as the configuration says, or else as can be seen.
    pub(super) fn may_create_threads(&self, candidate: &Candidate) -> bool {
        self.said_to_create_threads(candidate).unwrap_or(candidate.creates_threads)
    }

    pub(super) fn said_to_create_threads(&self, candidate: &Candidate) -> Option<bool> {
        let said = self.config.targets.iter().filter(|target| target.program == candidate.path);
        said.filter_map(|target| target.creates_threads).next()
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        shown(path, &self.root)
    }

    pub(super) fn file(&self, file: &Path) -> PathBuf {
        file.canonicalize().unwrap_or_else(|_| self.root.join(file))
    }

    /// The part of a target's ID that names the program.
    pub(super) fn id(&self, candidate: &Candidate) -> String {
        match &candidate.kind {
            Kind::Plain => program_id(&Place::of(&candidate.path, self.root_of(&candidate.path))),
            Kind::Cargo(target) => {
                format!("cargo:{}:{}:{}", target.package, target.kind.name(), target.name)
            }
        }
    }

    fn label(&self, candidate: &Candidate) -> String {
        match &candidate.kind {
            Kind::Plain => {
                let name = candidate.path.file_name().unwrap_or(candidate.path.as_os_str());
                name.to_string_lossy().into_owned()
            }
            Kind::Cargo(target) => target.name.clone(),
        }
    }

    fn whole(&self, candidate: &Candidate) -> Target {
        self.configured(self.plain(candidate), self.config.of_program(&candidate.path))
    }

    /// A program as it is without any configuration of its own.
    fn plain(&self, candidate: &Candidate) -> Target {
        let (directory, variables) = self.surroundings(candidate, &[]);
        Target {
            id: self.id(candidate),
            label: self.label(candidate),
            program: candidate.path.clone(),
            root: self.root_of(&candidate.path).to_owned(),
            build_id: candidate.build_id.clone(),
            test: None,
            at: candidate.main.clone(),
            arguments: Vec::new(),
            directory,
            variables,
            stdin: None,
            settings: self.config.settings.clone(),
        }
    }

    fn of_test(&self, candidate: &Candidate, test: &Test) -> Target {
        let (directory, variables) = self.surroundings(candidate, &test.arguments);
        let target = Target {
            id: format!("{}#{}", self.id(candidate), test.name),
            label: test.name.clone(),
            program: candidate.path.clone(),
            root: self.root_of(&candidate.path).to_owned(),
            build_id: candidate.build_id.clone(),
            at: Some(test.at.clone()),
            arguments: test.arguments.iter().map(Into::into).collect(),
            test: Some(test.clone()),
            directory,
            variables,
            stdin: None,
            settings: self.config.settings.clone(),
        };
        self.configured(target, self.config.of_program(&candidate.path))
    }

    fn named(&self, candidate: &Candidate, config: &TargetConfig) -> Option<Target> {
        let name = config.name.clone()?;
        let plain = Target { id: format!("toml:{name}"), label: name, ..self.plain(candidate) };
        Some(self.configured(plain, Some(config)))
    }

    fn configured(&self, target: Target, config: Option<&TargetConfig>) -> Target {
        let Some(config) = config else { return target };
        let mut arguments = target.arguments;
        arguments.extend(config.arguments.iter().flatten().map(Into::into));
        let mut variables = target.variables;
        variables.retain(|(name, _)| !config.variables.iter().any(|(own, _)| name == own.as_str()));
        variables.extend(config.variables.iter().map(|(name, value)| (name.into(), value.into())));
        Target {
            arguments,
            variables,
            directory: config.directory.clone().unwrap_or(target.directory),
            stdin: config.stdin.clone().or(target.stdin),
            settings: config.settings.or(&target.settings),
            ..target
        }
    }

    /// Working directory of a program, and the variables that are set for it, when its framework runs it with these
    /// arguments.
    fn surroundings(&self, candidate: &Candidate, arguments: &[String]) -> (PathBuf, Variables) {
        if let Kind::Cargo(target) = &candidate.kind
            && let Some(manifest) = self.manifest(target)
        {
            return (manifest.folder().to_owned(), cargo::variables(target, manifest));
        }
        match ctest::best(&self.ctests, &candidate.path, arguments) {
            Some(test) => (test.directory.clone(), test.variables.clone()),
            None => (self.root.clone(), Variables::new()),
        }
    }
}

/// Whether a program as a whole is something to explore: a test binary of cargo's runs tests, and nothing else.
fn has_whole(candidate: &Candidate) -> bool {
    let is_harness = matches!(&candidate.kind, Kind::Cargo(target) if target.is_test);
    candidate.main.is_some() || (candidate.tests.is_empty() && !is_harness)
}
