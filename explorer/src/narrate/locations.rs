//! From sites to places that a person can open: the program's own code first, files relative to the root.

use std::path::{Path, PathBuf};

use checker::names::{Site, ThreadName};
use checker::program::Execution;
use ptrace_backend::debuginfo::is_user_file;

use crate::program::source::{Frame, Source};
use crate::report::Location;

/// Finds the places of sites.
pub struct Places<'a> {
    source: &'a dyn Source,
    root: PathBuf,
}

impl<'a> Places<'a> {
    /// Names files below `root` relative to it.
    pub fn new(source: &'a dyn Source, root: &Path) -> Self {
        Self { source, root: root.to_owned() }
    }

    /// The program, for what is not a place.
    #[must_use]
    pub fn source(&self) -> &'a dyn Source {
        self.source
    }

    /// The place of one site: the innermost frame of the user's own code, else the innermost one.
    #[must_use]
    pub fn of_site(&self, site: Site) -> Location {
        let unknown = || Location { function: unknown(site), ..Location::default() };
        self.of_stack(&[site]).into_iter().next().unwrap_or_else(unknown)
    }

    /// The place of what a thread does next: that of the instruction, or, if that is in a library, of its caller.
    pub fn of_pending(&self, run: &mut impl Execution, thread: ThreadName, site: Site) -> Location {
        if self.is_own_site(site) {
            return self.of_site(site);
        }
        let stack = run.stack(thread);
        let caller = stack.iter().find(|site| self.is_own_site(**site));
        self.of_site(caller.copied().unwrap_or(site))
    }

    /// Whether the code at a site is the user's own.
    #[must_use]
    pub fn is_own_site(&self, site: Site) -> bool {
        self.source.locate(site).iter().any(|frame| self.is_own(site, frame))
    }

    /// The frames of the user's own code in a stack, innermost first; if there are none, the innermost frame of all.
    #[must_use]
    pub fn of_stack(&self, stack: &[Site]) -> Vec<Location> {
        let located = |&site: &Site| self.source.locate(site).into_iter().map(move |frame| (site, frame));
        let frames: Vec<(Site, Frame)> = stack.iter().flat_map(located).collect();
        let own = frames.iter().filter(|(site, frame)| self.is_own(*site, frame));
        let mut own: Vec<Location> = own.map(|(_, frame)| self.name(frame)).collect();
        // A macro shows as a call of its own at the same line.
        own.dedup();
        if own.is_empty() {
            frames.first().map(|(_, frame)| self.name(frame)).into_iter().collect()
        } else {
            own
        }
    }

    /// The place of a line that the program itself names, if there is such a file.
    pub(crate) fn of_named(&self, file: &Path, line: u32) -> Option<Location> {
        let here = self.root.join(file).canonicalize().ok().filter(|file| file.is_file());
        // A build elsewhere, below the root or above, has given the compiler another relative name.
        let found = here.or_else(|| self.source.source_named(file))?;
        let file = found.strip_prefix(&self.root).unwrap_or(&found).to_string_lossy().into_owned();
        Some(Location { file: Some(file), line: Some(line), function: None })
    }

    /// The innermost frame of the user's own code in a stack, if there is one.
    pub(crate) fn own_of_stack(&self, stack: &[Site]) -> Option<Location> {
        let has_own = stack.iter().any(|&site| self.is_own_site(site));
        has_own.then(|| self.of_stack(stack).into_iter().next()).flatten()
    }

    /// The place of a frame that is known by itself.
    pub(crate) fn of_frame(&self, frame: &Frame) -> Location {
        self.name(frame)
    }

    fn is_own(&self, site: Site, frame: &Frame) -> bool {
        match &frame.file {
            Some(file) => self.is_own_file(file),
            None => self.source.is_own_code(site),
        }
    }

    /// Whether a source file is the user's own.
    #[must_use]
    pub fn is_own_file(&self, file: &Path) -> bool {
        // A relative path was not resolved by the compiler: those of a C library's build look like `../nptl/x.c`.
        file.starts_with(&self.root) || (file.is_absolute() && is_user_file(file))
    }

    /// The file that a location names.
    #[must_use]
    pub fn absolute(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    fn name(&self, frame: &Frame) -> Location {
        let file = frame
            .file
            .as_ref()
            .map(|file| file.strip_prefix(&self.root).unwrap_or(file).to_string_lossy().into_owned());
        Location { file, line: frame.line, function: Some(frame.function.clone()) }
    }
}

fn unknown(site: Site) -> Option<String> {
    (site != Site::default()).then(|| format!("code {:#x}", site.0))
}

#[cfg(test)]
mod tests {
    use checker::names::Obj;
    use checker::object_description::ObjectDescription;

    use super::*;

    /// Site n is the n-th line here: `function file line`, inlined ones separated by `<`.
    struct Table(&'static [&'static str]);

    impl Source for Table {
        fn locate(&self, site: Site) -> Vec<Frame> {
            let frame = |text: &str| {
                let mut words = text.split_whitespace();
                Frame {
                    function: words.next().unwrap().into(),
                    file: words.next().map(PathBuf::from),
                    line: words.next().map(|line| line.parse().unwrap()),
                    column: None,
                }
            };
            let line = usize::try_from(site.0).ok().and_then(|line| self.0.get(line));
            line.map(|line| line.split('<').map(frame).collect()).unwrap_or_default()
        }

        fn is_own_code(&self, site: Site) -> bool {
            site == Site(4)
        }

        fn describe(&self, _: Obj) -> Option<ObjectDescription> {
            None
        }

        fn build_id(&self) -> String {
            String::new()
        }

        fn notes(&self) -> Vec<String> {
            Vec::new()
        }

        fn assumptions(&self) -> Vec<String> {
            Vec::new()
        }
    }

    const TABLE: Table = Table(&[
        "raise",
        "abort ../stdlib/abort.c 79",
        "check /home-of/project/src/check.c 10 < main /home-of/project/src/main.c 20",
        "unwrap /rustc/abc/library/core/src/option.rs 5 < work /elsewhere/lib.rs 7",
        "program+0x1234",
    ]);

    fn places(table: &Table) -> Places<'_> {
        Places::new(table, Path::new("/home-of/project"))
    }

    #[test]
    fn library_frames_are_hidden() {
        let stack = places(&TABLE).of_stack(&[Site(0), Site(1), Site(2)]);
        let words: Vec<_> = stack.iter().map(Location::words).collect();
        assert_eq!(words, ["check, src/check.c:10", "main, src/main.c:20"]);
    }

    #[test]
    fn inlined_library_code_counts_as_its_caller() {
        assert_eq!(places(&TABLE).of_site(Site(3)).words(), "work, /elsewhere/lib.rs:7");
    }

    #[test]
    fn without_debug_information_the_symbol_must_do() {
        let places = places(&TABLE);
        assert_eq!(places.of_site(Site(0)).words(), "raise");
        assert_eq!(places.of_stack(&[Site(0)]).len(), 1);
        assert_eq!(places.of_stack(&[Site(0), Site(1), Site(4)])[0].words(), "program+0x1234");
        assert_eq!(places.of_site(Site(0x99)).words(), "code 0x99");
    }
}
