//! Classification heads: hidden states to logits.

use candle_core::{Device, Result, Tensor};

use crate::architecture::{Family, Task};
use crate::backbone::{Dense, Weights};
use crate::kernels::{Activation, Norm, update};
use crate::pooling::Pooling;

/// The layers after the transformer.
pub(crate) struct Head {
    /// None if each token gets logits.
    pub(crate) pooling: Option<Pooling>,
    dense: Option<(Dense, Activation)>,
    norm: Option<Norm>,
    classifier: Dense,
}

/// What a head needs to know of the configuration.
pub(crate) struct HeadShape<'a> {
    pub(crate) width: usize,
    pub(crate) labels: usize,
    pub(crate) epsilon: f64,
    /// `classifier_pooling` of ModernBERT.
    pub(crate) pooling: Option<&'a str>,
}

impl Head {
    /// Reads the head of a model with weights at `all`, whose transformer is at `below`.
    pub(crate) fn load(
        all: &Weights,
        below: &Weights,
        family: Family,
        task: Task,
        shape: &HeadShape,
    ) -> Result<Self> {
        let HeadShape { width, labels, .. } = *shape;
        let dense = |weights: &Weights, name: &str, activation| -> Result<_> {
            Ok(Some((weights.dense(name, width, width)?, activation)))
        };
        let (mut pooling, mut norm) = (Some(Pooling::First), None);
        let mut classifier = "classifier";
        let hidden = match (family, task) {
            (Family::ModernBert, _) => {
                if shape.pooling == Some("mean") {
                    pooling = Some(Pooling::Mean);
                }
                norm = Some(all.norm("head.norm", width, shape.epsilon)?);
                dense(all, "head.dense", Activation::Gelu)?
            }
            (_, Task::Tokens | Task::States) => None,
            (Family::Bert, Task::Sequence) => dense(below, "pooler.dense", Activation::Tanh)?,
            (Family::Roberta, Task::Sequence) => {
                classifier = "classifier.out_proj";
                dense(all, "classifier.dense", Activation::Tanh)?
            }
            (Family::Distilbert, Task::Sequence) => dense(all, "pre_classifier", Activation::Relu)?,
            (Family::Deberta, Task::Sequence) => dense(all, "pooler.dense", Activation::Gelu)?,
        };
        if task != Task::Sequence {
            pooling = None;
        }
        Ok(Self {
            pooling,
            dense: hidden,
            norm,
            classifier: all.dense(classifier, width, labels)?,
        })
    }

    /// Returns the logits of each row of `width` values.
    pub(crate) fn logits(&self, states: Vec<f32>, width: usize) -> Result<Vec<Vec<f32>>> {
        let rows = states.len() / width;
        let mut states = Tensor::from_vec(states, (rows, width), &Device::Cpu)?;
        if let Some((dense, activation)) = &self.dense {
            states = dense.activated(&states, *activation)?;
        }
        if let Some(norm) = &self.norm {
            update(&states, |values| norm.apply(values))?;
        }
        self.classifier.forward(&states)?.to_vec2()
    }
}
