//! The seccomp filter: the system calls of the target that stop for the tracer. All do except those that concern no
//! other thread or process ([`PRIVATE`], new memory, the handlers of the C library's own signals), and the output of
//! standard streams where these are the tracer's; `rseq` is refused.

use libc::{BPF_ABS, BPF_JEQ, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

use super::PRIVATE;

/// System calls that stop unless their first argument is a standard stream, which never blocks here.
const TRACED_ON_OTHER_STREAMS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
];

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const CALLER: u32 = 8;
const FIRST_ARGUMENT: u32 = 16;
const THIRD_ARGUMENT: u32 = 32;
const FOURTH_ARGUMENT: u32 = 40;

/// The signals that the C library keeps for itself, by which it cancels threads.
const OWN_SIGNALS: [u32; 2] = [32, 33];

/// The flags of mappings that say where, or that fail where something is.
const NAMED_PLACE: u32 = (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) as u32;

/// `AUDIT_ARCH_X86_64`: little-endian, 64 bit, EM_X86_64.
const X86_64: u32 = 0xc000_003e;

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(test: u32, k: u32, jt: usize, jf: usize) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt: jt as u8, jf: jf as u8, k }
}

/// The program, to be installed before the target's first instruction.
///
/// Ends in three returns: allow, trace, and refuse a call of another architecture.
///
/// `hand_offs`: where the system calls of hand-offs return to; no other calls do.
pub(crate) fn program(hand_offs: &[u32]) -> Vec<sock_filter> {
    passing(TRACED_ON_OTHER_STREAMS, hand_offs)
}

/// The same where standard streams may be anything: a pipe, a connection.
pub(crate) fn program_with_own_streams() -> Vec<sock_filter> {
    passing(&[], &[])
}

/// These calls do not stop where they are about standard streams.
fn passing(on_streams: &[libc::c_long], hand_offs: &[u32]) -> Vec<sock_filter> {
    let load = |offset| statement(BPF_LD | BPF_W | BPF_ABS, offset);
    let mut code = vec![load(ARCH), jump(BPF_JEQ, X86_64, 0, 0)];
    if !hand_offs.is_empty() {
        let others = hand_offs.len() + 2; // behind the return below
        code.extend([load(CALLER + 4), jump(BPF_JEQ, 0, 0, others), load(CALLER)]);
        for (nth, &place) in hand_offs.iter().enumerate() {
            let left = hand_offs.len() - nth - 1;
            code.push(jump(BPF_JEQ, place, left, usize::from(left == 0)));
        }
        code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    }
    code.push(load(NUMBER));
    // The kernel would tell there on which processor a thread runs, which is another one each time. Programs do without.
    code.push(jump(BPF_JEQ, libc::SYS_rseq as u32, 0, 1));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    let calls = PRIVATE.len() + on_streams.len() + 2;
    // The places of the checks of arguments (of an output, of a handler's signal, of a mapping), and of the returns.
    let stream = code.len() + calls + 1;
    let (signal, mapping) = (stream + 2, stream + 5);
    let (allow, trace, foreign) = (mapping + 9, mapping + 10, mapping + 11);
    code[1].jf = (foreign - 2) as u8;
    let to = |code: &[sock_filter], place: usize| place - code.len() - 1;
    for &call in PRIVATE {
        code.push(jump(BPF_JEQ, call as u32, to(&code, allow), 0));
    }
    for &call in on_streams {
        code.push(jump(BPF_JEQ, call as u32, to(&code, stream), 0));
    }
    code.push(jump(BPF_JEQ, libc::SYS_rt_sigaction as u32, to(&code, signal), 0));
    code.push(jump(BPF_JEQ, libc::SYS_mmap as u32, to(&code, mapping), 0));
    code.push(statement(libc::BPF_JMP | libc::BPF_JA, to(&code, trace) as u32));
    code.push(load(FIRST_ARGUMENT));
    code.push(jump(BPF_JGT, 2, to(&code, trace), to(&code, allow)));
    code.push(load(FIRST_ARGUMENT));
    code.push(jump(BPF_JEQ, OWN_SIGNALS[0], to(&code, allow), 0));
    code.push(jump(BPF_JEQ, OWN_SIGNALS[1], to(&code, allow), to(&code, trace)));
    // Memory that is new, where the kernel wants and nothing is mapped yet, and nothing to be executed: no other thread
    // comes upon it.
    for half in [FIRST_ARGUMENT, FIRST_ARGUMENT + 4] {
        code.push(load(half));
        code.push(jump(BPF_JEQ, 0, 0, to(&code, trace)));
    }
    code.push(load(THIRD_ARGUMENT));
    code.push(jump(BPF_JSET, libc::PROT_EXEC as u32, to(&code, trace), 0));
    code.push(load(FOURTH_ARGUMENT));
    code.push(jump(BPF_JSET, NAMED_PLACE, to(&code, trace), 0));
    code.push(jump(BPF_JSET, libc::MAP_ANONYMOUS as u32, to(&code, allow), to(&code, trace)));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_TRACE));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_KILL_PROCESS));
    code
}
