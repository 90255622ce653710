//! The start of the program's client: the same way every time.

use std::sync::Arc;

use super::launch_plan;
use super::streams::Streams;
use crate::error::{LaunchError, SystemAction};
use crate::os::network::Network;
use crate::os::spawn::{Prepared, ProcessRole};
use crate::os::{Tid, capability_probe};
use crate::spec::{LaunchSpec, Ready};

/// Everything that a start of the client takes.
pub(crate) struct ClientLaunchPlan {
    prepared: Prepared,
    pub(crate) ready: Ready,
    pub(crate) streams: Streams,
    /// Each execution has a network of its own.
    pub(crate) has_network: bool,
}

impl ClientLaunchPlan {
    /// The start of the client of this program, if it has one.
    pub(crate) fn new(spec: &LaunchSpec) -> Result<Option<Arc<Self>>, LaunchError> {
        let Some(client) = &spec.client else { return Ok(None) };
        let streams = Streams::new(None).map_err(LaunchError::system(SystemAction::PrepareClientOutput))?;
        let prepared = Prepared::new(
            &client.program,
            (Some(client.name.as_os_str()), &client.args),
            &spec.env,
            &spec.cwd,
            streams.files(),
            (launch_plan::limits(), ProcessRole::Client),
            &[],
        )
        .map_err(LaunchError::system(SystemAction::PrepareClientArguments))?;
        let has_network = capability_probe::network().is_ok();
        Ok(Some(Arc::new(Self { prepared, ready: client.ready.clone(), streams, has_network })))
    }

    /// The network that the program is started in.
    pub(crate) fn network(&self) -> Network {
        if self.has_network { Network::new() } else { Network::Shared }
    }

    /// Starts the client in the network of this process.
    pub(crate) fn start(&self, program: Tid) -> Result<Tid, LaunchError> {
        let failed = || LaunchError::system(SystemAction::StartClient);
        self.streams.reset().map_err(failed())?;
        let network = match self.has_network {
            true => Network::of(program).map_err(failed())?,
            false => Network::Shared,
        };
        self.prepared.spawn(&network).map_err(failed())
    }
}
