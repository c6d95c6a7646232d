//! Owner of the reported conversation or corpus, when several tenants have one with the same name.

/// The owner of a conversation or corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The reader can see none with this name.
    NotFound,
    /// This tenant; `None` for a shared corpus.
    Tenant(Option<String>),
    /// One of several tenants. The reader must choose.
    Ambiguous(Vec<String>),
}

/// Returns the owner of a conversation. `tenants` are the tenants with such a conversation that the reader can see.
#[must_use]
pub fn conversation(tenants: Vec<String>) -> Owner {
    match tenants.as_slice() {
        [] => Owner::NotFound,
        [one] => Owner::Tenant(Some(one.clone())),
        _ => Owner::Ambiguous(tenants),
    }
}

/// Returns the owner of a corpus. `visible` are the owners of the corpora that the reader can see; `None` is a shared one. A
/// tenant's own corpus hides a shared one with the same name, as in a turn. A reader who can see corpora of other tenants must name
/// one (`requested`) if there are several.
#[must_use]
pub fn corpus(visible: Vec<Option<String>>, requested: Option<&str>, own: Option<&str>) -> Owner {
    let shared = visible.contains(&None);
    let tenants: Vec<String> = visible.into_iter().flatten().collect();
    let has = |tenant: &str| tenants.iter().any(|one| one == tenant);
    match (requested, tenants.as_slice()) {
        (Some(tenant), _) if shared || has(tenant) => Owner::Tenant(Some(tenant.to_owned())),
        (Some(_), _) => Owner::NotFound,
        (None, []) if shared => Owner::Tenant(None),
        (None, []) => Owner::NotFound,
        (None, [one]) if !shared || own == Some(one) => Owner::Tenant(Some(one.clone())),
        (None, _) => Owner::Ambiguous(tenants),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(tenants: &[&str]) -> Vec<Option<String>> {
        let tenants = tenants.iter().copied();
        tenants
            .map(|tenant| (tenant != "shared").then(|| tenant.to_owned()))
            .collect()
    }

    #[test]
    fn a_conversation_has_one_owner_or_is_ambiguous() {
        assert_eq!(conversation(vec![]), Owner::NotFound);
        let acme = || "acme".to_owned();
        assert_eq!(conversation(vec![acme()]), Owner::Tenant(Some(acme())));
        let both = vec![acme(), "bolt".to_owned()];
        assert_eq!(conversation(both.clone()), Owner::Ambiguous(both));
    }

    #[test]
    fn an_own_corpus_hides_a_shared_one() {
        let ones = |name: &str| Owner::Tenant(Some(name.to_owned()));
        assert_eq!(corpus(visible(&[]), None, Some("acme")), Owner::NotFound);
        assert_eq!(
            corpus(visible(&["shared"]), None, Some("acme")),
            Owner::Tenant(None)
        );
        assert_eq!(
            corpus(visible(&["shared", "acme"]), None, Some("acme")),
            ones("acme")
        );
        // An auditor can see corpora of other tenants.
        assert_eq!(corpus(visible(&["bolt"]), None, Some("acme")), ones("bolt"));
        for several in [&["shared", "bolt"][..], &["acme", "bolt"]] {
            let several = corpus(visible(several), None, Some("acme"));
            assert!(matches!(several, Owner::Ambiguous(_)), "{several:?}");
        }
    }

    #[test]
    fn the_owner_can_be_requested() {
        let ones = |name: &str| Owner::Tenant(Some(name.to_owned()));
        for several in [&["shared"][..], &["acme", "bolt"], &["shared", "bolt"]] {
            assert_eq!(corpus(visible(several), Some("bolt"), None), ones("bolt"));
        }
        assert_eq!(
            corpus(visible(&["acme"]), Some("bolt"), Some("acme")),
            Owner::NotFound
        );
    }
}
