//! The `interleaver` command: translates arguments into the explorer's verbs, and reports into text and exit codes.
//!
//! ```text
//! $ interleaver explore --max-preemptions 1 -- ./counter
//! $ interleaver replay .interleaver/TARGET/schedules/FINDING.json
//! ```

#![warn(clippy::unwrap_used)]

mod args;
mod consent;
mod doctor;
mod duration;
mod error_report;
mod interrupt;
mod lines;
mod list;
mod output;
mod progress;
mod setting_args;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};

use clap::Parser;
use clap::error::ErrorKind;
use explorer::config::{Config, Settings};
use explorer::escaping::escaped;
use explorer::json;
use explorer::render;
use explorer::render::event_graph;
use explorer::report::Report;
use explorer::report::verdict::{EXIT_FAILED, Verdict};
use explorer::trust::Consent;
use explorer::verbs::watch::Watch;
use miette::IntoDiagnostic;
use mimalloc::MiMalloc;

use crate::args::{Cli, Command, DapArgs, ExploreArgs, Format, GraphFormat, ShowArgs};
use crate::error_report::{ErrorReport, Plain};
use crate::progress::Line;

/// As a process has it whose main thread has panicked.
const EXIT_PANICKED: u8 = 101;

/// Records of one worker are freed by another one, all the time: the C library's allocator has both wait for a
/// lock then.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// As much stack as the main thread has by default: the user's limit may be less.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let worker = thread::Builder::new().name("work".to_owned()).stack_size(STACK).spawn(work);
    match worker.map(JoinHandle::join) {
        Ok(Ok(code)) => code,
        // It has said what it panicked with.
        Ok(Err(_)) => ExitCode::from(EXIT_PANICKED),
        // If the machine permits no thread, the main thread has stack enough as a rule.
        Err(_) => work(),
    }
}

fn failed(why: &str) -> ExitCode {
    // If standard error is gone, there is no place to say so.
    let _ = writeln!(io::stderr(), "{why}");
    ExitCode::from(EXIT_FAILED)
}

fn work() -> ExitCode {
    if let Err(why) = explorer::resources::prepare() {
        return failed(&why);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // Only a second installation fails.
    let _ = miette::set_hook(Box::new(|_| Box::new(Plain)));
    match run(cli.command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // If standard error is gone, there is no place to say so.
            let _ = writeln!(io::stderr(), "{:?}", miette::Report::new(ErrorReport::of(&*error)));
            ExitCode::from(EXIT_FAILED)
        }
    }
}

/// Prints clap's message, which may hold words of the command line. Help and version are no errors.
fn usage(error: &clap::Error) -> ExitCode {
    if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // As above.
        let _ = write!(io::stderr(), "{}", escaped(&error.to_string()));
        return ExitCode::from(EXIT_FAILED);
    }
    // It has colours on a terminal.
    let printed =
        output::written(|_| Ok(())).and_then(|()| error.print()).and_then(|()| io::stdout().flush());
    match printed {
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            failed(&format!("help and version cannot be written to standard output: {why}"))
        }
        _ => ExitCode::SUCCESS,
    }
}

fn run(command: Command) -> miette::Result<u8> {
    let (report, format) = match command {
        Command::Explore(args) => {
            let (format, watch_stdin) = (args.format, args.watch_stdin);
            let settings = configured(&args);
            if let (None, Some(client)) = (&args.settings.0.client, &settings.client) {
                consent::to_client(client).into_diagnostic()?;
            }
            let request = args.request(&settings);
            return watched(format, watch_stdin, |cancel, watch| explorer::explore(&request, cancel, watch));
        }
        Command::Minimise(args) => {
            return watched(args.format, args.watch_stdin, |cancel, watch| {
                consent::with(args.trust, |consent| explorer::minimise(&args.file, consent, cancel, watch))
            });
        }
        Command::Replay(args) => {
            let cancel = interrupt::flag().into_diagnostic()?;
            let replay = |consent: Consent<'_>| explorer::replay(&args.file, consent, &cancel);
            match consent::with(args.trust, replay) {
                Ok(report) => (report, args.format.into()),
                ended => return code_of(ended.map(|report| report.verdict)),
            }
        }
        Command::Show(args) => return show(&args),
        Command::List(args) => return list::run(&args).into_diagnostic(),
        Command::Doctor(args) => return doctor::run(&args).into_diagnostic(),
        Command::Lsp => {
            output::open_for("the protocol").into_diagnostic()?;
            return lsp::serve().map(|()| 0).into_diagnostic();
        }
        Command::Dap(args) => return debug(&args).map(|()| 0).into_diagnostic(),
    };
    print(&report, format).into_diagnostic()?;
    Ok(report.verdict.exit_code())
}

/// Does what takes its time, shows how far it is, and prints what comes of it.
fn watched(
    format: Format,
    watch_stdin: bool,
    verb: impl FnOnce(&Arc<AtomicBool>, &mut dyn Watch) -> Result<Report, explorer::Error>,
) -> miette::Result<u8> {
    output::open_for("the report").into_diagnostic()?;
    let cancel = interrupt::flag().into_diagnostic()?;
    if watch_stdin {
        interrupt::when_stdin_closes(Arc::clone(&cancel)).into_diagnostic()?;
    }
    if format == Format::Jsonl {
        let (ended, unwritten) = lines::tell(&cancel, verb);
        return match unwritten.filter(|error| error.kind() != io::ErrorKind::BrokenPipe) {
            Some(error) => Err(output::unwritten(&error)).into_diagnostic(),
            None => code_of(ended),
        };
    }
    let mut line = Line::new(format == Format::Text, &cancel);
    let report = match verb(&cancel, &mut line) {
        Ok(report) => report,
        Err(error) => return code_of(Err(error)),
    };
    drop(line);
    print(&report, format).into_diagnostic()?;
    Ok(report.verdict.exit_code())
}

/// Shows a saved schedule; says with which code to exit.
fn show(args: &ShowArgs) -> miette::Result<u8> {
    let cancel = interrupt::flag().into_diagnostic()?;
    let graph = match consent::with(args.trust, |consent| explorer::show(&args.file, consent, &cancel)) {
        Ok(graph) => graph,
        Err(error) => return code_of(Err(error)),
    };
    let printed = output::print_whole(|to| match args.format {
        GraphFormat::Text => to.write_all(event_graph::table(&graph).as_bytes()),
        GraphFormat::Json => explorer::graph_json(&graph, to),
        GraphFormat::Dot => to.write_all(event_graph::dot(&graph).as_bytes()),
    });
    printed.map(|()| 0).into_diagnostic()
}

/// The exit code of what has printed what it came to. It is no failure of the tool that it was stopped, or had no time.
fn code_of(ended: Result<Verdict, explorer::Error>) -> miette::Result<u8> {
    match ended {
        Err(error) if error.came_too_soon() => {
            // If standard error is gone, there is no place to say so.
            let _ = writeln!(io::stderr(), "{error}");
            Ok(Verdict::Inconclusive.exit_code())
        }
        ended => ended.map(Verdict::exit_code).into_diagnostic(),
    }
}

/// The settings of `interleaver.toml` for a program. A caller that names the target has read them already.
fn configured(args: &ExploreArgs) -> Settings {
    if args.target.is_some() {
        return Settings::default();
    }
    let (settings, problems) = Config::about(args.program());
    for problem in problems {
        // If standard error is gone, there is no place to say so.
        let _ = writeln!(io::stderr(), "{}", escaped(&problem.to_string()));
    }
    settings
}

fn debug(args: &DapArgs) -> io::Result<()> {
    match args.port {
        Some(port) => dap::serve_port(port),
        None => {
            output::open_for("the protocol")?;
            dap::serve();
            Ok(())
        }
    }
}

fn print(report: &Report, format: Format) -> io::Result<()> {
    output::print_whole(|to| match format {
        Format::Text => to.write_all(render::render(report).as_bytes()),
        Format::Json | Format::Jsonl => json(report, to),
    })
}
