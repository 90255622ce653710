//! Sleeps, time limits and timers, on the virtual clock.

mod timers;
mod timing;
