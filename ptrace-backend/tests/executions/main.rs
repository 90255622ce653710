//! Executions of real programs, driven without a search.

mod bundled;
mod compiled;
mod narrow;
mod outside;
mod random_numbers;
mod same_names;
mod stepping;
