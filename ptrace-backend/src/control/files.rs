//! System calls that may block on files: operations that wait until the files are ready.

use checker::names::Obj;
use checker::op::{Access, Op, OpKind};
use checker::seam::ExecutionError;

use super::process::{Flow, Process};
use super::sync::Index;
use super::thread::{Act, Need};
use crate::answers::read_timespec;
use crate::os::fd;

/// A file descriptor and the events that are waited for.
pub(crate) type Wanted = (i32, i16);

/// Files that a call waits for, and for how long at most, in nanoseconds.
struct Wait {
    files: Vec<Wanted>,
    limit: Option<u64>,
}

const MILLISECOND: u64 = 1_000_000;

/// More descriptors than this are not looked at in one call.
const MOST: u64 = 1024;

impl Process {
    /// A call that may block: it is a key point if it would wait for something that another thread or process may do.
    pub(crate) fn input_output(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let call = self.threads[index].regs.orig_rax as i64;
        if let Some(flow) = self.wait_for_signal(index) {
            return Ok(flow);
        }
        let Some(wait) = self.waits_for(index, call) else { return Ok(Flow::Resume(0)) };
        let pid = self.leader;
        let Wait { mut files, limit } = wait;
        files.retain(|(descriptor, _)| fd::may_block(pid, *descriptor));
        if limit == Some(0) || files.is_empty() && limit.is_none() {
            return Ok(Flow::Resume(0));
        }
        let touched: Vec<Access> =
            files.iter().map(|(descriptor, _)| Access::write(self.file_object(*descriptor))).collect();
        let need = Need::Ready(files);
        if !self.is_scheduled(index) && self.holds(index, &need) {
            return Ok(Flow::Resume(0));
        }
        let deadline = limit.map(|limit| self.threads[index].world.now.saturating_add(limit));
        Ok(self.pend(index, Op::new(OpKind::Io, touched), need, Act::Kernel, deadline))
    }

    /// A file is shared by its descriptor.
    fn file_object(&self, descriptor: i32) -> Obj {
        self.shared.named(format!("file descriptor {descriptor}"))
    }

    fn waits_for(&self, index: Index, call: i64) -> Option<Wait> {
        let regs = &self.threads[index].regs;
        let one = |events| Some(Wait { files: vec![(regs.rdi as i32, events)], limit: None });
        match call {
            libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_recvfrom
            | libc::SYS_recvmsg
            | libc::SYS_accept
            | libc::SYS_accept4 => one(libc::POLLIN),
            libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg => one(libc::POLLOUT),
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => {
                let files = vec![(regs.rdi as i32, libc::POLLIN)];
                Some(Wait { files, limit: milliseconds(regs.r10) })
            }
            libc::SYS_poll => Some(Wait { files: self.polled(index), limit: milliseconds(regs.rdx) }),
            libc::SYS_ppoll => Some(Wait { files: self.polled(index), limit: self.timespec(regs.rdx) }),
            libc::SYS_select => {
                let micros = self.timeval(regs.r8);
                Some(Wait { files: self.selected(index), limit: micros.map(|m| m.saturating_mul(1000)) })
            }
            libc::SYS_pselect6 => Some(Wait { files: self.selected(index), limit: self.timespec(regs.r8) }),
            _ => None,
        }
    }

    fn timespec(&self, at: u64) -> Option<u64> {
        if at == 0 { None } else { read_timespec(self.leader, at) }
    }

    /// A `struct timeval`, in microseconds.
    fn timeval(&self, at: u64) -> Option<u64> {
        (at != 0).then(|| self.number(at, 8).saturating_mul(1_000_000).saturating_add(self.number(at + 8, 8)))
    }

    /// The descriptors of a `poll`.
    fn polled(&self, index: Index) -> Vec<Wanted> {
        const SIZE: u64 = 8;
        let regs = &self.threads[index].regs;
        (0..regs.rsi.min(MOST))
            .map(|i| {
                let at = regs.rdi + i * SIZE;
                (self.number(at, 4) as i32, self.number(at + 4, 2) as i16)
            })
            .filter(|(descriptor, _)| *descriptor >= 0)
            .collect()
    }

    /// The descriptors of a `select`.
    fn selected(&self, index: Index) -> Vec<Wanted> {
        let regs = &self.threads[index].regs;
        let sets = [(regs.rsi, libc::POLLIN), (regs.rdx, libc::POLLOUT)];
        let all = sets.iter().filter(|(set, _)| *set != 0).flat_map(|&(set, events)| {
            let member = move |i: &u64| self.number(set + i / 8, 1) >> (i % 8) & 1 == 1;
            (0..regs.rdi.min(MOST)).filter(member).map(move |i| (i as i32, events))
        });
        all.collect()
    }

    /// A wait for files or signals has run out of time: the call is made, and is not to wait.
    pub(crate) fn expire_call(&mut self, index: Index) {
        let nothing = self.threads[index].regs.rsp.saturating_sub(256) & !15;
        let zero = crate::os::memory::write(self.leader, nothing, &[0; 16]);
        let regs = &mut self.threads[index].regs;
        match regs.orig_rax as i64 {
            libc::SYS_poll => regs.rdx = 0,
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => regs.r10 = 0,
            libc::SYS_ppoll | libc::SYS_rt_sigtimedwait if zero => regs.rdx = nothing,
            libc::SYS_select | libc::SYS_pselect6 if zero => regs.r8 = nothing,
            _ => {}
        }
    }
}

/// A time limit in milliseconds, where a negative one is none.
fn milliseconds(limit: u64) -> Option<u64> {
    u64::try_from(limit as i32).ok().map(|limit| limit * MILLISECOND)
}
