//! Explanations of real programs: the cause, the simplest schedule, and what stands in them where little is known.

mod always;
mod causes;
mod minimise;
mod older_versions;
mod try_locks;
mod without_lines;
