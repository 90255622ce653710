//! Single searches on real programs, and scopes that leave out where threads could be switched.

mod bounded_dpor;
mod few_variables;
mod scope;
