//! `interleaver list`.

use std::io::{self, Write};

use explorer::config::Config;
use explorer::discover::Workspace;
use explorer::escaping::escaped;

use crate::args::ListArgs;
use crate::output;

/// Looks through a folder and prints what was looked at; says with which code to exit.
pub(crate) fn run(args: &ListArgs) -> io::Result<u8> {
    let root = args.folder.canonicalize().map_err(|error| about(args, &error))?;
    if !root.is_dir() {
        return Err(about(args, &io::ErrorKind::NotADirectory.into()));
    }
    let (config, problems) = Config::read(&root);
    for problem in &problems {
        // If standard error is gone, there is no place to say so.
        let _ = writeln!(io::stderr(), "{}", escaped(&problem.to_string()));
    }
    let listing = Workspace::scan(&root, &config).listing();
    output::print_as(args.format, &listing, || listing.render())?;
    Ok(0)
}

fn about(args: &ListArgs, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}` cannot be looked through: {error}", args.folder.display()))
}
