//! From an address on a stopped thread's stack to the variable that is there.

use super::stack::FrameId;
use super::thread::Thread;
use crate::debuginfo::types;

impl Thread<'_> {
    /// The local variable or parameter that holds an address, and the way into it (`queue.head`).
    pub(super) fn local_at(&self, address: u64) -> Option<String> {
        let frame = self.frames.iter().position(|activation| address < activation.frame.cfa)?;
        let place = self.frames[frame].frame.place?;
        let looked_up = self.modules.run_time(place)?;
        let calls = self.modules.frames(looked_up).len();
        (0..calls).find_map(|inlined| self.local_of_call(FrameId { frame, inlined }, address))
    }

    fn local_of_call(&self, call: FrameId, address: u64) -> Option<String> {
        self.locals(call).into_iter().find_map(|local| {
            let start = local.value.contents.address().filter(|&start| start <= address)?;
            let offset = address - start;
            self.size(&local.value).filter(|&size| offset < size)?;
            let info = self.info(local.value.module)?;
            let kind = local.value.kind?;
            let within = types::path(info.dwarf, info.unit(kind)?, kind.offset, offset);
            Some(format!("{}{within}", local.name))
        })
    }
}
