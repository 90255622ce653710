//! The test's own process as something to unwind, and made-up memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use ptrace_backend::debuginfo::{Frame, Image, Memory, Modules, Registers, unwind};

/// The memory of a process.
pub(crate) struct ProcessMemory(File);

impl ProcessMemory {
    pub(crate) fn open(process: &str) -> Self {
        Self(File::open(format!("/proc/{process}/mem")).unwrap())
    }
}

impl Memory for ProcessMemory {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.0.read_exact_at(buffer, address).is_ok()
    }
}

/// Words at addresses, and nothing else.
pub(crate) struct Words(pub(crate) BTreeMap<u64, u64>);

impl Memory for Words {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let Some(word) = self.0.get(&address).filter(|_| buffer.len() == 8) else { return false };
        buffer.copy_from_slice(&word.to_le_bytes());
        true
    }
}

/// The file of a library that this process has loaded.
pub(crate) fn loaded(name: &str) -> PathBuf {
    mappings("self").into_keys().find(|path| path.file_name().unwrap() == name).unwrap()
}

/// Every file that a process has loaded, with its start address: a reader of symbols may have mapped the file a second
/// time, from its beginning too, but without code.
fn mappings(process: &str) -> BTreeMap<PathBuf, u64> {
    let mut loaded = BTreeMap::new();
    let mut begins = 0;
    for line in fs::read_to_string(format!("/proc/{process}/maps")).unwrap().lines() {
        let Some(at) = line.find('/') else { continue };
        let mut words = line.split_whitespace();
        let start = words.next().unwrap().split_once('-').unwrap().0;
        let [is_code, is_first] = [words.next() == Some("r-xp"), words.next() == Some("00000000")];
        if is_first {
            begins = u64::from_str_radix(start, 16).unwrap();
        }
        if is_code {
            loaded.insert(PathBuf::from(&line[at..]), begins);
        }
    }
    loaded
}

/// Everything that a process has loaded.
pub(crate) fn modules_of(process: &str) -> Modules {
    let mut modules = Modules::default();
    for (path, start) in mappings(process) {
        // Another test's library may be loaded still, and its file gone.
        let Ok(image) = Image::open(&path) else { continue };
        let extent = image.extent();
        let bias = start - (extent.start & !0xfff);
        modules.add(image, bias, start..bias + extent.end);
    }
    modules
}

/// The registers of a context that the operating system or the C library saved.
pub(crate) fn registers(context: &libc::ucontext_t) -> Registers {
    const DWARF_ORDER: [libc::c_int; 16] = [
        libc::REG_RAX,
        libc::REG_RDX,
        libc::REG_RCX,
        libc::REG_RBX,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_RBP,
        libc::REG_RSP,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    let value = |register: libc::c_int| context.uc_mcontext.gregs[register as usize] as u64;
    Registers { gpr: DWARF_ORDER.map(value), pc: value(libc::REG_RIP) }
}

/// The stack of this thread, innermost frame first: the caller of this function is the second frame.
#[inline(never)]
pub(crate) fn own_stack() -> Stack {
    // SAFETY: all zeros is a valid context, and `getcontext` fills it; it is read before this function returns.
    let context = unsafe {
        let mut context: libc::ucontext_t = std::mem::zeroed();
        assert_eq!(libc::getcontext(&raw mut context), 0);
        context
    };
    Stack::walk(&registers(&context))
}

/// A walked stack of this process.
pub(crate) struct Stack {
    pub(crate) modules: Modules,
    pub(crate) frames: Vec<Frame>,
}

impl Stack {
    pub(crate) fn walk(registers: &Registers) -> Self {
        let modules = modules_of("self");
        let frames = unwind(&modules, &ProcessMemory::open("self"), registers, 200);
        Self { modules, frames }
    }

    /// The functions on the stack, innermost first; without a name where there is no symbol.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |frame: &Frame| {
            let place = frame.place?;
            self.modules.get(place.module)?.image.function_at(place.address)?.name()
        };
        self.frames.iter().map(|frame| name(frame).unwrap_or_default()).collect()
    }

    /// Asserts that the functions are on the stack in this order, innermost first, perhaps with others in between.
    pub(crate) fn assert_order(&self, expected: &[&str]) {
        let names = self.names();
        let mut rest = names.iter();
        for function in expected {
            assert!(
                rest.any(|name| name.ends_with(function)),
                "{function} is not in its place in {names:#?}"
            );
        }
    }

    /// Asserts that the walk ended where a thread begins, and not where it lost its way.
    pub(crate) fn assert_complete(&self) {
        let last = self.frames.last().unwrap();
        let module = self.modules.get(last.place.unwrap().module).unwrap();
        assert_eq!(module.image.path().file_name().unwrap(), "libc.so.6", "{:#?}", self.names());
        assert!(self.frames.iter().all(|frame| frame.cfa != 0));
        assert!(self.frames.len() < 200);
    }
}
