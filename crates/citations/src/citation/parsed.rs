//! The result of parsing one citation string.

use super::{Form, Malformed, Position, Reference};

/// The form of a citation string and the sources that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedCitation {
    /// The form of the string.
    pub form: Form,
    /// The cited sources, in order. Empty if the string is only markup around a cited fact.
    pub references: Vec<Reference>,
    /// Whether a marker differs in spelling from the printed one.
    pub repaired: bool,
}

impl ParsedCitation {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            references: Vec::new(),
            repaired: false,
        }
    }

    pub(crate) fn one(form: Form, reference: Reference) -> Self {
        Self {
            references: vec![reference],
            ..Self::new(form)
        }
    }

    /// A number of this form, converted so that it starts at 1.
    pub(crate) fn number(form: Form, written: u32) -> Self {
        let number = form.counted_from_one(written);
        let at = Position::default();
        Self::one(form, Reference::Ordinal { number, at })
    }

    pub(crate) fn malformed(form: Form, why: Malformed) -> Self {
        Self::one(form, Reference::Malformed(why))
    }

    /// Returns whether there are only markers or numbers. Only these can be the text of a link.
    pub(crate) fn is_plain(&self) -> bool {
        self.references
            .iter()
            .all(|r| matches!(r, Reference::Marker { .. } | Reference::Ordinal { .. }))
    }

    /// Returns whether there are only bare numbers. Only these can be an array index.
    pub(crate) fn is_numeric(&self) -> bool {
        self.form == Form::Number
    }
}
