//! Floating-point numbers of every size that compilers for x86-64 have.

/// The shortest words that read back as the same number; none for a format that is not known.
pub(crate) fn text(raw: u128, size: Option<u64>, name: &str) -> Option<String> {
    match size? {
        2 if !name.contains("bf16") => Some(half(raw as u16)),
        4 => Some(short(f32::from_bits(raw as u32))),
        8 => Some(short(f64::from_bits(raw as u64))),
        // `__float128` has the same size and another format.
        16 if name == "long double" => extended(raw),
        _ => None,
    }
}

fn short(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn half(raw: u16) -> String {
    let sign = if raw >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(raw >> 10 & 0x1f), f32::from(raw & 0x3ff));
    short(match exponent {
        0 => sign * fraction * 2_f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    })
}

/// The x87 format: 64 bits of fraction with its leading one, 15 of exponent, the sign. A value that does not fit into a
/// double is marked as rounded.
fn extended(raw: u128) -> Option<String> {
    let fraction = raw as u64;
    let exponent = (raw >> 64) as i32 & 0x7fff;
    let sign = if raw >> 79 & 1 == 1 { "-" } else { "" };
    if exponent == 0x7fff {
        return Some(if fraction << 1 == 0 { format!("{sign}inf") } else { "NaN".to_owned() });
    }
    if fraction == 0 {
        return Some(format!("{sign}0.0"));
    }
    let rounded = fraction as f64 * 2_f64.powi(-63);
    let power = exponent - 16383;
    // Outside of the range of a double the words would be wrong; numbers at its edge lose digits.
    if !(-1022..=1022).contains(&power) {
        return None;
    }
    let is_exact = fraction.trailing_zeros() >= 11;
    let mark = if is_exact { "" } else { "≈" };
    Some(format!("{mark}{sign}{}", short(rounded * 2_f64.powi(power))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_the_processor_does() {
        for (raw, size, name, expected) in [
            (0x3f80_0000, 4, "float", Some("1.0")),
            (0xbfb9_9999_9999_999a, 8, "double", Some("-0.1")),
            (0x7e37_e43c_8800_759c, 8, "double", Some("1e300")),
            (0x3c00, 2, "_Float16", Some("1.0")),
            (0x0001, 2, "f16", Some("5.9604645e-8")),
            (0xfc00, 2, "f16", Some("-inf")),
            (0x3f80, 2, "__bf16", None),
            (0x3fff_c000_0000_0000_0000, 16, "long double", Some("1.5")),
            (0xbfff_8ccc_cccc_cccc_cccd, 16, "long double", Some("≈-1.1")),
            (0x7fff_8000_0000_0000_0000, 16, "long double", Some("inf")),
            (0x3fff_c000_0000_0000_0000, 16, "_Float128", None),
        ] {
            assert_eq!(text(raw, Some(size), name).as_deref(), expected, "{raw:#x} {name}");
        }
    }
}
