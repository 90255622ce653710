//! Expressions over the variables of a frame, evaluated by reading alone.

mod error;
mod parse;

pub use error::EvaluateError;
use parse::{Expression, parse};

use super::children::shown_variable;
use super::globals::globals_named;
use super::scopes::{Named, locals};
use super::stopped::stack::FrameId;
use super::stopped::thread::StoppedThread;
use super::stopped::value_location::ValueLocation;
use super::values::typed::TypedValue;
use super::variable::Variable;
use super::views::presentation::view;
use super::views::summary::{named_items, summary};
use super::views::view::{Field, Items, Shown, View};
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::shape::Form;

/// Number of pointers and wrappers that `.` goes through; damaged types wrap themselves.
const MOST_WRAPPERS: usize = 16;

/// A value of a part of an expression.
enum ExpressionValue {
    Shown(Shown),
    Number(i128),
    AddressOf(TypedValue),
}

pub(super) fn evaluate(
    thread: &StoppedThread<'_>,
    frame: FrameId,
    text: &str,
) -> Result<Variable, EvaluateError> {
    let expression = parse(text)?;
    let evaluator = Evaluator { thread, frame, locals: locals(thread, frame) };
    let shown = match evaluator.value(&expression)? {
        ExpressionValue::Shown(shown) => shown,
        ExpressionValue::Number(number) => {
            Shown::Words { type_name: "integer".to_owned(), words: number.to_string() }
        }
        ExpressionValue::AddressOf(value) => evaluator.address_in_words(&value)?,
    };
    let text = text.trim().to_owned();
    Ok(shown_variable(thread, text.clone(), shown, Some(text)))
}

struct Evaluator<'a> {
    thread: &'a StoppedThread<'a>,
    frame: FrameId,
    locals: Vec<Named>,
}

impl Evaluator<'_> {
    fn value(&self, expression: &Expression) -> Result<ExpressionValue, EvaluateError> {
        let shown = |value| Ok(ExpressionValue::Shown(Shown::Value(value)));
        match expression {
            Expression::Number(number) => Ok(ExpressionValue::Number(*number)),
            Expression::Name(name) => shown(self.variable(name)?),
            Expression::Negated(inner) => {
                let number = self.number(inner)?.checked_neg().ok_or(EvaluateError::NoIndex)?;
                Ok(ExpressionValue::Number(number))
            }
            Expression::AddressOf(inner) => Ok(ExpressionValue::AddressOf(self.typed(inner)?)),
            Expression::Dereference(inner) => match self.value(inner)? {
                ExpressionValue::AddressOf(value) => shown(value),
                ExpressionValue::Shown(Shown::Value(value)) => shown(self.dereferenced(&value)?),
                _ => Err(EvaluateError::NotAPointer("integer".to_owned())),
            },
            Expression::Member(inner, name) => {
                let whole = match self.value(inner)? {
                    ExpressionValue::AddressOf(value) | ExpressionValue::Shown(Shown::Value(value)) => value,
                    _ => return Err(no_member("integer".to_owned(), name)),
                };
                self.member(&whole, name).map(ExpressionValue::Shown)
            }
            Expression::Index(inner, index) => {
                let index = self.number(index)?;
                self.element(&self.typed(inner)?, index).map(ExpressionValue::Shown)
            }
        }
    }

    fn typed(&self, expression: &Expression) -> Result<TypedValue, EvaluateError> {
        match self.value(expression)? {
            ExpressionValue::Shown(Shown::Value(value)) => Ok(value),
            _ => Err(EvaluateError::NoAddress),
        }
    }

    fn number(&self, expression: &Expression) -> Result<i128, EvaluateError> {
        let value = match self.value(expression)? {
            ExpressionValue::Number(number) => return Ok(number),
            ExpressionValue::Shown(Shown::Value(value)) => value,
            _ => return Err(EvaluateError::NoIndex),
        };
        let value = self.plain(value);
        let shape = self.thread.shape(&value).ok_or(EvaluateError::NoIndex)?;
        match &shape.form {
            Form::Base(gimli::DW_ATE_float | gimli::DW_ATE_complex_float) => Err(EvaluateError::NoIndex),
            Form::Base(_) | Form::Enumeration { .. } => self.thread.integer(&value).map_err(unknown),
            _ => Err(EvaluateError::NoIndex),
        }
    }

    /// The value inside wrappers.
    fn plain(&self, value: TypedValue) -> TypedValue {
        let mut here = value;
        for _ in 0..MOST_WRAPPERS {
            match view(self.thread, &here) {
                View::Same(inner) => here = *inner,
                _ => break,
            }
        }
        here
    }

    fn variable(&self, name: &str) -> Result<TypedValue, EvaluateError> {
        if let Some(local) = self.locals.iter().find(|local| local.name == name) {
            return Ok(local.value.clone());
        }
        let implied = |holder: &str, member: &str| {
            let holder = self.locals.iter().find(|local| local.name == holder)?;
            let object = self.thread.target(&holder.value).unwrap_or_else(|_| holder.value.clone());
            self.thread.field(&object, member)
        };
        if let Some(member) = implied("this", name).or_else(|| implied("__closure", &format!("__{name}"))) {
            return Ok(member);
        }
        let mut found = globals_named(self.thread, self.frame, name);
        match found.len() {
            0 => Err(EvaluateError::NotAVariable(name.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(EvaluateError::Ambiguous(name.to_owned())),
        }
    }

    /// The target of a pointer, reference or smart pointer, or the first element of an array.
    fn dereferenced(&self, value: &TypedValue) -> Result<TypedValue, EvaluateError> {
        let mut here = value.clone();
        for _ in 0..MOST_WRAPPERS {
            if matches!(
                self.thread.shape(&here).as_deref().map(|shape| &shape.form),
                Some(Form::Pointer { .. })
            ) {
                let target = self.thread.target(&here).map_err(unknown)?;
                // `*` of a C++ reference is that of what it refers to.
                match view(self.thread, &here) {
                    View::Same(_) => here = target,
                    _ => return Ok(target),
                }
                continue;
            }
            match view(self.thread, &here) {
                View::Pointer(pointer) => {
                    let null = || EvaluateError::Unknown("a null pointer".to_owned());
                    return pointer.target.ok_or_else(null);
                }
                View::Same(inner) => here = *inner,
                View::List(list) => {
                    return self.item(named_items(self.thread, &list.items, 0, 1).pop(), &here);
                }
                View::Missing(missing) => return Err(unknown(missing)),
                _ => break,
            }
        }
        Err(EvaluateError::NotAPointer(self.thread.type_name(value)))
    }

    fn item(&self, field: Option<Field>, list: &TypedValue) -> Result<TypedValue, EvaluateError> {
        match field {
            Some(Field { shown: Shown::Value(value), .. }) => Ok(value),
            _ => Err(EvaluateError::NoElements(self.thread.type_name(list))),
        }
    }

    /// A member of a value, or of what it points to or wraps.
    fn member(&self, whole: &TypedValue, name: &str) -> Result<Shown, EvaluateError> {
        let mut here = whole.clone();
        for _ in 0..MOST_WRAPPERS {
            if let Some(found) = self.own_member(&here, name) {
                return Ok(found);
            }
            here = match view(self.thread, &here) {
                View::Same(inner) => *inner,
                View::Pointer(pointer) => match pointer.target {
                    Some(target) => target,
                    None if pointer.address == Some(0) => {
                        return Err(EvaluateError::Unknown("a null pointer".to_owned()));
                    }
                    None => break,
                },
                View::Missing(missing) => return Err(unknown(missing)),
                _ => break,
            };
        }
        Err(no_member(self.thread.type_name(whole), name))
    }

    fn own_member(&self, whole: &TypedValue, name: &str) -> Option<Shown> {
        let is_tuple_index = name.bytes().all(|byte| byte.is_ascii_digit());
        let declared = if is_tuple_index { format!("__{name}") } else { name.to_owned() };
        if let Some(member) = self.thread.field(whole, &declared) {
            return Some(Shown::Value(member));
        }
        let fields = match view(self.thread, whole) {
            View::Fields(fields) => fields.fields,
            View::Pointer(pointer) => pointer.facts,
            _ => return None,
        };
        fields.into_iter().find(|field| field.name == name).map(|field| field.shown)
    }

    fn element(&self, whole: &TypedValue, index: i128) -> Result<Shown, EvaluateError> {
        let mut here = whole.clone();
        for _ in 0..MOST_WRAPPERS {
            let items = match view(self.thread, &here) {
                View::List(list) => list.items,
                View::Text(text) if text.elements.is_some() => {
                    Items::Elements(text.elements.ok_or(EvaluateError::NoIndex)?)
                }
                View::Same(inner) => {
                    here = *inner;
                    continue;
                }
                View::Pointer(pointer) => {
                    let target = pointer.target.or_else(|| self.thread.target(&here).ok());
                    let target = target.ok_or_else(|| EvaluateError::Unknown("a null pointer".to_owned()))?;
                    // A pointer to a list, in Rust a reference to one, is indexed like the list.
                    if self.thread.language(&here) == Language::Rust
                        && matches!(
                            view(self.thread, &target),
                            View::List(_) | View::Same(_) | View::Pointer(_)
                        )
                    {
                        here = target;
                        continue;
                    }
                    return self.beside(&target, index);
                }
                View::Missing(missing) => return Err(unknown(missing)),
                _ => break,
            };
            if matches!(items, Items::Traversal(_)) {
                return Err(EvaluateError::NoPositions(self.thread.type_name(&here)));
            }
            let count = items.count();
            let found = u64::try_from(index).ok().filter(|&index| index < count);
            let found = found.and_then(|index| named_items(self.thread, &items, index, 1).pop());
            return found.map(|field| field.shown).ok_or(EvaluateError::PastTheEnd { index, count });
        }
        Err(EvaluateError::NoElements(self.thread.type_name(whole)))
    }

    /// The value so many places behind another one.
    fn beside(&self, first: &TypedValue, index: i128) -> Result<Shown, EvaluateError> {
        let size =
            self.thread.size(first).ok_or_else(|| EvaluateError::NoElements(self.thread.type_name(first)))?;
        let distance = index.checked_mul(size.into()).ok_or(EvaluateError::NoIndex)?;
        let address = first.location.address().ok_or(EvaluateError::NoAddress)?;
        let address = u64::try_from(i128::from(address) + distance).map_err(|_| EvaluateError::NoIndex)?;
        Ok(Shown::Value(first.with(first.kind, ValueLocation::Memory(address))))
    }

    fn address_in_words(&self, value: &TypedValue) -> Result<Shown, EvaluateError> {
        let value = match view(self.thread, value) {
            View::Same(inner) if self.thread.language(value) != Language::Rust => *inner,
            _ => value.clone(),
        };
        let address =
            value.location.address().filter(|_| value.bits.is_none()).ok_or(EvaluateError::NoAddress)?;
        let name = self.thread.type_name(&value);
        let type_name = match self.thread.language(&value) {
            Language::Rust => format!("&{name}"),
            _ => format!("{name} *"),
        };
        Ok(Shown::Words { type_name, words: format!("{address:#x} → {}", summary(self.thread, &value)) })
    }
}

fn unknown(missing: Missing) -> EvaluateError {
    EvaluateError::Unknown(missing.to_string())
}

fn no_member(kind: String, member: &str) -> EvaluateError {
    EvaluateError::NoMember { kind, member: member.to_owned() }
}
