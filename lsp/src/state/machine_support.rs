//! Before the first exploration: does this machine permit it?

use std::collections::BTreeSet;
use std::io;

use explorer::program::doctor::Check;
use tower_lsp::ls_types::MessageType;

use super::State;
use crate::explore::machine::{MachineSupport, examine};

impl State {
    /// Whether a job can go on at once. If not, the machine is examined first, and the job goes on or fails after that.
    pub(super) fn is_fit_for(&mut self, id: u64) -> bool {
        match &mut self.machine_support {
            MachineSupport::Fit => return true,
            MachineSupport::Examined(waiting) => {
                waiting.insert(id);
            }
            MachineSupport::Unknown => {
                self.machine_support = MachineSupport::Examined(BTreeSet::from([id]));
                let (tool, mailbox) = (self.context.tool.clone(), self.context.mailbox.clone());
                self.context.runtime.spawn(async move {
                    let checks = examine(&tool).await;
                    mailbox.send(move |state| state.examined(checks));
                });
            }
        }
        false
    }

    /// Takes in the result. A refusal is told once: a machine that permits too little is examined again at the next click,
    /// since the user may have changed it.
    fn examined(&mut self, checks: io::Result<Vec<Check>>) {
        let MachineSupport::Examined(waiting) = std::mem::take(&mut self.machine_support) else { return };
        let (missing, limited) = match checks {
            Ok(checks) => (advice(&checks, true), advice(&checks, false)),
            Err(error) => (vec![format!("`interleaver doctor` cannot be run: {error}")], Vec::new()),
        };
        let Some(first) = missing.first().cloned() else {
            self.machine_support = MachineSupport::Fit;
            limited.into_iter().for_each(|sentence| self.show(MessageType::WARNING, sentence));
            waiting.into_iter().for_each(|id| self.explore_now(id));
            return;
        };
        missing.into_iter().for_each(|sentence| self.show(MessageType::ERROR, sentence));
        waiting.into_iter().for_each(|id| self.refuse(id, &first));
    }
}

/// The sentences about things that are refused: those without which nothing can be explored, or the others.
fn advice(checks: &[Check], is_needed: bool) -> Vec<String> {
    checks.iter().filter(|check| check.is_needed == is_needed).filter_map(Check::advice).collect()
}
