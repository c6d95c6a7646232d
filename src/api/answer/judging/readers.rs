//! Readers of the sources of a context: the text search configuration and the language of each.

use reground_citations::Cues;

use crate::api::answer::judging::judge_context::JudgeContext;
use crate::error::{Error, Result};
use crate::retrieve::text_config;

/// Text search configuration and language of a source.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::api) struct Reader {
    pub text_config: String,
    /// The language of the cues.
    pub language: String,
}

/// The readers of the sources of a context.
pub(in crate::api) struct Readers {
    /// Reader of most sources; for an empty context that of the corpus.
    pub main: Reader,
    pub others: Vec<Reader>,
    /// For each source the index of its reader: 0 is `main`, 1 the first of `others`.
    pub by_source: Vec<usize>,
}

impl Readers {
    /// All readers, in the order of the indices of `by_source`.
    pub fn all(&self) -> impl Iterator<Item = &Reader> {
        std::iter::once(&self.main).chain(&self.others)
    }

    /// Determines the readers of the sources.
    pub fn of(context: &JudgeContext<'_>) -> Result<Self> {
        let default = Reader {
            text_config: context.text_config.to_owned(),
            language: context.language(context.text_config),
        };
        // Readers with the number of their sources. The first is that of the corpus.
        let mut readers = vec![(0, default)];
        let mut by_source = Vec::with_capacity(context.context.len());
        for source in context.context {
            let passage = &source.candidate.passage;
            let reader = reader(context, &passage.corpus, passage.text_config.as_deref())?;
            let known = readers.iter().position(|(_, known)| *known == reader);
            let index = known.unwrap_or_else(|| {
                readers.push((0, reader));
                readers.len() - 1
            });
            if let Some((count, _)) = readers.get_mut(index) {
                *count += 1;
            }
            by_source.push(index);
        }
        let most = (0..readers.len())
            .rev()
            .max_by_key(|&index| readers[index].0)
            .unwrap_or_default();
        readers.swap(0, most);
        for index in &mut by_source {
            *index = match *index {
                index if index == most => 0,
                0 => most,
                index => index,
            };
        }
        // A reader without sources is not needed, except the main one.
        while readers.len() > 1 && readers.last().is_some_and(|(count, _)| *count == 0) {
            readers.pop();
        }
        let mut readers = readers.into_iter().map(|(_, reader)| reader);
        Ok(Self {
            main: readers
                .next()
                .ok_or_else(|| Error::Stored("a context without a reader".into()))?,
            others: readers.collect(),
            by_source,
        })
    }
}

/// The reader of a passage: by its own configuration if it names one, otherwise by that of its corpus.
fn reader(context: &JudgeContext<'_>, corpus: &str, named: Option<&str>) -> Result<Reader> {
    let of_corpus = context.text_configs.get(corpus);
    let of_corpus = of_corpus.map_or(context.text_config, String::as_str);
    Ok(match named {
        Some(named) => Reader {
            text_config: text_config::named_or(named, of_corpus)?,
            language: Cues::code(named),
        },
        None => Reader {
            text_config: of_corpus.to_owned(),
            language: context.language(of_corpus),
        },
    })
}
