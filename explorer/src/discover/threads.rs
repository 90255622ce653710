//! Can a program create threads? Says yes in case of doubt: a missing lens is worse than one too many.

use std::path::Path;

use ptrace_backend::debuginfo::Image;

use super::functions::Functions;

/// Functions that libraries call to create threads for C and C++.
const CREATORS: [&str; 8] = [
    "pthread_create",
    "thrd_create",
    "_ZNSt6thread15_M_start_thread",
    "_ZNSt6thread6_StateD2Ev",
    "GOMP_parallel",
    "__kmpc_fork_call",
    "_ZN3tbb",
    "_ZSt15async",
];

/// Functions that Rust programs instantiate in their own crates when they start threads.
const RUST_STARTS: [&str; 3] = ["spawn<", "spawn_unchecked<", "spawn_scoped<"];

/// Whether a program, or a library of the user's that it asks for, can create threads.
pub(super) fn creates_threads(image: &Image, functions: &Functions) -> bool {
    if image.is_rust() {
        // Its library imports `pthread_create` always, and its test harness starts threads of its own.
        let knows = !functions.all.is_empty();
        let starts = functions.all.iter().any(|f| RUST_STARTS.iter().any(|start| f.name.starts_with(start)));
        return starts || !knows || imports_creator(image, &["thrd_create", "GOMP_parallel"]);
    }
    imports_creator(image, &CREATORS)
        || own_libraries(image).iter().any(|library| imports_creator(library, &CREATORS))
}

/// Whether a program asks for a runtime library of OpenMP, of GCC, LLVM or Intel.
#[must_use]
pub(crate) fn uses_openmp(program: &Path) -> bool {
    const RUNTIMES: [&str; 3] = ["libgomp.", "libomp.", "libiomp5."];
    Image::open(program).is_ok_and(|image| {
        let (names, _) = image.libraries();
        names.iter().any(|name| RUNTIMES.iter().any(|runtime| name.starts_with(runtime)))
    })
}

fn imports_creator(image: &Image, creators: &[&str]) -> bool {
    image.imported_names().iter().any(|name| creators.iter().any(|creator| name.starts_with(creator)))
}

/// The libraries that the program finds in the folders that it names itself.
fn own_libraries(image: &Image) -> Vec<std::sync::Arc<Image>> {
    let (names, folders) = image.libraries();
    let origin = image.path().parent().unwrap_or(Path::new(".")).to_string_lossy().into_owned();
    let folders: Vec<String> = folders
        .iter()
        .map(|folder| folder.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin))
        .collect();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| Path::new(folder).join(name)));
    paths.filter(|path| path.is_file()).filter_map(|path| Image::open(&path).ok()).collect()
}

/// Whether a text speaks of threads: the source as it will be built cannot be known, so this is a guess.
#[must_use]
pub(super) fn text_creates_threads(text: &str) -> bool {
    const WORDS: [&str; 22] = [
        "pthread_create",
        "thrd_create",
        "std::thread",
        "std::jthread",
        "std::async",
        "jthread",
        "#pragma omp parallel",
        "thread::spawn",
        "thread::scope",
        "thread::Builder",
        ".spawn(",
        "rayon::",
        "crossbeam",
        "#[tokio::",
        "loom::thread",
        "boost::thread",
        "tokio::",
        "tbb::",
        "QThread",
        "QtConcurrent",
        "g_thread_new",
        "uv_queue_work",
    ];
    WORDS.iter().any(|word| text.contains(word))
}
