//! Writes what an exploration finds into the store, as it finds it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use checker::search::Identity;
use files::Kind;
use ptrace_backend::attention;

use super::{
    Extent, FINDING, KeptFinding, KeptFolder, KeptHead, KeptTarget, Run, TARGET, VERSION, fixed_check,
    signature, sources,
};
use crate::report::{Finding, Report};
use crate::schedule_file::{SavedTarget, ScheduleFile, names};
use crate::store::findings::sources::Explored;
use crate::store::{Store, StoreError};
use crate::trust;

/// Keeps the findings of one exploration.
pub(crate) struct FindingWriter<'a> {
    pub(crate) store: &'a Store,
    pub(crate) root: &'a Path,
    /// The target's name.
    pub(crate) target: String,
    pub(crate) run: &'a SavedTarget,
    /// Bound and budget of the exploration; `None` where nothing is searched.
    extent: Option<Extent>,
    program: Explored,
    made: Vec<(Identity, String)>,
}

impl<'a> FindingWriter<'a> {
    pub(crate) fn new(store: &'a Store, root: &'a Path, target: String, run: &'a SavedTarget) -> Self {
        let program = Explored::at(run.program.in_checkout(root), &run.build_id);
        Self { store, root, target, run, extent: None, program, made: Vec::new() }
    }

    /// The same for a search that is to go so far.
    pub(crate) fn within(self, extent: Extent) -> Self {
        Self { extent: Some(extent), ..self }
    }

    /// The kept finding of this failure has that name already.
    pub(crate) fn knows(&mut self, identity: Identity, id: String) {
        self.made.push((identity, id));
    }

    /// Saves the schedule of a finding and what belongs to it, and writes into `told` where that is.
    pub(crate) fn keep(
        &mut self,
        identity: &Identity,
        told: &mut Finding,
        schedule: &ScheduleFile,
    ) -> Result<(), StoreError> {
        let _alone = self.store.lock()?;
        let id = self.name(identity, told);
        told.id = Some(id.clone());
        let folder = KeptFolder::at(self.store.folder());
        told.dismissed = folder.dismissed().contains(&id);
        if told.dismissed {
            let path = self.write_schedule(&names::file_name(&id), schedule)?;
            told.schedule_file = Some(path.to_string_lossy().into_owned());
            return Ok(());
        }
        let before = folder.head(&id);
        let at = now();
        let stays = before.as_ref().filter(|before| self.is_outlasted_by(before, told)).is_some();
        if let Some(kept) = folder.finding(&id).filter(|_| stays) {
            let path = self.write_schedule(&names::again_name(&id), schedule)?;
            told.schedule_file = Some(path.to_string_lossy().into_owned());
            let checked = Some(fixed_check::found(at));
            return self.write(&KeptFinding { extent: self.extent_of(before.as_ref()), checked, ..kept });
        }
        let schedule_name = names::file_name(&id);
        let path = self.write_schedule(&schedule_name, schedule)?;
        // The report of it as soon as it was found leads there.
        if told.explanation.is_none() {
            self.store.remove(&names::again_name(&id))?;
        }
        told.schedule_file = Some(path.to_string_lossy().into_owned());
        let program = self.program.keep(self.store);
        let kept = KeptFinding {
            format: FINDING.to_owned(),
            version: VERSION,
            id,
            target: self.target.clone(),
            run: self.run.clone(),
            extent: self.extent_of(before.as_ref()),
            found: before.as_ref().map_or(at, |before| before.found),
            fixed: None,
            checked: before.map(|_| fixed_check::found(at)),
            schedule: schedule_name,
            program: program.as_ref().map(|copy| copy.name.clone()),
            program_seal: program.and_then(|copy| copy.seal),
            sources: sources::keep_sources(self.store, self.root, told, self.program.built())?,
            finding: told.shortened().into_owned(),
        };
        self.write(&kept)
    }

    /// Whether a finding leaves the place to the kept one of this name, which tells more of the same failure of the same
    /// build.
    pub(crate) fn is_outlasted(&self, id: &str, told: &Finding) -> bool {
        let before = KeptFolder::at(self.store.folder()).head(id);
        before.is_some_and(|before| self.is_outlasted_by(&before, told))
    }

    fn is_outlasted_by(&self, before: &KeptHead, told: &Finding) -> bool {
        let is_same = before.fixed.is_none() && before.run.build_id == self.run.build_id;
        is_same && fixed_check::is_given_the_same(&before.run, self.run) && before.finding.outlasts(told)
    }

    /// The extent of what is not fixed is never smaller than before.
    fn extent_of(&self, before: Option<&KeptHead>) -> Option<Extent> {
        let before = before.filter(|before| before.fixed.is_none()).and_then(|before| before.extent.as_ref());
        match (&self.extent, before) {
            (Some(own), Some(before)) => Some(own.clone().or_more(before)),
            (own, before) => own.as_ref().or(before).cloned(),
        }
    }

    /// Keeps the schedule of a finding, which a simpler one is to replace. Returns where it is then.
    pub(crate) fn set_aside(&self, id: &str) -> Option<String> {
        let folder = self.store.open().ok()?;
        let again =
            self.extent.as_ref().and_then(|_| folder.open_file(names::again_name(id), Kind::Record).ok());
        let mut file = again.or_else(|| folder.open_file(names::file_name(id), Kind::Record).ok())?;
        let copy = |to: &mut dyn Write| io::copy(&mut file, to).map(drop);
        let path = self.store.write_with(&names::original_name(id), copy).ok()?;
        Some(path.to_string_lossy().into_owned())
    }

    /// Keeps the schedule that ends well, next to that of a finding. Returns where it is.
    pub(crate) fn keep_passing(&self, id: &str, schedule: &ScheduleFile) -> Result<String, StoreError> {
        let path = self.write_schedule(&names::passing_name(id), schedule)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Without a seal where there is no key: a replay then asks.
    fn write_schedule(&self, name: &str, schedule: &ScheduleFile) -> Result<PathBuf, StoreError> {
        // Each goes through the whole schedule.
        attention::look();
        let seal = trust::seal(schedule, self.root);
        attention::look();
        self.store.write_with(name, |to| schedule.write_as(to, seal))
    }

    /// Two failures of one exploration may look the same.
    fn name(&mut self, identity: &Identity, told: &Finding) -> String {
        if let Some((_, name)) = self.made.iter().find(|(made, _)| made == identity) {
            return name.clone();
        }
        let name = signature::name(told, self.root);
        let same = self.made.iter().filter(|(_, made)| made.starts_with(&name)).count();
        let name = if same == 0 { name } else { format!("{name}-{}", same + 1) };
        self.made.push((identity.clone(), name.clone()));
        name
    }

    /// Keeps the result of the exploration, for the target and for the findings of earlier ones; `reason`: the reason for
    /// which it ended, without the option of the command line.
    pub(crate) fn end(&self, report: &Report, reason: String) -> Result<(), StoreError> {
        let _alone = self.store.lock()?;
        let stalled = report.stalled.iter().flat_map(|stalled| &stalled.findings);
        let run = Run {
            at: now(),
            verdict: report.verdict,
            strategy: report.strategy.clone(),
            executions: report.executions,
            schedules: report.schedules,
            redundant: report.redundant,
            pruned: report.pruned,
            other: report.other + report.narrow.map_or(0, |narrow| narrow.schedules),
            threads: report.threads,
            covered: report.covered.clone(),
            complete: report.complete,
            not_covered: report.not_covered.clone(),
            ended: report.ended.clone(),
            reason: Some(reason),
            notes: report.notes.clone(),
            findings: report
                .findings
                .iter()
                .chain(stalled)
                .filter_map(|finding| finding.id.clone())
                .collect(),
            potential_deadlocks: report
                .potential_deadlocks
                .iter()
                .map(|told| sources::with_hashes(self.root, told, self.program.built()))
                .collect(),
        };
        let folder = KeptFolder::at(self.store.folder());
        let kept = folder.heads();
        for KeptHead { id, .. } in kept.iter().filter(|head| !run.findings.contains(&head.id)) {
            let Some(mut finding) = folder.finding(id) else { continue };
            let run = run.as_for(&finding, report);
            if fixed_check::not_found(&mut finding, self.run, &run, &report.findings) {
                self.write(&finding)?;
            }
        }
        if !folder.is_overfull() {
            sources::forget_unused(self.store, &kept);
        }
        let target = KeptTarget {
            format: TARGET.to_owned(),
            version: VERSION,
            id: self.target.clone(),
            run: self.run.clone(),
            last: run,
        };
        self.store.write_with("target.json", |to| json(&target, to)).map(drop)
    }

    fn write(&self, finding: &KeptFinding) -> Result<(), StoreError> {
        let name = format!("findings/{}.json", finding.id);
        self.store.write_with(&name, |to| json(finding, to)).map(drop)
    }
}

fn json(value: &impl serde::Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
