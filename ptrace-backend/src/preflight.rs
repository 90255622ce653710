//! Can this program be explored at all? Says no before anything is started, and what to do instead.

use std::ffi::CString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::Kind;
use object::elf;

use crate::debuginfo::{Image, ImageError};

/// A program that can be explored.
#[derive(Clone)]
pub struct Executable {
    /// Its absolute path without symbolic links.
    pub path: PathBuf,
    /// Identifier that distinguishes this build from every other: the linker's build id, or a digest of the file
    /// (`content-…`).
    pub build_id: String,
    /// Whether it can be loaded anywhere.
    pub pie: bool,
    /// Whether lines are known for some of the user's own code.
    pub has_debug_lines: bool,
    /// The static address of its first instruction.
    pub entry: u64,
    /// The dynamic linker that it asks for.
    pub interpreter: PathBuf,
    /// Its contents.
    pub image: Arc<Image>,
}

/// A reason for which a file cannot be explored, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no such file.
    #[error("`{}` does not exist: build the program first, or check the path", .0.display())]
    Missing(PathBuf),
    /// It is a directory.
    #[error("`{}` is a directory: name the program in it", .0.display())]
    Directory(PathBuf),
    /// It is a device, a pipe or a socket.
    #[error("`{}` is not a regular file: name an executable", .0.display())]
    Special(PathBuf),
    /// The operating system refused.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// It may not be executed.
    #[error("`{0}` is not executable: `chmod +x {0}` makes it so, if it is a program", path.display())]
    NotExecutable {
        /// Path of the file.
        path: PathBuf,
    },
    /// It is a script.
    #[error("`{}` is a script for {interpreter}: explore {}, not the script that starts it", path.display(), started(program.as_deref()))]
    Script {
        /// Path of the file.
        path: PathBuf,
        /// The interpreter that runs it.
        interpreter: String,
        /// The program that it gives its arguments to, if it says so in one line.
        program: Option<PathBuf>,
    },
    /// It is no ELF file.
    #[error("`{}` is not an ELF executable: explore a native Linux program", .0.display())]
    NotElf(PathBuf),
    /// It is damaged.
    #[error("{0}: build the program again")]
    Damaged(ImageError),
    /// It is a 32-bit program.
    #[error("`{}` is a 32-bit program: build it for x86-64 (without -m32 or -mx32)", .0.display())]
    Bits32(PathBuf),
    /// It is for another machine.
    #[error("`{}` is built for {machine}: build it for x86-64", path.display())]
    Machine {
        /// Path of the file.
        path: PathBuf,
        /// The machine that it is for.
        machine: String,
    },
    /// It is an object file.
    #[error("`{}` is an object file: link it into a program and explore that", .0.display())]
    Relocatable(PathBuf),
    /// It is a core dump.
    #[error("`{}` is a core dump: explore the program that left it", .0.display())]
    Core(PathBuf),
    /// It is a library.
    #[error("`{}` is a shared library: explore a program that uses it", .0.display())]
    Library(PathBuf),
    /// It does without the dynamic linker.
    #[error("`{}` is statically linked: link it dynamically (without -static)", .0.display())]
    Static(PathBuf),
    /// Its dynamic linker is not there.
    #[error("`{}` needs the dynamic linker `{}`, which is not installed: build it for this system", path.display(), interpreter.display())]
    NoInterpreter {
        /// Path of the file.
        path: PathBuf,
        /// The dynamic linker that it asks for.
        interpreter: PathBuf,
    },
    /// It runs with other privileges than those of its user.
    #[error("`{}` has {privilege}, which a traced program loses: explore a copy without it (`cp` makes one)", path.display())]
    Privileged {
        /// Path of the file.
        path: PathBuf,
        /// The privilege.
        privilege: &'static str,
    },
    /// A sanitizer is built in.
    #[error("`{}` is built with {sanitizer}, which runs threads and memory of its own: explore the build without -fsanitize", path.display())]
    Sanitizer {
        /// Path of the file.
        path: PathBuf,
        /// The sanitizer.
        sanitizer: &'static str,
    },
}

/// Looks whether a program can be explored, without running it.
///
/// # Errors
/// The first thing that stands against it, in one sentence with what to do.
pub fn inspect(path: &Path) -> Result<Executable, Refusal> {
    let path = &path.canonicalize().map_err(|reason| unreadable(path, reason))?;
    check_file(path)?;
    check_header(path)?;
    let image = Image::open(path).map_err(|error| match error {
        ImageError::Unreadable { path, reason } => unreadable(&path, reason),
        damaged @ ImageError::Malformed { .. } => Refusal::Damaged(damaged),
    })?;
    let interpreter = check_linking(path, &image)?;
    check_sanitizers(path, &image)?;
    Ok(Executable {
        path: path.clone(),
        build_id: image.build_id().to_owned(),
        pie: image.is_position_independent(),
        has_debug_lines: image.has_debug_lines(),
        entry: image.entry(),
        interpreter,
        image,
    })
}

fn unreadable(path: &Path, reason: io::Error) -> Refusal {
    let path = path.to_owned();
    match reason.kind() {
        io::ErrorKind::NotFound => Refusal::Missing(path),
        _ => Refusal::Unreadable { path, reason },
    }
}

fn check_file(path: &Path) -> Result<(), Refusal> {
    let metadata = path.metadata().map_err(|reason| unreadable(path, reason))?;
    if metadata.is_dir() {
        return Err(Refusal::Directory(path.to_owned()));
    }
    if !metadata.is_file() {
        return Err(Refusal::Special(path.to_owned()));
    }
    let mode = metadata.permissions().mode();
    let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    // SAFETY: the name is a NUL-terminated string that outlives the call.
    let may_execute = unsafe { libc::access(name.as_ptr(), libc::X_OK) } == 0;
    if !may_execute {
        return Err(script(path).unwrap_or_else(|| Refusal::NotExecutable { path: path.to_owned() }));
    }
    // SAFETY: both names are NUL-terminated strings that outlive the call; a null buffer of length 0 asks for the size.
    let capabilities =
        unsafe { libc::getxattr(name.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) }
            > 0;
    let privilege = match () {
        () if mode & libc::S_ISUID != 0 => "the setuid bit",
        () if mode & libc::S_ISGID != 0 => "the setgid bit",
        () if capabilities => "file capabilities",
        () => return Ok(()),
    };
    Err(Refusal::Privileged { path: path.to_owned(), privilege })
}

/// A longer script does more than to start a program.
const LONGEST_SCRIPT: u64 = 4_096;

fn script(path: &Path) -> Option<Refusal> {
    let mut start = Vec::new();
    let file = files::open(path, Kind::Program).ok()?;
    file.take(LONGEST_SCRIPT).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(start.strip_prefix(b"#!")?).into_owned();
    let (interpreter, commands) = start.split_once('\n').unwrap_or((&start, ""));
    let interpreter = interpreter.trim().chars().take(100).collect();
    Some(Refusal::Script { path: path.to_owned(), interpreter, program: executed(commands) })
}

/// The program of the one line `exec PATH "$@"` of a script.
fn executed(commands: &str) -> Option<PathBuf> {
    let lines = commands.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut executed = lines.filter(|words| words.first() == Some(&"exec"));
    let (words, None) = (executed.next()?, executed.next()) else { return None };
    let [_, word, "\"$@\""] = words[..] else { return None };
    let word = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._+-".contains(letter);
    let program = PathBuf::from(word);
    let is_program = program.is_absolute() && word.chars().all(is_plain) && is_elf(&program);
    is_program.then_some(program)
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; elf::ELFMAG.len()];
    let read = files::open(path, Kind::Program).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == elf::ELFMAG
}

/// The program that is to be explored in place of a script.
fn started(program: Option<&Path>) -> String {
    program.map_or_else(|| "the program itself".to_owned(), |program| format!("`{}`", program.display()))
}

fn check_header(path: &Path) -> Result<(), Refusal> {
    if let Some(script) = script(path) {
        return Err(script);
    }
    let mut header = Vec::new();
    let file = files::open(path, Kind::Program).map_err(|reason| unreadable(path, reason))?;
    file.take(20).read_to_end(&mut header).map_err(|reason| unreadable(path, reason))?;
    if header.len() < 20 || !header.starts_with(&elf::ELFMAG) {
        return Err(Refusal::NotElf(path.to_owned()));
    }
    let half = |at: usize| match header[5] {
        2 => u16::from_be_bytes([header[at], header[at + 1]]),
        _ => u16::from_le_bytes([header[at], header[at + 1]]),
    };
    match (header[4], half(18)) {
        (_, machine) if ![elf::EM_X86_64.0, elf::EM_386.0].contains(&machine) => {
            Err(Refusal::Machine { path: path.to_owned(), machine: machine_name(machine) })
        }
        (2, machine) if machine == elf::EM_X86_64.0 => check_kind(path, half(16)),
        _ => Err(Refusal::Bits32(path.to_owned())),
    }
}

fn check_kind(path: &Path, kind: u16) -> Result<(), Refusal> {
    match elf::FileType(kind) {
        elf::ET_EXEC | elf::ET_DYN => Ok(()),
        elf::ET_REL => Err(Refusal::Relocatable(path.to_owned())),
        elf::ET_CORE => Err(Refusal::Core(path.to_owned())),
        _ => Err(Refusal::NotElf(path.to_owned())),
    }
}

fn machine_name(machine: u16) -> String {
    let name = match elf::Machine(machine) {
        elf::EM_AARCH64 => "AArch64 (64-bit ARM)",
        elf::EM_ARM => "32-bit ARM",
        elf::EM_RISCV => "RISC-V",
        elf::EM_PPC64 => "64-bit PowerPC",
        elf::EM_S390 => "IBM Z (s390x)",
        elf::EM_MIPS => "MIPS",
        elf::EM_LOONGARCH => "LoongArch",
        _ => return format!("another machine (ELF number {machine})"),
    };
    name.to_owned()
}

fn check_linking(path: &Path, image: &Image) -> Result<PathBuf, Refusal> {
    let Some(interpreter) = image.interpreter() else {
        let is_library = image.is_position_independent() && !image.says_it_is_a_program();
        let refusal = if is_library { Refusal::Library } else { Refusal::Static };
        return Err(refusal(path.to_owned()));
    };
    if !interpreter.exists() {
        return Err(Refusal::NoInterpreter { path: path.to_owned(), interpreter });
    }
    Ok(interpreter)
}

/// Sanitizers that change how memory and threads work. The undefined-behaviour one does not.
fn check_sanitizers(path: &Path, image: &Image) -> Result<(), Refusal> {
    const ENTRIES: [(&str, &str); 5] = [
        ("__tsan_init", "ThreadSanitizer"),
        ("__asan_init", "AddressSanitizer"),
        ("__hwasan_init", "HWAddressSanitizer"),
        ("__msan_init", "MemorySanitizer"),
        ("__rtsan_init", "RealtimeSanitizer"),
    ];
    match ENTRIES.iter().find(|(entry, _)| image.symbol(entry).is_some() || image.imports(entry)) {
        Some((_, sanitizer)) => Err(Refusal::Sanitizer { path: path.to_owned(), sanitizer }),
        None => Ok(()),
    }
}
