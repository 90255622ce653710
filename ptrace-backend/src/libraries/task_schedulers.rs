//! Task schedulers: system libraries whose threads run functions of the program, as that asks them to by what a compiler makes of
//! its source: of C++'s templates (oneTBB, and behind it `std::execution::par`), or of the directives of OpenMP (GCC's `libgomp`).
//!
//! Half of such a library is in the program: what a compiler has instantiated of its headers shares atomic variables with
//! the library's own code, which hands tasks to threads by them; and of a parallel region the library has the barriers, the
//! turns and the tasks. Only where both are watched does it show which thread may
//! run which task at which time. So they count as the program's own.
//!
//! LLVM's runtime of OpenMP is none of these: how long its threads wait is a matter of the processor's time stamps.

use crate::layout::module::Module;

/// The most code that a library may have for this, in bytes: its instructions are all looked at when a program is launched.
const MOST_CODE: u64 = 1 << 20;

/// The beginning of the names of GCC's own interface to OpenMP.
const OF_DIRECTIVES: &str = "GOMP_";

/// The beginning of symbols of C++, and that of those of its standard library.
const IN_NAMESPACE: &str = "_ZN";
const STANDARD: [&str; 2] = ["_ZNSt", "_ZN9__gnu_cxx"];

/// The beginnings of names of functions that create threads: the system's, and that of `std::thread`.
const CREATORS: [&str; 2] = ["pthread_create", "_ZNSt6thread15_M_start_thread"];

/// The places of task schedulers among these modules, and of libraries that go with them (`libtbbmalloc` with `libtbb`).
pub(crate) fn among(modules: &[Module]) -> Vec<usize> {
    let own = || modules.iter().filter(|module| !module.is_system);
    let called: Vec<&str> =
        own().flat_map(|module| module.image.imported_names()).filter(|name| is_of_library(name)).collect();
    if called.is_empty() {
        return Vec::new();
    }
    let is_scheduler = |module: &&Module| {
        module.is_hidden()
            && len_of_code(module) <= MOST_CODE
            && module
                .image
                .imported_names()
                .iter()
                .any(|name| CREATORS.iter().any(|creator| name.starts_with(creator)))
            && called.iter().any(|name| module.image.symbol(name).is_some())
    };
    let stems: Vec<String> = modules.iter().filter(is_scheduler).map(stem).collect();
    let is_part = |module: &Module| {
        module.is_hidden()
            && len_of_code(module) <= MOST_CODE
            && stems.iter().any(|stem| self::stem(module).starts_with(stem))
    };
    (0..modules.len()).filter(|&i| is_part(&modules[i])).collect()
}

fn is_of_library(name: &str) -> bool {
    let is_standard = || STANDARD.iter().any(|standard| name.starts_with(standard));
    name.starts_with(OF_DIRECTIVES) || name.starts_with(IN_NAMESPACE) && !is_standard()
}

fn len_of_code(module: &Module) -> u64 {
    module.image.text().iter().map(|section| section.range()).map(|range| range.end - range.start).sum()
}

/// The name of a library's file without what follows `.so`.
fn stem(module: &Module) -> String {
    let name = module.mapped.path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once(".so").map_or(&*name, |(stem, _)| stem).to_owned()
}
