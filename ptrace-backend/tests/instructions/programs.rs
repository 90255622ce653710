//! Instructions that are found in the functions of programs that real compilers made.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};
use ptrace_backend::instructions::{
    AccessKind, Candidate, FunctionCode, FunctionShape, NotRelocatable, Target, TransferKind,
    TrappedInstructionKind, relocate, scan,
};

/// A built program.
struct Program {
    image: Vec<u8>,
}

const C: &str = include_str!("program.c");
const RUST: &str = include_str!("program.rs");

fn build(source: &str, name: &str, compiler: &str, arguments: &[&str]) -> Program {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (folder.path().join(name), folder.path().join("program"));
    std::fs::write(&input, source).expect("the source can be written");
    run(Command::new(compiler).args(arguments).arg(&input).arg("-o").arg(&output), &output);
    Program { image: std::fs::read(output).expect("the compiler has made it") }
}

fn run(command: &mut Command, output: &Path) {
    let made = command.output().expect("the compiler is installed");
    assert!(made.status.success() && output.exists(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn c(arguments: &[&str]) -> Program {
    build(C, "program.c", "gcc", &[arguments, &["-pthread", "-g"]].concat())
}

fn rust(arguments: &[&str]) -> Program {
    build(RUST, "program.rs", "rustc", &[arguments, &["--edition=2024", "-Cdebuginfo=1"]].concat())
}

impl Program {
    fn file(&self) -> object::File<'_> {
        object::File::parse(&*self.image).expect("the compiler makes valid files")
    }

    fn symbol(&self, name: &str) -> (u64, u64) {
        let file = self.file();
        let found = file.symbols().find(|symbol| symbol.name() == Ok(name));
        let symbol = found.unwrap_or_else(|| panic!("no symbol {name}"));
        (symbol.address(), symbol.size())
    }

    fn code(&self, name: &str) -> (u64, Vec<u8>) {
        let (addr, size) = self.symbol(name);
        let file = self.file();
        let text = file.section_by_name(".text").expect("every program has code");
        let bytes =
            text.data_range(addr, size).expect("the section can be read").expect("the function is in it");
        (addr, bytes.to_vec())
    }

    fn is_constant(&self, addr: u64) -> bool {
        let constant = [".got", ".got.plt", ".rodata", ".data.rel.ro"];
        self.file().sections().any(|section| {
            section.name().is_ok_and(|name| constant.contains(&name))
                && (section.address()..section.address() + section.size()).contains(&addr)
        })
    }

    fn scan(&self, name: &str) -> FunctionCode {
        let (start, code) = self.code(name);
        let found = scan(&code, start, &FunctionShape::of(&code, start), |addr| self.is_constant(addr));
        assert_eq!(found.undecoded, None, "{name}");
        found
    }

    /// The candidates of a function that are neither in its frame nor the thread's own.
    fn shared(&self, function: &str) -> Vec<Candidate> {
        let all = self.scan(function).candidates.into_iter();
        all.filter(|candidate| candidate.stack.is_none() && !candidate.thread_local).collect()
    }

    /// Number of candidates of a function that touch thread-local variables.
    fn thread_local(&self, function: &str) -> usize {
        self.scan(function).candidates.iter().filter(|candidate| candidate.thread_local).count()
    }

    /// The kinds of a function's accesses outside its frame and its thread-local variables.
    fn kinds(&self, function: &str) -> Vec<AccessKind> {
        self.shared(function).into_iter().map(|candidate| candidate.kind).collect()
    }

    /// The addresses in the code that a function touches, leaving out those that come from registers.
    fn fixed(&self, function: &str) -> Vec<u64> {
        self.shared(function).iter().filter_map(Candidate::fixed_address).collect()
    }
}

#[test]
fn c_code() {
    for (optimised, mode) in [(false, "-O0"), (true, "-O2"), (true, "-O3")] {
        for position in ["-pie", "-no-pie"] {
            let fixed = if position == "-pie" { "-fPIE" } else { "-fno-pie" };
            check_c(&c(&[mode, position, fixed]), optimised);
        }
    }
    check_c(&c(&["-O2", "-march=x86-64-v3", "-fcf-protection=full"]), true);
}

fn check_c(program: &Program, optimised: bool) {
    let increment: &[AccessKind] =
        if optimised { &[AccessKind::SplitUpdate] } else { &[AccessKind::Load, AccessKind::Store] };
    assert_eq!(program.kinds("increment"), increment);
    assert_eq!(program.fixed("increment"), vec![program.symbol("counter").0; increment.len()]);
    assert_eq!(program.kinds("set_flag"), [AccessKind::Store]);
    assert_eq!(program.fixed("set_flag"), [program.symbol("flag").0]);
    assert_eq!(program.kinds("fetch_add"), [AccessKind::LockedUpdate]);
    assert_eq!(program.fixed("fetch_add"), [program.symbol("hits").0]);
    assert_eq!(program.kinds("swap"), [AccessKind::LockedUpdate]);
    assert_eq!(program.kinds("only_stack"), []);
    assert_eq!(program.kinds("own_copy"), []);
    assert_ne!(program.thread_local("own_copy"), 0);
    assert_eq!(program.kinds("constant_table"), []);
    // Unoptimised code reads the expected value through a pointer into its own frame.
    let exchanges =
        program.kinds("compare_exchange").into_iter().filter(|kind| *kind == AccessKind::CompareExchange);
    assert_eq!(exchanges.count(), 1);
    let trapped_instructions: Vec<_> =
        program.scan("relax").trapped_instructions.iter().map(|trapped| trapped.kind).collect();
    assert_eq!(trapped_instructions, [TrappedInstructionKind::Pause]);
    check_memcpy(program);
    for function in
        ["increment", "compare_exchange", "copy", "only_stack", "constant_table", "worker", "main"]
    {
        check_relocation(program, function);
    }
}

/// The call of `memcpy` leaves through the procedure linkage table; an optimiser turns it into a jump.
fn check_memcpy(program: &Program) {
    let transfers = program.scan("copy").transfers;
    let leaving: Vec<_> = transfers
        .iter()
        .filter(|transfer| matches!(transfer.kind, TransferKind::Call | TransferKind::Jump))
        .collect();
    let [transfer] = leaving.as_slice() else { panic!("one transfer expected: {transfers:x?}") };
    let Target::Address(target) = transfer.target else { panic!("a direct one expected: {transfer:x?}") };
    let file = program.file();
    let plt = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt")));
    assert!(plt.into_iter().any(|s| (s.address()..s.address() + s.size()).contains(&target)), "{target:#x}");
}

/// Every instruction has a copy, and the copy begins with an instruction that does the same.
fn check_relocation(program: &Program, function: &str) {
    let (start, code) = program.code(function);
    let to = start + 0x10_0000;
    for instruction in &mut iced_x86::Decoder::with_ip(64, &code, start, 0) {
        let bytes = &code[(instruction.ip() - start) as usize..];
        let relocated = match relocate(bytes, instruction.ip(), to) {
            Err(NotRelocatable::Visible(_)) => continue,
            relocated => relocated.expect("compilers make nothing else that cannot be relocated"),
        };
        let copy = iced_x86::Decoder::with_ip(64, &relocated.code, to, 0).decode();
        if instruction.flow_control() == iced_x86::FlowControl::Next {
            // Equal operands: the decoder gives addresses, not displacements.
            assert_eq!(copy, instruction);
        }
    }
}

#[test]
fn calls_through_the_global_offset_table_name_their_slot() {
    let program = c(&["-O1", "-fno-plt", "-fno-optimize-sibling-calls"]);
    let found = program.scan("copy");
    let slots = found.transfers.iter().filter_map(|transfer| match transfer.target {
        Target::Slot(slot) if transfer.kind == TransferKind::Call => Some(slot),
        _ => None,
    });
    let slots: Vec<u64> = slots.collect();
    assert_eq!(slots.len(), 1, "{:x?}", found.transfers);
    assert!(program.is_constant(slots[0]));
    assert_eq!(found.candidates.iter().filter(|candidate| candidate.stack.is_none()).count(), 0);
}

#[test]
fn rust_code() {
    for arguments in
        [&["-Copt-level=0"][..], &["-Copt-level=3"], &["-Copt-level=3", "-Crelocation-model=static"]]
    {
        let program = rust(arguments);
        let optimised = !arguments.contains(&"-Copt-level=0");
        if optimised {
            assert_eq!(program.kinds("increment"), [AccessKind::SplitUpdate]);
            assert_eq!(program.kinds("fetch_add"), [AccessKind::LockedUpdate]);
            assert_eq!(program.kinds("compare_exchange"), [AccessKind::CompareExchange]);
            assert_eq!(program.kinds("own_copy"), []);
        } else {
            // The address comes from a register, loaded from the global offset table or computed.
            let kinds: Vec<AccessKind> =
                program.shared("increment").iter().map(|candidate| candidate.kind).collect();
            assert_eq!(kinds, [AccessKind::Load, AccessKind::Store]);
        }
        for function in ["increment", "fetch_add", "compare_exchange", "copy", "main"] {
            check_relocation(&program, function);
        }
        if optimised {
            let transfers = program.scan("copy").transfers;
            assert!(transfers.iter().any(|t| matches!(t.target, Target::Slot(_))), "{transfers:x?}");
        }
    }
}

#[test]
fn all_code_of_a_program_can_be_decoded_and_relocated() {
    let program = rust(&["-Copt-level=3"]);
    let file = program.file();
    let functions: Vec<String> = file
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 0)
        .filter(|symbol| {
            file.section_by_name(".text").is_some_and(|text| symbol.section_index() == Some(text.index()))
        })
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect();
    assert!(functions.len() > 100, "the standard library is linked in");
    for function in &functions {
        program.scan(function);
        check_relocation(&program, function);
    }
}
