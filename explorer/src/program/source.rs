//! Knowledge of a program that reports need beside its executions: words for what the checker knows by name only.

use std::path::{Path, PathBuf};

use checker::names::{Obj, Site, ThreadName};
use checker::object_description::ObjectDescription;
pub use ptrace_backend::debuginfo::SourceFrame as Frame;

/// Words for sites and objects.
pub trait Source {
    /// The functions that the code at `site` belongs to, the innermost inlined one first; empty if unknown.
    fn locate(&self, site: Site) -> Vec<Frame>;

    /// Whether code without lines is the user's own.
    fn is_own_code(&self, site: Site) -> bool;

    /// A description of an object.
    fn describe(&self, obj: Obj) -> Option<ObjectDescription>;

    /// The place in its file of an object that has no words ("`libfoo.so+0x1234`").
    fn place_in_file(&self, obj: Obj) -> Option<String> {
        let _ = obj;
        None
    }

    /// The thread that runs the harness of a test and is no part of it, if there is one.
    fn harness(&self) -> Option<ThreadName> {
        None
    }

    /// Whether accesses are key points only where no event of their execution orders them: executions are long.
    fn unordered_only(&self) -> bool {
        false
    }

    /// The parts of an object that are memory which threads share, as far as that is known.
    fn shared_parts(&self, obj: Obj) -> Vec<Obj> {
        vec![obj]
    }

    /// The source of the user's own whose name ends so, if there is one such.
    fn source_named(&self, file: &Path) -> Option<PathBuf> {
        let _ = file;
        None
    }

    /// Identifies the build.
    fn build_id(&self) -> String;

    /// Notes for the reader of any report about how the program was run, a sentence each.
    fn notes(&self) -> Vec<String>;

    /// Whether lines and names are missing that are in the program's debug information, because there was no time to read it.
    fn is_read_in_part(&self) -> bool {
        false
    }

    /// Assumptions that the coverage of a search rests on, a sentence each.
    fn assumptions(&self) -> Vec<String>;
}
