//! Permissions of this machine, found out by the tool itself: explorations are processes of it, permitted the same.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Stdio;

use explorer::program::doctor::Check;
use tokio::process::Command;

/// Runs `interleaver doctor`.
///
/// # Errors
/// When it cannot be run, or does not say what it found.
pub(crate) async fn examine(tool: &Path) -> io::Result<Vec<Check>> {
    let mut doctor = Command::new(tool);
    doctor.args(["doctor", "--format", "json"]).stdin(Stdio::null()).process_group(0).kill_on_drop(true);
    let output = doctor.output().await?;
    serde_json::from_slice(&output.stdout).map_err(io::Error::other)
}

/// Knowledge of the machine.
#[derive(Default)]
pub(crate) enum MachineSupport {
    #[default]
    Unknown,
    /// It is being found out, and these jobs wait for it.
    Examined(BTreeSet<u64>),
    /// Programs can be explored.
    Fit,
}
