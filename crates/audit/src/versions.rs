//! Versions of pipeline components, as the application declares them: `reranker=2.1 chunker=7`.

/// Name of the setting.
pub const SETTING: &str = "component_versions";

/// Returns the components and versions in a setting of a turn. [`SETTING`] lists several; any other setting is one component.
#[must_use]
pub fn components(name: &str, value: &str) -> Vec<(String, String)> {
    if name != SETTING {
        return vec![(name.to_owned(), value.to_owned())];
    }
    let words = value.split_whitespace();
    words
        .map(|word| match word.split_once('=') {
            Some((component, version)) => (named(component), version.to_owned()),
            None => (named(word), String::new()),
        })
        .collect()
}

/// Appends "version", because a setting can have the same name as a component (`reranker`).
fn named(component: &str) -> String {
    format!("{component} version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_into_components() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(components("fusion", "rrf"), [pair("fusion", "rrf")]);
        assert_eq!(
            components(SETTING, " reranker=2.1  chunker=a=b minilm "),
            [
                pair("reranker version", "2.1"),
                pair("chunker version", "a=b"),
                pair("minilm version", "")
            ]
        );
    }
}
