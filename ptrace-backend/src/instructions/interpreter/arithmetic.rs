//! Results of arithmetic, and the flags that they set.

use iced_x86::{ConditionCode, Mnemonic};

/// Flags of the processor.
pub(super) const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ADJUST: u64 = 1 << 4;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
pub(super) const OVERFLOW: u64 = 1 << 11;

/// The flags that arithmetic sets.
pub const ARITHMETIC: u64 = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW;

/// A result, and the flags of arithmetic behind it.
#[derive(Clone, Copy)]
pub(super) struct Computed {
    pub(super) result: u64,
    pub(super) flags: u64,
}

impl Computed {
    /// A result of so many bits that sets these flags, and those that follow from it.
    pub(super) fn new(result: u64, width: u32, flags: u64) -> Self {
        let result = masked(result, width);
        let follows = flag(result == 0, ZERO)
            | flag(result & sign_bit(width) != 0, SIGN)
            | flag((result as u8).count_ones().is_multiple_of(2), PARITY);
        Self { result, flags: flags | follows }
    }
}

pub(super) fn add(a: u64, b: u64, carry: u64, width: u32) -> Computed {
    let wide = u128::from(masked(a, width)) + u128::from(masked(b, width)) + u128::from(carry);
    let sum = wide as u64;
    let overflows = (a ^ sum) & (b ^ sum) & sign_bit(width) != 0;
    let flags = flag(wide >> width != 0, CARRY) | flag(overflows, OVERFLOW) | (a ^ b ^ sum) & ADJUST;
    Computed::new(sum, width, flags)
}

pub(super) fn subtract(a: u64, b: u64, carry: u64, width: u32) -> Computed {
    let (a, b) = (masked(a, width), masked(b, width));
    let rest = a.wrapping_sub(b).wrapping_sub(carry);
    let borrows = u128::from(a) < u128::from(b) + u128::from(carry);
    let overflows = (a ^ b) & (a ^ rest) & sign_bit(width) != 0;
    let flags = flag(borrows, CARRY) | flag(overflows, OVERFLOW) | (a ^ b ^ rest) & ADJUST;
    Computed::new(rest, width, flags)
}

/// The number of places by which an operand of this width is shifted.
fn places(by: u64, width: u32) -> u32 {
    by as u32 & if width == 64 { 63 } else { 31 }
}

/// A shift to the left, or to the right, with the sign or without. `None`: by nothing, which sets no flags.
pub(super) fn shift(mnemonic: Mnemonic, a: u64, by: u64, width: u32) -> Option<Computed> {
    let by = Some(places(by, width)).filter(|by| *by > 0)?;
    let (a, signed) = (masked(a, width), i128::from(signed(a, width)));
    let is_negative = a & sign_bit(width) != 0;
    let (wide, carries, overflows) = match mnemonic {
        Mnemonic::Shl => {
            let wide = u128::from(a) << by;
            let carries = wide >> width & 1 != 0;
            (wide, carries, carries != (wide as u64 & sign_bit(width) != 0))
        }
        Mnemonic::Shr => (u128::from(a) >> by, u128::from(a) >> (by - 1) & 1 != 0, is_negative),
        _ => ((signed >> by).cast_unsigned(), signed >> (by - 1) & 1 != 0, false),
    };
    Some(Computed::new(wide as u64, width, flag(carries, CARRY) | flag(overflows, OVERFLOW)))
}

/// A rotation to the left or to the right, with the flags of carry and overflow, the only ones that it sets. `None`: by nothing.
pub(super) fn rotate(mnemonic: Mnemonic, a: u64, by: u64, width: u32) -> Option<Computed> {
    let by = Some(places(by, width)).filter(|by| *by > 0)? % width;
    let left = if mnemonic == Mnemonic::Rol { by } else { (width - by) % width };
    let a = u128::from(masked(a, width));
    let result = masked(((a << width | a) << left >> width) as u64, width);
    let highest = result & sign_bit(width) != 0;
    let (carries, overflows) = if mnemonic == Mnemonic::Rol {
        (result & 1 != 0, highest != (result & 1 != 0))
    } else {
        (highest, highest != (result & sign_bit(width) >> 1 != 0))
    };
    Some(Computed { result, flags: flag(carries, CARRY) | flag(overflows, OVERFLOW) })
}

/// Whether a condition holds with these flags. `None`: it is none.
pub(super) fn holds(condition: ConditionCode, flags: u64) -> Option<bool> {
    let has = |flag: u64| flags & flag != 0;
    Some(match condition {
        ConditionCode::None => return None,
        ConditionCode::o => has(OVERFLOW),
        ConditionCode::no => !has(OVERFLOW),
        ConditionCode::b => has(CARRY),
        ConditionCode::ae => !has(CARRY),
        ConditionCode::e => has(ZERO),
        ConditionCode::ne => !has(ZERO),
        ConditionCode::be => has(CARRY) || has(ZERO),
        ConditionCode::a => !has(CARRY) && !has(ZERO),
        ConditionCode::s => has(SIGN),
        ConditionCode::ns => !has(SIGN),
        ConditionCode::p => has(PARITY),
        ConditionCode::np => !has(PARITY),
        ConditionCode::l => has(SIGN) != has(OVERFLOW),
        ConditionCode::ge => has(SIGN) == has(OVERFLOW),
        ConditionCode::le => has(ZERO) || has(SIGN) != has(OVERFLOW),
        ConditionCode::g => !has(ZERO) && has(SIGN) == has(OVERFLOW),
    })
}

pub(super) fn masked(value: u64, width: u32) -> u64 {
    value & (u64::MAX >> (64 - width))
}

pub(super) fn sign_bit(width: u32) -> u64 {
    1 << (width - 1)
}

pub(super) fn signed(value: u64, width: u32) -> i64 {
    (value << (64 - width)).cast_signed() >> (64 - width)
}

pub(super) fn extended(value: u64, width: u32) -> u64 {
    signed(value, width).cast_unsigned()
}

fn flag(is_set: bool, flag: u64) -> u64 {
    if is_set { flag } else { 0 }
}

/// The flags of a product of which a part is cut, or none.
pub(super) fn overflow(is_cut: bool) -> u64 {
    flag(is_cut, CARRY | OVERFLOW)
}
