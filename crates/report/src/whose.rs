//! Whose conversation or corpus is meant, where several tenants have one of that name.

/// Whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// There is none that the reader sees.
    Nobodys,
    /// This tenant's; without a name, everybody's.
    Ones(Option<String>),
    /// One of several: the reader has to say.
    Unsaid(Vec<String>),
}

/// Whose conversation, of the tenants that the reader sees one of.
#[must_use]
pub fn conversation(tenants: Vec<String>) -> Whose {
    match tenants.as_slice() {
        [] => Whose::Nobodys,
        [one] => Whose::Ones(Some(one.clone())),
        _ => Whose::Unsaid(tenants),
    }
}

/// Whose corpus, of those that the reader sees: `None` is a shared one. A tenant's own comes before a shared one of the same
/// name, as in a turn; whoever sees the corpora of others says whose, or `given`.
#[must_use]
pub fn corpus(seen: Vec<Option<String>>, given: Option<&str>, own: Option<&str>) -> Whose {
    let shared = seen.contains(&None);
    let tenants: Vec<String> = seen.into_iter().flatten().collect();
    let has = |tenant: &str| tenants.iter().any(|one| one == tenant);
    match (given, tenants.as_slice()) {
        (Some(tenant), _) if shared || has(tenant) => Whose::Ones(Some(tenant.to_owned())),
        (Some(_), _) => Whose::Nobodys,
        (None, []) if shared => Whose::Ones(None),
        (None, []) => Whose::Nobodys,
        (None, [one]) if !shared || own == Some(one) => Whose::Ones(Some(one.clone())),
        (None, _) => Whose::Unsaid(tenants),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(tenants: &[&str]) -> Vec<Option<String>> {
        let tenants = tenants.iter().copied();
        tenants
            .map(|tenant| (tenant != "shared").then(|| tenant.to_owned()))
            .collect()
    }

    #[test]
    fn a_conversation_is_ones() {
        assert_eq!(conversation(vec![]), Whose::Nobodys);
        let acme = || "acme".to_owned();
        assert_eq!(conversation(vec![acme()]), Whose::Ones(Some(acme())));
        let both = vec![acme(), "bolt".to_owned()];
        assert_eq!(conversation(both.clone()), Whose::Unsaid(both));
    }

    #[test]
    fn a_corpus_is_ones_own_or_everybodys() {
        let ones = |name: &str| Whose::Ones(Some(name.to_owned()));
        assert_eq!(corpus(seen(&[]), None, Some("acme")), Whose::Nobodys);
        assert_eq!(
            corpus(seen(&["shared"]), None, Some("acme")),
            Whose::Ones(None)
        );
        assert_eq!(
            corpus(seen(&["shared", "acme"]), None, Some("acme")),
            ones("acme")
        );
        // An auditor sees those of others.
        assert_eq!(corpus(seen(&["bolt"]), None, Some("acme")), ones("bolt"));
        for several in [&["shared", "bolt"][..], &["acme", "bolt"]] {
            let several = corpus(seen(several), None, Some("acme"));
            assert!(matches!(several, Whose::Unsaid(_)), "{several:?}");
        }
    }

    #[test]
    fn whose_can_be_said() {
        let ones = |name: &str| Whose::Ones(Some(name.to_owned()));
        for several in [&["shared"][..], &["acme", "bolt"], &["shared", "bolt"]] {
            assert_eq!(corpus(seen(several), Some("bolt"), None), ones("bolt"));
        }
        assert_eq!(
            corpus(seen(&["acme"]), Some("bolt"), Some("acme")),
            Whose::Nobodys
        );
    }
}
