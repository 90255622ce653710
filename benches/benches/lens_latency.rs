//! Latencies for an editor's user: the first look at a large workspace, the lenses of a file after that, and the way from a
//! click to the first diagnostic. Also the memory that the server needs for it.
//!
//! The workspace is generated and really compiled, in a temporary folder: 50 executables of 40 sources each.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use benches::{Sample, is_measured, peak_memory_of};
use serde_json::{Value, json};
use tests::editor::{Editor, uri};
use tests::targets;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Size of the workspace, and numbers of measurements.
struct Size {
    programs: usize,
    sources: usize,
    scans: usize,
    clicks: usize,
}

/// Limits in the issue of the tool: milliseconds for lenses, and bytes of memory.
const MOST_MILLISECONDS: f64 = 300.0;
const MOST_MEMORY: u64 = 300_000_000;

fn main() -> Outcome<()> {
    let size = match is_measured() {
        true => Size { programs: 50, sources: 40, scans: 7, clicks: 15 },
        false => Size { programs: 2, sources: 3, scans: 1, clicks: 1 },
    };
    let mut out = io::stdout().lock();
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let mains = generate(&root, &size)?;
    writeln!(
        out,
        "{} files, {} executables; medians, and from where to where",
        mains.len() * size.sources,
        mains.len()
    )?;

    let (mut scan, mut lens, mut edited, mut memory) =
        (Sample::default(), Sample::default(), Sample::default(), 0);
    for _ in 0..size.scans {
        let mut editor = Editor::spawned(&root)?;
        let begun = Instant::now();
        editor.begin(json!({}));
        editor.open(&mains[0]);
        expect_lens(&mut editor, &mains[0])?;
        scan.add(milliseconds(begun));
        for main in &mains {
            editor.open(main);
            let asked = Instant::now();
            expect_lens(&mut editor, main)?;
            lens.add(milliseconds(asked));
        }
        for (main, version) in mains.iter().zip(2..) {
            let text = format!("/* {version} */\n{}", fs::read_to_string(main)?);
            let asked = Instant::now();
            editor.change(main, version, &text);
            expect_lens(&mut editor, main)?;
            edited.add(milliseconds(asked));
        }
        let server = editor.process().ok_or("the server is a process of its own")?.id();
        memory = memory.max(peak_memory_of(server)?);
        editor.end();
    }
    let first = clicks(&size)?;
    writeln!(out, "first look               {scan:>22.0} ms")?;
    writeln!(
        out,
        "lens of an open file     {lens:>22.1} ms; less than {MOST_MILLISECONDS} are wanted: {}",
        verdict(&lens)
    )?;
    writeln!(
        out,
        "lens after an edit       {edited:>22.1} ms; less than {MOST_MILLISECONDS} are wanted: {}",
        verdict(&edited)
    )?;
    writeln!(out, "click to diagnostic      {first:>22.0} ms")?;
    let reached = if memory < MOST_MEMORY { "reached" } else { "missed" };
    writeln!(
        out,
        "memory of the server     {:>22.1} MB; less than {} are wanted: {reached}",
        memory as f64 / 1e6,
        MOST_MEMORY / 1_000_000
    )?;
    Ok(())
}

/// The slowest counts.
fn verdict(sample: &Sample) -> &'static str {
    if sample.most() < MOST_MILLISECONDS { "reached" } else { "missed" }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn expect_lens(editor: &mut Editor, file: &Path) -> Outcome<()> {
    let titles = editor.lens_titles(file);
    let is_there = titles.iter().any(|title| title.starts_with("▶ Explore interleavings"));
    if is_there { Ok(()) } else { Err(format!("{} has the lenses {titles:?}", file.display()).into()) }
}

/// Writes and builds the workspace; gives the sources with a `main`.
fn generate(root: &Path, size: &Size) -> Outcome<Vec<PathBuf>> {
    fs::create_dir(root.join(".git"))?;
    fs::create_dir(root.join("build"))?;
    (0..size.programs).map(|program| generate_program(root, program, size.sources)).collect()
}

fn generate_program(root: &Path, program: usize, sources: usize) -> Outcome<PathBuf> {
    let folder = root.join(format!("part{program}"));
    fs::create_dir(&folder)?;
    let helpers = 1..sources;
    for helper in helpers.clone() {
        let text = format!(
            "#include <stdio.h>\n#include <string.h>\n\nint help_{helper}(int x)\n{{\n    char text[16];\n\n    \
             snprintf(text, sizeof text, \"%d\", x);\n    return (int)strlen(text);\n}}\n"
        );
        fs::write(folder.join(format!("help_{helper}.c")), text)?;
    }
    let declared: String = helpers.clone().map(|helper| format!("int help_{helper}(int x);\n")).collect();
    let called: String = helpers.map(|helper| format!("    total += help_{helper}(total);\n")).collect();
    let main = folder.join("main.c");
    let text = format!(
        "#include <pthread.h>\n#include <stddef.h>\n\n{declared}static int total;\n\nstatic void *run(void *unused)\n{{\n\
         {called}    return unused;\n}}\n\nint main(void)\n{{\n    pthread_t other;\n\n    pthread_create(&other, NULL, run, \
         NULL);\n    run(NULL);\n    return pthread_join(other, NULL);\n}}\n"
    );
    fs::write(&main, text)?;
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O0", "-pthread", "-o"]).arg(root.join(format!("build/part{program}")));
    for source in fs::read_dir(&folder)? {
        gcc.arg(source?.path());
    }
    if gcc.status()?.success() { Ok(main) } else { Err("gcc fails".into()) }
}

/// From a click on the lens of the bundled C example to its first diagnostic, each time in a workspace that nothing was
/// explored in.
fn clicks(size: &Size) -> Outcome<Sample> {
    let mut sample = Sample::default();
    for _ in 0..size.clicks {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        fs::create_dir(root.join(".git"))?;
        let source = root.join("lost_update.c");
        fs::copy(targets().join("c/lost_update.c"), &source)?;
        let mut gcc = Command::new("gcc");
        gcc.args(["-g", "-O0", "-pthread", "-o"]).arg(root.join("lost_update")).arg(&source);
        if !gcc.status()?.success() {
            return Err("gcc fails".into());
        }
        let mut editor = Editor::spawned(&root)?;
        editor.begin(json!({}));
        editor.open(&source);
        let lens = editor.lens(&source, "▶ Explore interleavings");
        let clicked = Instant::now();
        editor.click(&lens);
        editor.wait_for_method("textDocument/publishDiagnostics", |params: &Value| {
            params["uri"] == uri(&source)
                && params["diagnostics"].as_array().is_some_and(|all| !all.is_empty())
        });
        sample.add(milliseconds(clicked));
        editor.end();
    }
    Ok(sample)
}
