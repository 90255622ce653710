//! `interleaver doctor`.

use std::io;

use explorer::program::doctor;

use crate::args::DoctorArgs;
use crate::output;

/// Tries what exploring takes, prints what came of it, and says with which code to exit.
pub(crate) fn run(args: &DoctorArgs) -> io::Result<u8> {
    let checks = doctor::check();
    output::print_as(args.format, &checks, || doctor::render(&checks))?;
    Ok(doctor::exit_code(&checks))
}
