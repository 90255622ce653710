//! The verb `explore`: from a request to a report, through the real backend.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::config::Suppressions;
use crate::discover;
use crate::error::Error;
use crate::input::portable_path::Place;
use crate::input::project_root::root_of;
use crate::input::request::Request;
use crate::input::{command, environment};
use crate::program::client;
use crate::program::exit_attribution::ExitAttribution;
use crate::program::launch::{self, Launch, Launched};
use crate::program::source::Source;
use crate::report::Report;
use crate::schedule_file::SavedTarget;
use crate::store::Store;
use crate::store::findings;
use crate::verbs::deadline::Deadline;
use crate::verbs::search::session::SearchSession;
use crate::verbs::search::sync_scope;
use crate::verbs::watch::Watch;

/// Explores a program, saves what is found, and reports. Runs on the calling thread, and binds it to one CPU. Setting
/// `cancel` from elsewhere ends the search; the findings so far are reported.
///
/// # Errors
/// When the tool cannot do its job; nothing is left running.
pub fn explore(request: &Request, cancel: &Arc<AtomicBool>, watch: &mut dyn Watch) -> Result<Report, Error> {
    sync_scope::check(request)?;
    let here = launch::folder(Path::new("."))?;
    let program = command::find(&request.program);
    let mut environment = environment::with_changes(std::env::vars_os(), &request.variables);
    let deadline = Deadline::never(cancel);
    deadline.begin(request.time_limit);
    if deadline.in_time(|| discover::uses_openmp(&program))? {
        environment::let_openmp_sleep(&mut environment);
    }
    let launch = Launch {
        program,
        name: Some(request.program.clone().into_os_string()),
        arguments: request.arguments.clone(),
        directory: request.directory.as_deref().map_or_else(|| Ok(here.clone()), launch::folder)?,
        environment,
        stdin: request.stdin.as_deref().map(launch::input).transpose()?,
        client: client::of(&request.client, &request.ready)?,
        fresh_directory: request.fresh_directory,
        ignore_exit_code: request.ignore_exit_code,
        run_timeout: request.run_timeout,
        stalls: Arc::default(),
    };
    launch.stalls.allow(request.max_stall);
    let launched = launch.start_search(&deadline.limit())?;
    let Launched { program, fresh } = &launched;
    let root = root_of(&program.executable().path, &here);
    let target = SavedTarget {
        program: Place::of(&program.executable().path, &root),
        link: command::link(&launch.program).map(|link| Place::of(&link, &root)),
        build_id: program.build_id(),
        name: launch.name.as_ref().map(Into::into),
        arguments: launch.arguments.iter().map(Into::into).collect(),
        directory: Place::of(&launch.directory, &root),
        fresh_directory: request.fresh_directory,
        stdin: launch.stdin.as_deref().map(|path| Place::of(path, &root)),
        client: request.client.clone(),
        ready: request.ready.clone(),
        environment: environment::that_matters(&launch.environment, &request.variables),
        ignore_exit_code: request.ignore_exit_code,
        step_limit: request.step_limit,
        run_timeout: request.run_timeout,
    };
    let identity = || discover::identify(&program.executable().path, &launch.arguments, &root);
    let identity = deadline.in_time(identity)?;
    let name = request.target.clone().or_else(|| identity.as_ref().map(|identity| identity.id.clone()));
    let name = name.unwrap_or_else(|| findings::program_id(&target.program));
    let store = match &request.output {
        Some(folder) => Store::at(folder)?,
        None => Store::of_target(&root, &name)?,
    };
    let instead = || launch::entry(identity.as_ref()?);
    let (source, instead): (&dyn Source, _) = (program, &instead);
    let suppressions = Suppressions::read(&root, &program.executable().path);
    let session = SearchSession {
        request,
        name,
        target,
        root: &root,
        store: &store,
        source,
        instead,
        suppressions: &suppressions,
        deadline: &deadline,
        stalls: Some(&launch.stalls),
    };
    // There is one working directory of that path.
    let workers = Some(program).filter(|_| fresh.is_none());
    session.run(&ExitAttribution::new(&launched, &launch.arguments), workers, watch)
}
