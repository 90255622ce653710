//! The `interleaver` command: translates arguments into the explorer's verbs, and reports into text and exit codes.

#![warn(clippy::unwrap_used)]

mod args;
mod doctor;
mod interrupt;
mod lines;
mod list;
mod output;
mod progress;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use clap::error::ErrorKind;
use explorer::config::{Config, Settings};
use explorer::report::Report;
use explorer::verdict::{EXIT_FAILED, Verdict};
use explorer::watch::Watch;
use explorer::{json, text};
use miette::{IntoDiagnostic, MietteHandlerOpts};
use mimalloc::MiMalloc;

use crate::args::{Cli, Command, DapArgs, ExploreArgs, Format};
use crate::progress::Line;

/// What one worker records another one frees, all the time: the C library's allocator has both wait for a lock then.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // Sentences stay whole, so that they can be searched for.
    let plain = |_: &_| -> Box<dyn miette::ReportHandler> {
        Box::new(MietteHandlerOpts::new().wrap_lines(false).build())
    };
    // Only a second installation fails.
    let _ = miette::set_hook(Box::new(plain));
    match run(cli.command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Nobody is left to be told that standard error is gone.
            let _ = writeln!(io::stderr(), "{error:?}");
            ExitCode::from(EXIT_FAILED)
        }
    }
}

/// What clap has to say. Help and version are no errors.
fn usage(error: &clap::Error) -> ExitCode {
    // As above.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_FAILED),
    }
}

fn run(command: Command) -> miette::Result<u8> {
    let (report, format) = match command {
        Command::Explore(args) => {
            let (format, watch_stdin) = (args.format, args.watch_stdin);
            let configured = configured(&args);
            let request = args.request(&configured);
            return watched(format, watch_stdin, |cancel, watch| explorer::explore(&request, cancel, watch));
        }
        Command::Minimise(args) => {
            return watched(args.format, args.watch_stdin, |cancel, watch| {
                explorer::minimise(&args.file, cancel, watch)
            });
        }
        Command::Replay(args) => {
            let cancel = interrupt::flag().into_diagnostic()?;
            (explorer::replay(&args.file, &cancel).into_diagnostic()?, args.format.into())
        }
        Command::List(args) => return list::run(&args).into_diagnostic(),
        Command::Doctor(args) => return doctor::run(&args).into_diagnostic(),
        Command::Lsp => return lsp::serve().map(|()| 0).into_diagnostic(),
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
    let cancel = interrupt::flag().into_diagnostic()?;
    if watch_stdin {
        interrupt::when_stdin_closes(Arc::clone(&cancel)).into_diagnostic()?;
    }
    if format == Format::Jsonl {
        return lines::tell(&cancel, verb).map(Verdict::exit_code).into_diagnostic();
    }
    let report = verb(&cancel, &mut Line::new()).into_diagnostic()?;
    print(&report, format).into_diagnostic()?;
    Ok(report.verdict.exit_code())
}

/// What `interleaver.toml` says about how a program is explored. Who names the target has looked into it already.
fn configured(args: &ExploreArgs) -> Settings {
    if args.target.is_some() {
        return Settings::default();
    }
    let (settings, problems) = Config::about(args.program());
    for problem in problems {
        // Nobody is left to be told that standard error is gone.
        let _ = writeln!(io::stderr(), "{problem}");
    }
    settings
}

fn debug(args: &DapArgs) -> io::Result<()> {
    match args.port {
        Some(port) => dap::serve_port(port),
        None => {
            dap::serve();
            Ok(())
        }
    }
}

fn print(report: &Report, format: Format) -> io::Result<()> {
    output::print_with(|to| match format {
        Format::Text => to.write_all(text::render(report).as_bytes()),
        Format::Json | Format::Jsonl => json(report, to),
    })
}
