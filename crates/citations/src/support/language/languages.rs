//! Codes of languages and their text search configurations.

/// The configuration that splits text without spaces into pairs of characters.
const BIGRAMS: &str = "reground.bigrams";

/// Codes (ISO 639-1) and English names of languages, and the configuration for their texts. An empty one stands for
/// PostgreSQL's configuration of that name. An old server may lack it.
#[rustfmt::skip]
const LANGUAGES: [(&str, &str, &str); 39] = [
    ("ar", "arabic", ""), ("ca", "catalan", ""), ("da", "danish", ""), ("de", "german", ""), ("el", "greek", ""), ("en", "english", ""),
    ("es", "spanish", ""), ("et", "estonian", ""), ("eu", "basque", ""), ("fi", "finnish", ""), ("fr", "french", ""), ("ga", "irish", ""),
    ("hi", "hindi", ""), ("hu", "hungarian", ""), ("hy", "armenian", ""), ("id", "indonesian", ""), ("it", "italian", ""), ("lt", "lithuanian", ""),
    ("ne", "nepali", ""), ("nl", "dutch", ""), ("no", "norwegian", ""), ("nb", "norwegian", ""), ("nn", "norwegian", ""), ("pt", "portuguese", ""),
    ("ro", "romanian", ""), ("ru", "russian", ""), ("sr", "serbian", ""), ("sv", "swedish", ""), ("ta", "tamil", ""), ("tr", "turkish", ""),
    ("yi", "yiddish", ""), ("zh", "chinese", BIGRAMS), ("ja", "japanese", BIGRAMS), ("ko", "korean", BIGRAMS), ("th", "thai", BIGRAMS),
    ("lo", "lao", BIGRAMS), ("km", "khmer", BIGRAMS), ("my", "burmese", BIGRAMS), ("yue", "cantonese", BIGRAMS),
];

/// Names of configurations for Chinese in the documentation of other extensions.
const CHINESE: [&str; 6] = [
    "chinese_zh",
    "testzhcfg",
    "zhparser",
    "zhcfg",
    "jiebacfg",
    "jieba",
];

/// Returns the code of a language in cue rows, from the code or from the name of its text search configuration.
pub fn code(language: &str) -> String {
    let name = language.trim().to_lowercase();
    // The schema of a configuration is ignored.
    let bare = name.rsplit('.').next().unwrap_or(&name).trim_matches('"');
    if let Some((code, ..)) = LANGUAGES.iter().find(|(_, known, _)| *known == bare) {
        return (*code).to_owned();
    }
    if CHINESE.contains(&bare) {
        return "zh".to_owned();
    }
    // `en-US`, `zh_Hant`: the first part is the language.
    match name.split_once(['-', '_']) {
        Some((language, part)) if language.len() == 2 && (2..=4).contains(&part.len()) => {
            language.to_owned()
        }
        _ => name.strip_prefix("pg_catalog.").unwrap_or(&name).to_owned(),
    }
}

/// Returns the text search configuration of a language by its code or name; `None` if it is unknown.
pub fn configuration(language: &str) -> Option<String> {
    let code = code(language);
    let (_, name, own) = LANGUAGES.iter().find(|(known, ..)| *known == code)?;
    Some(match *own {
        "" => format!("pg_catalog.{name}"),
        own => own.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{code, configuration};

    #[test]
    fn languages_and_their_configurations() {
        for (given, is, read_by) in [
            ("de", "de", Some("pg_catalog.german")),
            ("German", "de", Some("pg_catalog.german")),
            ("de-AT", "de", Some("pg_catalog.german")),
            ("public.\"jiebacfg\"", "zh", Some("reground.bigrams")),
            ("zh_Hant", "zh", Some("reground.bigrams")),
            ("nn", "nn", Some("pg_catalog.norwegian")),
            ("pg_catalog.simple", "simple", None),
            ("public.mine", "public.mine", None),
            ("", "", None),
        ] {
            assert_eq!(code(given), is, "{given}");
            assert_eq!(configuration(given).as_deref(), read_by, "{given}");
        }
    }
}
