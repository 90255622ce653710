//! Locks, loops that wait, and data races where neither keeps threads apart.

mod lock_order;
mod races;
mod read_write_locks;
mod waiting_loops;
