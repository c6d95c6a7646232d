//! Bias and activation functions.

use pulp::Arch;
use serde::Deserialize;

/// An activation function, as `config.json` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Activation {
    /// x · Φ(x)
    Gelu,
    /// The approximation of x · Φ(x) by the hyperbolic tangent.
    #[serde(alias = "gelu_pytorch_tanh", alias = "gelu_fast")]
    GeluNew,
    Relu,
    Tanh,
    #[serde(alias = "swish")]
    Silu,
}

/// Adds `bias` to each row.
pub(crate) fn add_bias(values: &mut [f32], bias: &[f32]) {
    Arch::new().dispatch(|| each(values, bias, |x| x));
}

impl Activation {
    /// Adds `bias` to each row and applies the function.
    pub(crate) fn apply(self, values: &mut [f32], bias: &[f32]) {
        let arch = Arch::new();
        match self {
            Self::Gelu => arch.dispatch(|| each(values, bias, gelu)),
            Self::GeluNew => arch.dispatch(|| each(values, bias, gelu_new)),
            Self::Relu => arch.dispatch(|| each(values, bias, |x| if x > 0.0 { x } else { 0.0 })),
            Self::Tanh => arch.dispatch(|| each(values, bias, tanh)),
            Self::Silu => arch.dispatch(|| each(values, bias, |x| x / (1.0 + exp(-x)))),
        }
    }
}

/// Writes gelu(a) · b for each row (a, b) of `input`, whose rows are twice as long as those of `output`.
pub(crate) fn gate(output: &mut [f32], input: &[f32], width: usize) {
    Arch::new().dispatch(|| {
        for (output, input) in output
            .chunks_exact_mut(width)
            .zip(input.chunks_exact(2 * width))
        {
            let (left, right) = input.split_at(width);
            for ((value, a), b) in output.iter_mut().zip(left).zip(right) {
                *value = gelu(*a) * b;
            }
        }
    });
}

/// Returns the probabilities of one row of logits.
pub(crate) fn softmax_of(logits: &[f32]) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = logits.iter().map(|x| (x - largest).exp()).collect();
    let total: f32 = powers.iter().sum();
    powers.iter().map(|x| x / total).collect()
}

/// Returns the probability of a logit.
pub(crate) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

#[inline(always)]
fn each(values: &mut [f32], bias: &[f32], function: impl Fn(f32) -> f32) {
    if bias.is_empty() {
        values
            .iter_mut()
            .for_each(|value| *value = function(*value));
        return;
    }
    for row in values.chunks_exact_mut(bias.len()) {
        for (value, bias) in row.iter_mut().zip(bias) {
            *value = function(*value + bias);
        }
    }
}

/// Relative error below 2e-7. Outside of −87 … 88 the result is that of the bound.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    // Adding and subtracting 1.5 · 2²³ rounds to an integer, in one instruction of every processor.
    const ROUND: f32 = 12_582_912.0;
    let power = x * std::f32::consts::LOG2_E + ROUND;
    let n = power - ROUND;
    // ln 2 in two parts, so that the product with n is exact.
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let series = 1.0
        + r * (1.0
            + r * (0.5
                + r * (0.166_666_66 + r * (0.041_666_6 + r * (0.008_333_4 + r * 0.001_388_9)))));
    let scale = f32::from_bits(power.to_bits().wrapping_add(127) << 23);
    series * scale
}

/// Abramowitz and Stegun 7.1.26: absolute error of the error function below 2e-7.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let tail = 0.5 * series * exp(-z * z);
    // Φ(x) is the tail below 0 and its complement above.
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

#[inline(always)]
fn gelu_new(x: f32) -> f32 {
    let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
    0.5 * x * (1.0 + tanh(inner))
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error function by its Maclaurin series, in double precision.
    fn erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            let n = f64::from(n);
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    }

    fn inputs() -> impl Iterator<Item = f32> {
        (-4000..=4000).map(|i| i as f32 / 1000.0)
    }

    #[test]
    fn gelu_is_near_the_definition() {
        for x in inputs() {
            let z = f64::from(x);
            let expected = 0.5 * z * (1.0 + erf(z / std::f64::consts::SQRT_2));
            assert!((f64::from(gelu(x)) - expected).abs() < 1e-6, "{x}");
        }
        assert_eq!(gelu(30.0), 30.0);
        assert!(gelu(-30.0).abs() < 1e-30);
    }

    #[test]
    fn exp_and_tanh_are_near_the_library() {
        for x in inputs().map(|x| x * 20.0) {
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 3e-7, "{x}");
            assert!((tanh(x) - x.tanh()).abs() < 5e-7, "{x}");
        }
    }

    #[test]
    fn a_row_gets_the_bias_and_the_function() {
        let mut values = vec![-1.0, 2.0, 3.0, -4.0];
        Activation::Relu.apply(&mut values, &[0.5, -1.0]);
        assert_eq!(values, [0.0, 1.0, 3.5, 0.0]);
        add_bias(&mut values, &[1.0, 2.0]);
        assert_eq!(values, [1.0, 3.0, 4.5, 2.0]);
        let mut gated = vec![0.0; 2];
        gate(&mut gated, &[30.0, -30.0, 2.0, 3.0], 2);
        assert_eq!(gated[0], 60.0);
        assert!(gated[1].abs() < 1e-30);
    }
}
