//! Variables of real programs, stopped in the middle: what is shown is compared with what the program says itself.

mod c_values;
mod cpp_values;
mod damaged;
mod optimised;
mod rust_values;
mod stopped;
mod thread_local_values;
