//! The executables of a workspace: looking for them, and looking again.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::candidate::Candidate;
use super::cargo::{Manifest, Notes, target_folders};
use super::ctest::{self, CTest};
use super::kind::{CargoTarget, Kind};
use super::mentions::Mentions;
use super::paths::Paths;
use super::walk::{self, Found, Limits, ScanBudget, Stamp};
use crate::config::Config;
use crate::input::project_root::root_of;

/// A file's times tell of no change within this time, on the coarsest of file systems.
const COARSEST: Duration = Duration::from_secs(2);

/// Result of the last look at a path.
#[derive(Clone, Debug)]
struct Known {
    stamp: Stamp,
    kind: Kind,
    /// Whether it was old enough when it was read: a change while it was read, or right after, shows in its stamp.
    is_settled: bool,
    /// Nothing where that was no native program.
    candidate: Option<Arc<Candidate>>,
}

impl Known {
    /// Whether a file is still what it was. The notes beside it that tell its kind may have come after it.
    fn is(&self, stamp: Stamp, kind: &Kind) -> bool {
        self.is_settled && self.stamp == stamp && self.kind == *kind
    }

    /// The older knowledge of the file, where reading it again has shown nothing new.
    fn or_same(self, before: Option<Self>) -> Self {
        let same = before.map(|before| before.candidate).filter(|before| *before == self.candidate);
        Self { candidate: same.unwrap_or(self.candidate), ..self }
    }
}

/// The executables of a workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(super) root: PathBuf,
    pub(super) limits: Limits,
    pub(super) config: Config,
    pub(super) found: Found,
    /// The files that lie where cargo builds outside of it.
    outside: HashSet<PathBuf>,
    pub(super) manifests: Vec<Manifest>,
    pub(super) ctests: Vec<CTest>,
    mentions: Mentions,
    paths: Paths,
    known: HashMap<PathBuf, Known>,
    /// The freshest first.
    pub(super) candidates: Vec<Arc<Candidate>>,
    index: Index,
    /// The roots of the checkouts that programs in these folders belong to.
    roots: HashMap<PathBuf, PathBuf>,
}

impl Workspace {
    /// Looks at everything below `root`. Nothing is executed and nothing is built.
    #[must_use]
    pub fn scan(root: &Path, config: &Config) -> Self {
        Self::scan_within(root, config, Limits::default())
    }

    /// The same within other limits.
    #[must_use]
    pub fn scan_within(root: &Path, config: &Config, limits: Limits) -> Self {
        let mut workspace = Self { limits, ..Self::empty(root) };
        workspace.rescan(config);
        workspace
    }

    /// One that nothing is known of yet.
    pub(super) fn empty(root: &Path) -> Self {
        Self {
            root: root.canonicalize().unwrap_or_else(|_| root.to_owned()),
            limits: Limits::default(),
            config: Config::default(),
            found: Found::default(),
            outside: HashSet::new(),
            manifests: Vec::new(),
            ctests: Vec::new(),
            mentions: Mentions::default(),
            paths: Paths::default(),
            known: HashMap::new(),
            candidates: Vec::new(),
            index: Index::default(),
            roots: HashMap::new(),
        }
    }

    /// Looks again; only executables that have changed are read again. Says whether there is any change.
    pub fn rescan(&mut self, config: &Config) -> bool {
        let before: Vec<*const Candidate> = self.candidates.iter().map(Arc::as_ptr).collect();
        let could_create_threads = self.can_create_threads();
        let config_changed = self.config != *config;
        self.config = config.clone();
        let mut budget = ScanBudget::new(self.limits);
        self.found = self.walk(&mut budget);
        (self.manifests, self.ctests) = self.read_notes(&budget);
        self.walk_cargos(&mut budget);
        self.read_executables(&budget);
        if !self.programs_create_threads() {
            self.mentions.look(&self.found.sources, &budget);
        }
        let after: Vec<*const Candidate> = self.candidates.iter().map(Arc::as_ptr).collect();
        config_changed || before != after || could_create_threads != self.can_create_threads()
    }

    /// Whether something in the workspace can create threads, as far as is known of programs and of sources.
    pub(super) fn can_create_threads(&self) -> bool {
        self.found.cut.is_some() || self.programs_create_threads() || self.mentions.any()
    }

    fn programs_create_threads(&self) -> bool {
        self.candidates.iter().any(|candidate| self.may_create_threads(candidate))
    }

    /// The folder that it is about, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every executable that was looked at, the freshest first; those that are left out too.
    #[must_use]
    pub fn candidates(&self) -> &[Arc<Candidate>] {
        &self.candidates
    }

    /// The configuration of the last scan.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// All folders share the limits: those that the workspace names besides itself are cut first.
    fn walk(&self, budget: &mut ScanBudget) -> Found {
        let mut found = walk::walk(&self.root, self.limits.depth, budget);
        for folder in self.config.search.iter().filter(|folder| !folder.starts_with(&self.root)) {
            if self.root.starts_with(folder) {
                let all = format!(
                    "`{}` in `search` holds the workspace itself and all beside it",
                    folder.display()
                );
                found.cut.get_or_insert(all);
                continue;
            }
            let more = walk::walk(folder, self.limits.depth, budget);
            found.executables.extend(more.executables);
            found.files += more.files;
            found.folders += more.folders;
            found.cut = found.cut.or(more.cut);
        }
        found.executables.retain(|(path, _)| !self.is_ignored(path));
        // Programs that the configuration names are looked at wherever they lie.
        for target in &self.config.targets {
            let known = found.executables.iter().any(|(path, _)| *path == target.program);
            if let Some(metadata) = target.program.metadata().ok().filter(|_| !known) {
                found.executables.push((target.program.clone(), Stamp::of(&metadata)));
            }
        }
        found
    }

    /// The notes of cargo and CMake.
    fn read_notes(&mut self, budget: &ScanBudget) -> (Vec<Manifest>, Vec<CTest>) {
        let (mut manifests, mut ctests) = (Vec::new(), Vec::new());
        let count = self.found.manifests.len() + self.found.ctest_files.len();
        let cut = budget.each(&self.found.manifests, |path| manifests.extend(Manifest::read(path)));
        let cut =
            cut.or_else(|| budget.each(&self.found.ctest_files, |path| ctests.extend(ctest::read(path))));
        if let Some(nth) = cut {
            self.found.cut.get_or_insert(budget.is_over_before(count - nth, "note of a build tool", "read"));
        }
        (manifests, ctests)
    }

    /// Looks where cargo was told to build, if that is outside of everything that was looked at.
    fn walk_cargos(&mut self, budget: &mut ScanBudget) {
        let manifests = self.manifests.iter().map(Manifest::folder);
        // Without time for that, there is none for the files in those folders either.
        let folders = budget.within(|| target_folders(manifests, &self.root)).unwrap_or_default();
        let known: HashSet<&Path> = self.found.executables.iter().map(|(path, _)| path.as_path()).collect();
        let mut more = Vec::new();
        for folder in folders.iter().filter(|folder| !folder.starts_with(&self.root)) {
            // `TRIPLE/PROFILE/deps`, below the two parts of a workspace's hash; files that lie deeper are no programs.
            more.extend(walk::walk(folder, 5, budget).executables);
        }
        more.retain(|(path, _)| !known.contains(path.as_path()) && !self.is_ignored(path));
        self.outside = more.iter().map(|(path, _)| path.clone()).collect();
        self.found.executables.extend(more);
    }

    fn is_ignored(&self, path: &Path) -> bool {
        self.config.ignore.iter().any(|ignored| path.starts_with(ignored))
    }

    fn read_executables(&mut self, budget: &ScanBudget) {
        let mut notes = Notes::default();
        let mut known = HashMap::new();
        let mut all = Vec::new();
        let files = files(&self.found.executables);
        let count = files.len();
        let cut = budget.each(&files, |(paths, stamp)| {
            let path = &paths[0];
            let kind = notes.kind(paths);
            let now = match self.known.remove(path) {
                Some(before) if before.is(*stamp, &kind) => before,
                before => self.read(path, *stamp, kind).or_same(before),
            };
            all.extend(now.candidate.clone());
            known.insert(path.clone(), now);
        });
        if let Some(nth) = cut {
            self.found.cut.get_or_insert(budget.is_over_before(count - nth, "executable", "read"));
        }
        self.known = known;
        // The newest build first, and of equals the one with the shorter name.
        all.sort_by(|a: &Arc<Candidate>, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        self.index = Index::of(&all);
        self.candidates = all;
        self.roots.clear();
        for candidate in &self.candidates {
            let folder = candidate.path.parent().unwrap_or(&self.root);
            if !self.roots.contains_key(folder) {
                self.roots.insert(folder.to_owned(), root_of(&candidate.path, &self.root));
            }
        }
    }

    /// The root of the checkout that a program belongs to: its store is there, and its name starts there.
    pub(super) fn root_of(&self, program: &Path) -> &Path {
        program.parent().and_then(|folder| self.roots.get(folder)).unwrap_or(&self.root)
    }

    fn read(&mut self, path: &Path, stamp: Stamp, kind: Kind) -> Known {
        let is_settled = !stamp.modified.elapsed().is_ok_and(|age| age <= COARSEST);
        let candidate = self.read_candidate(path, stamp, kind.clone()).map(Arc::new);
        Known { stamp, kind, is_settled, candidate }
    }

    pub(super) fn read_candidate(&mut self, path: &Path, stamp: Stamp, kind: Kind) -> Option<Candidate> {
        let package = match &kind {
            Kind::Cargo(target) => self.manifest(target).map(|manifest| manifest.folder().to_owned()),
            Kind::Plain => None,
        };
        let is_outside = self.outside.contains(path);
        if is_outside && package.is_none() {
            return None;
        }
        let root = self.root.clone();
        let folders: Vec<&Path> = [root.as_path()].into_iter().chain(package.as_deref()).collect();
        let candidate = Candidate::read(path, stamp, kind, &mut self.paths, &folders)?;
        // Such a folder may be that of all of a user's projects.
        let is_own = candidate.sources.iter().any(|source| source.starts_with(&root));
        (!is_outside || is_own).then_some(candidate)
    }

    /// The manifest of a package: of several with the name, the nearest to where it was built.
    pub(super) fn manifest(&self, target: &CargoTarget) -> Option<&Manifest> {
        let of_package = self.manifests.iter().filter(|manifest| manifest.package == target.package);
        let shared = |manifest: &&Manifest| {
            let pairs = manifest.folder().components().zip(target.folder.components());
            pairs.take_while(|(a, b)| a == b).count()
        };
        of_package.max_by_key(shared)
    }

    /// Whether a file is part of a program: of itself, or of a library in the workspace that it asks for.
    pub(super) fn is_part_of(&self, file: &Path, candidate: &Candidate) -> bool {
        candidate.lists(file) || self.libraries_of(candidate).any(|library| library.lists(file))
    }

    /// The first source of a program, or of a library in the workspace that it asks for, that is newer than what was built
    /// from it.
    pub(super) fn newer_source<'a>(&'a self, candidate: &'a Candidate) -> Option<&'a Path> {
        let libraries = || self.libraries_of(candidate).find_map(Candidate::newer_source);
        candidate.newer_source().or_else(libraries)
    }

    fn libraries_of<'a>(&'a self, candidate: &'a Candidate) -> impl Iterator<Item = &'a Candidate> {
        let named = |library: &String| self.index.by_name.get(library.as_str()).into_iter().flatten();
        candidate.libraries.iter().flat_map(named).map(|&nth| self.candidates[nth].as_ref())
    }

    /// The fresher build of the same target with the same tool and the same profile, where a candidate is an older one.
    pub(super) fn fresher(&self, candidate: &Candidate) -> Option<&Candidate> {
        let Kind::Cargo(target) = &candidate.kind else { return None };
        let same = &self.candidates[*self.index.freshest.get(target)?];
        (same.path != candidate.path).then_some(same.as_ref())
    }
}

/// Index of the candidates by the keys that they are asked for by: a workspace has as many as its maker likes.
#[derive(Clone, Default, Debug)]
struct Index {
    by_name: HashMap<String, Vec<usize>>,
    /// The first of each target.
    freshest: HashMap<CargoTarget, usize>,
}

impl Index {
    fn of(candidates: &[Arc<Candidate>]) -> Self {
        let mut index = Self::default();
        for (nth, candidate) in candidates.iter().enumerate() {
            if let Some(name) = candidate.path.file_name().and_then(|name| name.to_str()) {
                index.by_name.entry(name.to_owned()).or_default().push(nth);
            }
            if let Kind::Cargo(target) = &candidate.kind {
                index.freshest.entry(target.clone()).or_insert(nth);
            }
        }
        index
    }
}

/// The files that several names may stand for, with the name to call each by first: the one with the fewest folders.
fn files(executables: &[(PathBuf, Stamp)]) -> Vec<(Vec<PathBuf>, Stamp)> {
    let mut by_inode: HashMap<(u64, u64), usize> = HashMap::new();
    let mut all: Vec<(Vec<PathBuf>, Stamp)> = Vec::new();
    for (path, stamp) in executables {
        let at = *by_inode.entry(stamp.inode).or_insert(all.len());
        if at == all.len() {
            all.push((Vec::new(), *stamp));
        }
        all[at].0.push(path.clone());
    }
    for (paths, _) in &mut all {
        paths.sort_by_key(|path| (path.components().count(), path.clone()));
        paths.dedup();
    }
    all
}
