//! Sleeps, time limits and timers, on the virtual clock.

mod socket_limits;
mod timers;
mod timing;
