//! Reads tensors of a model file, and multiplies by them.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarBuilder;

use crate::kernels::{Activation, Norm, add_bias, update};

/// Named tensors below a prefix.
#[derive(Clone)]
pub(crate) struct Weights(VarBuilder<'static>);

impl Weights {
    /// Reads a file in the format of safetensors.
    pub(crate) fn new(content: Vec<u8>) -> Result<Self> {
        VarBuilder::from_buffered_safetensors(content, DType::F32, &Device::Cpu).map(Self)
    }

    /// Returns the tensors whose names begin with `prefix` and a dot.
    pub(crate) fn at(&self, prefix: impl ToString) -> Self {
        Self(self.0.pp(prefix))
    }

    /// Returns the tensors below `prefix` if `name` is there. A model without a head is stored without the prefix.
    pub(crate) fn below(&self, prefix: &str, name: &str) -> Self {
        let below = self.at(prefix);
        if below.0.contains_tensor(name) {
            below
        } else {
            self.clone()
        }
    }

    pub(crate) fn builder(&self) -> VarBuilder<'static> {
        self.0.clone()
    }

    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Tensor> {
        self.0.get((rows, columns), name)
    }

    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>> {
        self.0.get(length, name)?.to_vec1()
    }

    /// Reads a normalisation; the bias is optional.
    pub(crate) fn norm(&self, name: &str, width: usize, epsilon: f64) -> Result<Norm> {
        let at = self.at(name);
        Ok(Norm {
            weight: at.vector("weight", width)?,
            bias: at.optional("bias", width)?,
            epsilon: epsilon as f32,
        })
    }

    /// Reads a linear layer; the bias is optional.
    pub(crate) fn dense(&self, name: &str, inputs: usize, outputs: usize) -> Result<Dense> {
        self.joined(&[name], inputs, outputs)
    }

    /// Reads linear layers of `outputs` values each, as one layer whose outputs follow each other.
    pub(crate) fn joined(&self, names: &[&str], inputs: usize, outputs: usize) -> Result<Dense> {
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            let at = self.at(name);
            weights.push(at.matrix("weight", outputs, inputs)?);
            bias.extend(at.optional("bias", outputs)?);
        }
        Ok(Dense {
            weight: Tensor::cat(&weights, 0)?,
            bias,
        })
    }

    fn optional(&self, name: &str, length: usize) -> Result<Vec<f32>> {
        if self.0.contains_tensor(name) {
            self.vector(name, length)
        } else {
            Ok(Vec::new())
        }
    }
}

/// A linear layer.
pub(crate) struct Dense {
    /// (outputs, inputs)
    weight: Tensor,
    /// Empty for none.
    pub(crate) bias: Vec<f32>,
}

impl Dense {
    /// Returns the outputs, with bias, of each row.
    pub(crate) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let output = self.product(input)?;
        if !self.bias.is_empty() {
            update(&output, |values| add_bias(values, &self.bias))?;
        }
        Ok(output)
    }

    /// Returns `activation` of the outputs of each row.
    pub(crate) fn activated(&self, input: &Tensor, activation: Activation) -> Result<Tensor> {
        let output = self.product(input)?;
        update(&output, |values| activation.apply(values, &self.bias))?;
        Ok(output)
    }

    /// Returns the outputs without bias.
    pub(crate) fn product(&self, input: &Tensor) -> Result<Tensor> {
        input.matmul(&self.weight.t()?)
    }
}
