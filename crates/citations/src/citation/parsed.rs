//! What a citation string turned out to name.

use super::{Form, Malformed, Reference};

/// A form and the things it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedCitation {
    /// How it is written.
    pub form: Form,
    /// The cited things, in order. None where it is only markup around a cited fact.
    pub references: Vec<Reference>,
    /// Whether a marker was not written as the grammar prints it.
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

    /// A number as the form has it.
    pub(crate) fn number(form: Form, written: u32) -> Self {
        let number = form.counted_from_one(written);
        let pages = None;
        Self::one(form, Reference::Ordinal { number, pages })
    }

    pub(crate) fn malformed(form: Form, why: Malformed) -> Self {
        Self::one(form, Reference::Malformed(why))
    }

    /// Whether these are markers or numbers only, the forms that also stand as the text of a link.
    pub(crate) fn is_plain(&self) -> bool {
        self.references
            .iter()
            .all(|r| matches!(r, Reference::Marker { .. } | Reference::Ordinal { .. }))
    }

    /// Whether these are bare numbers only, the form that is also an array index.
    pub(crate) fn is_numeric(&self) -> bool {
        self.form == Form::Number
    }
}
