//! Executions of real programs, driven without a search.

mod bundled;
mod compiled;
mod external_effects;
mod narrow;
mod opening;
mod random_numbers;
mod same_names;
mod stepping;
