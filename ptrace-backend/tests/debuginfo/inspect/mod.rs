//! Variables of real programs, stopped in the middle: what is shown is compared with what the program says itself.

mod c_values;
mod stopped;
