//! The kinds of values that are sealed.

/// A kind of value. It is part of the associated data, so a sealed title cannot be stored as a locator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Title of a document.
    Title,
    /// Address of a document.
    Address,
    /// Place within a document, as text.
    Locator,
    /// Pages of a passage.
    Pages,
    /// Text of a source: a passage, a fact or a quote.
    Text,
    /// Other mapped columns of a passage.
    Metadata,
    /// Citations that the API of a model returned.
    Citations,
}

impl Kind {
    /// Its name in the associated data. It must not change.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Address => "address",
            Self::Locator => "locator",
            Self::Pages => "pages",
            Self::Text => "text",
            Self::Metadata => "metadata",
            Self::Citations => "citations",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let kinds = [
            Self::Title,
            Self::Address,
            Self::Locator,
            Self::Pages,
            Self::Text,
            Self::Metadata,
            Self::Citations,
        ];
        kinds.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a column of a table, or of a member of a stored record; `None` if it is not sealed.
    #[must_use]
    pub fn of_column(member: &str) -> Option<Self> {
        Some(match member {
            "title" => Self::Title,
            "uri" => Self::Address,
            "locator" | "structured_locator" => Self::Locator,
            "pages" => Self::Pages,
            "content" | "text" | "quote" | "fact_summary" => Self::Text,
            "metadata" => Self::Metadata,
            "citations" => Self::Citations,
            _ => return None,
        })
    }

    /// The kind of a member of the result of a query. An array has the kind of its elements.
    pub(crate) fn of_result(member: &str) -> Option<Self> {
        Some(match member {
            // Titles of the sources of an earlier turn.
            "sources" | "cited" => Self::Title,
            "passage" | "quotes" | "fact" => Self::Text,
            _ => return Self::of_column(member),
        })
    }

    /// Whether its values are texts. Others are any JSON.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Self::Pages | Self::Metadata | Self::Citations)
    }
}
