//! Origin of schedules. Everything that this tool saves carries a seal under a key of its user that lies outside of any
//! workspace; a schedule that carries none came from elsewhere, and is not run without the user's consent. See
//! `docs/security.md`.

mod key;
mod running;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub use key::KeyError;
pub use running::Running;

use self::key::SealKey;
use crate::error::Error;
use crate::schedule_file::{SavedTarget, ScheduleFile};

/// Consent to run something that came from elsewhere.
#[derive(Clone, Copy)]
pub enum Consent<'a> {
    /// The user has said so already.
    Given,
    /// The user cannot be asked.
    Refused,
    /// The user is shown what would run, and asked.
    Ask(&'a dyn Fn(&Running) -> bool),
}

/// Beginnings of the sealed text, by which seals of programs differ from those of schedules.
const OF_SCHEDULE: &[u8] = b"interleaver schedule 1";
const OF_PROGRAM: &[u8] = b"interleaver program 1";

/// The seal of a schedule that is saved in the checkout at `root`: under this user's key, over all that the file says and
/// where the program, its folder and its input are on this machine. `None` where the key cannot be had.
pub(crate) fn seal(schedule: &ScheduleFile, root: &Path) -> Option<String> {
    Some(mac(&SealKey::own().ok()?, schedule, root)?.to_hex().to_string())
}

/// The first of these roots for which a schedule was sealed by this user.
pub(crate) fn home(schedule: &ScheduleFile, roots: &[PathBuf]) -> Option<PathBuf> {
    let seal = blake3::Hash::from_hex(schedule.seal.as_ref()?).ok()?;
    let key = SealKey::own().ok()?;
    // Hashes are compared in constant time.
    roots.iter().find(|root| mac(&key, schedule, root) == Some(seal)).cloned()
}

/// The seal of the copy of a program that a store keeps.
pub(crate) fn seal_of_program(copy: &File, build_id: &str) -> Option<String> {
    Some(program_mac(&SealKey::own().ok()?, copy, build_id).ok()?.to_hex().to_string())
}

/// Whether the copy of a program was sealed by this user as this build.
pub(crate) fn is_own_program(copy: &File, build_id: &str, seal: &str) -> bool {
    let (Ok(seal), Ok(key)) = (blake3::Hash::from_hex(seal), SealKey::own()) else { return false };
    program_mac(&key, copy, build_id).is_ok_and(|mac| mac == seal)
}

/// Fails unless a schedule that was sealed for `home` may run in the checkout at `root`.
pub(crate) fn check(
    file: &Path,
    target: &SavedTarget,
    (root, home): (&Path, Option<&Path>),
    consent: Consent<'_>,
) -> Result<(), Error> {
    if home == Some(root) {
        return Ok(());
    }
    let running = Running::of(file, target, root);
    let agreed = match consent {
        Consent::Given => true,
        Consent::Refused => false,
        Consent::Ask(ask) => ask(&running),
    };
    if agreed { Ok(()) } else { Err(Error::Untrusted(Box::new(running))) }
}

fn mac(key: &SealKey, schedule: &ScheduleFile, root: &Path) -> Option<blake3::Hash> {
    let mut digits = key.hasher(OF_SCHEDULE);
    for path in places(&schedule.target, root) {
        part(&mut digits, path.as_os_str().as_encoded_bytes());
    }
    schedule.write_as(&mut digits, None).ok()?;
    Some(digits.finalize())
}

fn program_mac(key: &SealKey, mut copy: &File, build_id: &str) -> io::Result<blake3::Hash> {
    use std::io::Seek;
    let mut digits = key.hasher(OF_PROGRAM);
    part(&mut digits, build_id.as_bytes());
    copy.rewind()?;
    io::copy(&mut copy, &mut digits)?;
    Ok(digits.finalize())
}

/// The program, its folder and its input: the files themselves, whatever links lead there.
fn places(target: &SavedTarget, root: &Path) -> Vec<PathBuf> {
    let places = [Some(&target.program), Some(&target.directory), target.stdin.as_ref()];
    let paths = places.into_iter().flatten().map(|place| place.in_checkout(root));
    paths.map(|path| path.canonicalize().unwrap_or(path)).collect()
}

/// Takes in bytes so that no other parts come to the same.
fn part(digits: &mut blake3::Hasher, bytes: &[u8]) {
    digits.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

impl SealKey {
    fn hasher(&self, domain: &[u8]) -> blake3::Hasher {
        let mut digits = blake3::Hasher::new_keyed(self.bytes());
        part(&mut digits, domain);
        digits
    }
}
