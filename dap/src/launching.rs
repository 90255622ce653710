//! How a session begins, begins again, and says that it has.

use std::io::Write;

use explorer::debug::{self, Move, Session};
use serde_json::{Value, json};

use crate::adapter::{Adapter, Answer, Refusal, arguments};
use crate::breakpoints::filters;
use crate::protocol::{LaunchArguments, Request};

impl<W: Write> Adapter<W> {
    pub(crate) fn initialize(&mut self, request: &Request) -> Answer {
        let starts = |name: &str| request.arguments[name].as_bool().unwrap_or(true);
        (self.lines_from_one, self.columns_from_one) = (starts("linesStartAt1"), starts("columnsStartAt1"));
        Ok(json!({
            "supportsConfigurationDoneRequest": true,
            "supportsStepBack": true,
            "supportsSteppingGranularity": true,
            "supportsRestartRequest": true,
            "supportsTerminateRequest": true,
            "supportsDelayedStackTraceLoading": true,
            "supportsConditionalBreakpoints": true,
            "supportsHitConditionalBreakpoints": true,
            "supportsLogPoints": true,
            "supportsLoadedSourcesRequest": true,
            "supportsEvaluateForHovers": true,
            "supportsExceptionInfoRequest": true,
            "exceptionBreakpointFilters": filters(),
        }))
    }

    pub(crate) fn launch(&mut self, request: &Request) -> Answer {
        if self.session.is_some() {
            return Err(Refusal("a schedule has been launched already".to_owned()));
        }
        let launch: LaunchArguments = arguments(request)?;
        let folder = match launch.folder {
            Some(folder) => folder,
            None => {
                std::env::current_dir().map_err(|error| Refusal(format!("there is no folder: {error}")))?
            }
        };
        let wanted = debug::Request {
            schedule: folder.join(launch.schedule),
            program: launch.program.map(|program| folder.join(program)),
            folder,
            trusted: launch.trusted,
        };
        let (session, opening) = Session::open(wanted, self.controls.clone())?;
        self.session = Some(session);
        for note in &opening.notes {
            self.client.say(note);
        }
        self.stop = Some(opening.stop);
        Ok(Value::Null)
    }

    /// The client has said all that it wanted to before the first stop.
    pub(crate) fn configured(&mut self) -> Answer {
        self.session()?;
        self.is_told = false;
        Ok(Value::Null)
    }

    pub(crate) fn restart(&mut self) -> Answer {
        let stop = self.session()?.go(Move::ToBeginning)?;
        self.stand(stop);
        Ok(Value::Null)
    }
}
