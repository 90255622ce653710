//! A value: bytes and the type that says what they mean.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::reader::Reader;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::{
    Bits, Bound, Composite, Form, Member, Shape, Start, Variant, Variants,
};
use crate::debuginfo::inspect::stopped::frame::Surrounding;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;

/// Types are nested less deep than this; damaged ones contain themselves.
const DEEPEST: usize = 64;

/// Number of base classes and members without a name that are searched; damaged types are their own bases.
const MOST_PARTS: usize = 100;

/// A value that has not been looked at yet.
#[derive(Clone, Debug)]
pub(crate) struct TypedValue {
    /// The module, by its index, that has the type's entry.
    pub(crate) module: usize,
    /// None for `void`.
    pub(crate) kind: Option<Ref>,
    pub(crate) location: ValueLocation,
    /// For a bit-field, which bits of the contents are its own.
    pub(crate) bits: Option<Bits>,
    /// Number of indices of an array of several dimensions that have been applied.
    pub(crate) indices: usize,
    /// The frame that sizes of arrays are computed in.
    pub(crate) frame: usize,
    /// Shown by its members even where its type is a library's that has a better way.
    pub(crate) is_raw: bool,
}

/// Values of one type, one behind the other.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    pub(crate) first: TypedValue,
    /// From one to the next, in bytes.
    pub(crate) stride: u64,
    /// None where it is not known.
    pub(crate) count: Option<u64>,
}

impl Elements {
    pub(crate) fn get(&self, index: u64) -> TypedValue {
        let location = self.first.location.at(index.wrapping_mul(self.stride));
        TypedValue { location, ..self.first.clone() }
    }
}

impl TypedValue {
    /// The same place seen as another type.
    pub(crate) fn with(&self, kind: Option<Ref>, location: ValueLocation) -> Self {
        Self { kind, location, bits: None, indices: 0, module: self.module, frame: self.frame, is_raw: false }
    }
}

impl StoppedThread<'_> {
    /// The type without other names and qualifiers, and what it is made of; declarations lead to their definitions.
    pub(crate) fn peeled(&self, module: usize, kind: Option<Ref>) -> Option<(Ref, Arc<Shape>)> {
        let info = self.info(module)?;
        let mut here = kind?;
        for _ in 0..DEEPEST {
            let shape = info.shape(here);
            match &shape.form {
                Form::Alias { of, .. } => here = (*of)?,
                Form::Composite(Composite { is_declaration: true, .. }) => {
                    let name = info.qualified(here, shape.name.as_deref()?);
                    return match info.definition(here.unit, &name) {
                        Some(found) if found != here => Some((found, info.shape(found))),
                        _ => Some((here, shape)),
                    };
                }
                _ => return Some((here, shape)),
            }
        }
        None
    }

    /// Whether one of the names that lead to a type is this one.
    pub(crate) fn is_called(&self, value: &TypedValue, name: &str) -> bool {
        let Some(info) = self.info(value.module) else { return false };
        let mut here = value.kind;
        for _ in 0..DEEPEST {
            let Some(kind) = here else { return false };
            let shape = info.shape(kind);
            if shape.name.as_deref() == Some(name) {
                return true;
            }
            let Form::Alias { of, .. } = shape.form else { return false };
            here = of;
        }
        false
    }

    pub(crate) fn shape(&self, value: &TypedValue) -> Option<Arc<Shape>> {
        self.peeled(value.module, value.kind).map(|(_, shape)| shape)
    }

    pub(crate) fn language(&self, value: &TypedValue) -> Language {
        let unit = value.kind.map(|kind| kind.unit);
        unit.zip(self.info(value.module)).map_or(Language::Other, |(unit, info)| info.language(unit))
    }

    /// Number of bytes that a value of a type takes.
    pub(crate) fn size(&self, value: &TypedValue) -> Option<u64> {
        self.size_within(value, DEEPEST)
    }

    fn size_within(&self, value: &TypedValue, depth: usize) -> Option<u64> {
        let (kind, shape) = self.peeled(value.module, value.kind)?;
        if let Some(size) = shape.size.filter(|_| value.indices == 0) {
            return Some(size);
        }
        let depth = depth.checked_sub(1)?;
        match &shape.form {
            Form::Array { element, bounds } => {
                let element = self.size_within(&value.with(*element, value.location.clone()), depth)?;
                bounds
                    .iter()
                    .skip(value.indices)
                    .try_fold(element, |size, bound| size.checked_mul(self.count(value, kind, bound)?))
            }
            Form::Pointer { .. } => Some(8),
            // The C++ ABI: an offset, or a function and what to add to the object's address.
            Form::MemberPointer { to, .. } => {
                let target = self.peeled(value.module, *to)?.1;
                Some(if matches!(target.form, Form::Function { .. }) { 16 } else { 8 })
            }
            Form::Enumeration { underlying, .. } => {
                self.size_within(&value.with(*underlying, value.location.clone()), depth)
            }
            _ => None,
        }
    }

    /// Number of elements of a dimension.
    fn count(&self, value: &TypedValue, array: Ref, bound: &Bound) -> Option<u64> {
        let around = Surrounding::new(self, value.module, array.unit, value.frame)?;
        let last = match bound {
            Bound::Fixed(count) => return Some(*count),
            Bound::Unknown => return None,
            Bound::Last(expression) => around.word(*expression, None).ok()?,
            Bound::LastIn(variable) => {
                let holder = value.with(around.info.kind(*variable), around.location(*variable));
                u64::try_from(self.integer(&holder).ok()?).ok()?
            }
        };
        // The last index that the compiler computes for an empty array wraps around.
        Some(last.wrapping_add(1))
    }

    /// The elements of an array.
    pub(crate) fn elements(&self, value: &TypedValue) -> Option<Elements> {
        let (kind, shape) = self.peeled(value.module, value.kind)?;
        let Form::Array { element, bounds } = &shape.form else { return None };
        let (outer, inner) = bounds.get(value.indices..)?.split_first()?;
        let element = (*element)?;
        let mut stride = self.size(&value.with(Some(element), value.location.clone()))?;
        for bound in inner {
            stride = stride.checked_mul(self.count(value, kind, bound)?)?;
        }
        let count = self.count(value, kind, outer);
        let first = if inner.is_empty() {
            value.with(Some(element), value.location.clone())
        } else {
            TypedValue { indices: value.indices + 1, ..value.clone() }
        };
        Some(Elements { first, stride, count })
    }

    /// The bytes of a value, as many as its type has, at most `most`.
    pub(crate) fn bytes(&self, value: &TypedValue, most: u64) -> Result<Vec<u8>, Missing> {
        let size = self.size(value).ok_or(Missing::Unsupported("a type of unknown size"))?;
        let mut bytes = vec![0; usize::try_from(size.min(most)).unwrap_or_default()];
        value.location.read(self.memory(), &mut bytes)?;
        Ok(bytes)
    }

    /// The bits of a scalar, lowest first, and how many there are.
    pub(crate) fn raw(&self, value: &TypedValue) -> Result<(u128, u64), Missing> {
        let Some(bits) = value.bits else {
            let bytes = self.bytes(value, 16)?;
            let mut word = [0; 16];
            word[..bytes.len()].copy_from_slice(&bytes);
            return Ok((u128::from_le_bytes(word), bytes.len() as u64 * 8));
        };
        if bits.size > 64 || bits.start > 64 {
            return Err(Missing::Unsupported("a bit-field of this size"));
        }
        let mut word = [0; 16];
        let needed = (bits.start + bits.size).div_ceil(8) as usize;
        value.location.read(self.memory(), &mut word[..needed])?;
        let mask = (1_u128 << bits.size) - 1;
        Ok((u128::from_le_bytes(word) >> bits.start & mask, bits.size))
    }

    /// The value of an integer, enumerator, boolean, character or pointer.
    pub(crate) fn integer(&self, value: &TypedValue) -> Result<i128, Missing> {
        let (raw, bits) = self.raw(value)?;
        let shape = self.shape(value);
        let is_signed = match shape.as_deref().map(|shape| &shape.form) {
            Some(Form::Base(encoding)) => {
                matches!(*encoding, gimli::DW_ATE_signed | gimli::DW_ATE_signed_char)
            }
            Some(Form::Enumeration { is_signed, .. }) => *is_signed,
            _ => false,
        };
        let unused = 128_u64.saturating_sub(bits).min(127);
        Ok(if is_signed && bits > 0 { (raw << unused) as i128 >> unused } else { raw as i128 })
    }

    /// The target of a pointer or reference.
    pub(crate) fn target(&self, pointer: &TypedValue) -> Result<TypedValue, Missing> {
        let shape = self.shape(pointer).ok_or(Missing::Unsupported("a type that is not known"))?;
        let Form::Pointer { to, .. } = &shape.form else {
            return Err(Missing::Unsupported("a value that is no pointer"));
        };
        if let ValueLocation::Implied { variable, offset } = pointer.location {
            let around =
                Surrounding::new(self, pointer.module, variable.unit, pointer.frame).ok_or(Missing::Gone)?;
            let offset = u64::try_from(offset).map_err(|_| Missing::Gone)?;
            return Ok(pointer.with(*to, around.location(variable).at(offset)));
        }
        let address = self.raw(pointer)?.0 as u64;
        Ok(pointer.with(*to, ValueLocation::Memory(address)))
    }

    /// A member of a composite.
    pub(crate) fn part(&self, whole: &TypedValue, member: &Member) -> TypedValue {
        let location = match &member.start {
            Start::At(offset) => whole.location.at(*offset),
            Start::Unknown => ValueLocation::Missing(Missing::Unsupported("a member of unknown place")),
            Start::Computed(expression) => self.computed(whole, *expression),
        };
        TypedValue { bits: member.bits, ..whole.with(member.kind, location) }
    }

    fn computed(&self, whole: &TypedValue, expression: gimli::Expression<Reader>) -> ValueLocation {
        let unit = whole.kind.map(|kind| kind.unit).unwrap_or_default();
        let found = whole
            .location
            .address()
            .zip(Surrounding::new(self, whole.module, unit, whole.frame))
            .ok_or(Missing::Gone)
            .and_then(|(address, around)| around.word(expression, Some(address)));
        found.map_or_else(ValueLocation::Missing, ValueLocation::Memory)
    }

    /// A member by its name, also those of base classes and of members without a name, nearest first.
    pub(crate) fn field(&self, whole: &TypedValue, name: &str) -> Option<TypedValue> {
        let mut waiting = VecDeque::from([whole.clone()]);
        for _ in 0..MOST_PARTS {
            let here = waiting.pop_front()?;
            let Some(shape) = self.shape(&here) else { continue };
            let Form::Composite(parts) = &shape.form else { continue };
            if let Some(member) = parts.members.iter().find(|member| member.name.as_deref() == Some(name)) {
                return Some(self.part(&here, member));
            }
            let through = parts.members.iter().filter(|member| member.is_base || member.name.is_none());
            waiting.extend(through.map(|member| self.part(&here, member)));
        }
        None
    }

    /// The member at the end of a path of names.
    pub(crate) fn descend(&self, whole: &TypedValue, path: &[&str]) -> Option<TypedValue> {
        path.iter().try_fold(whole.clone(), |here, name| self.field(&here, name))
    }

    /// The alternative of a Rust enum that its discriminant says; none where it says nothing known.
    pub(crate) fn variant<'s>(
        &self,
        whole: &TypedValue,
        variants: &'s Variants,
    ) -> Result<Option<&'s Variant>, Missing> {
        let Some(discriminant) = &variants.discriminant else {
            return Ok(variants.all.first().filter(|_| variants.all.len() == 1));
        };
        let (raw, bits) = self.raw(&self.part(whole, discriminant))?;
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        let is = |variant: &&Variant| variant.value.is_some_and(|value| value as u128 & mask == raw);
        let other = || variants.all.iter().find(|variant| variant.value.is_none());
        Ok(variants.all.iter().find(is).or_else(|| other().filter(|_| variants.is_complete)))
    }
}
