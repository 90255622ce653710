//! From an address on a stopped thread's stack to the variable that is there.

use super::scopes::locals;
use super::stopped::stack::FrameId;
use super::stopped::thread::StoppedThread;
use crate::debuginfo::dwarf::types;

/// The local variable or parameter that holds an address, and the way into it (`queue.head`).
pub(super) fn local_at(thread: &StoppedThread<'_>, address: u64) -> Option<String> {
    let frame = thread.frames.iter().position(|activation| address < activation.frame.cfa)?;
    let place = thread.frames[frame].frame.place?;
    let looked_up = thread.modules.run_time(place)?;
    let calls = thread.modules.frames(looked_up).len();
    (0..calls).find_map(|inlined| local_of_call(thread, FrameId { frame, inlined }, address))
}

fn local_of_call(thread: &StoppedThread<'_>, call: FrameId, address: u64) -> Option<String> {
    locals(thread, call).into_iter().find_map(|local| {
        let start = local.value.location.address().filter(|&start| start <= address)?;
        let offset = address - start;
        thread.size(&local.value).filter(|&size| offset < size)?;
        let info = thread.info(local.value.module)?;
        let kind = local.value.kind?;
        let within = types::path(info.dwarf, info.unit(kind)?, kind.offset, offset);
        Some(format!("{}{within}", local.name))
    })
}
