//! Memory is written by a function of the C library whose address stands in a structure, and which is called last by the function that has the
//! structure: optimised, the call is a jump.

use std::hint::black_box;
use std::thread;

type Transfer = unsafe extern "C" fn(*mut u8, *const u8, usize) -> *mut u8;

unsafe extern "C" {
    fn memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8;
    fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8;
}

struct Transfers {
    copy: Transfer,
    shift: Transfer,
}

static mut PLACE: u8 = b'1';

#[inline(never)]
fn store(transfers: &Transfers, byte: &u8) -> *mut u8 {
    unsafe { (transfers.copy)(&raw mut PLACE, byte, 1) }
}

fn main() {
    let changes = thread::spawn(|| {
        let transfers = black_box(Box::new(Transfers { copy: memcpy, shift: memmove }));
        store(&transfers, &b'2');
        store(&transfers, &b'1');
        black_box(transfers.shift);
    });
    assert_eq!(unsafe { (&raw const PLACE).read_volatile() }, b'1');
    changes.join().unwrap();
}
