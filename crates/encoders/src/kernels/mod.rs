//! Elementwise computations of a forward pass, on slices, with the widest vector instructions of the processor.
//!
//! candle computes each of them in several passes over the memory and on scalars. They are exact to about 1e-6.

mod activation;
mod norm;
mod reduce;
mod rope;
mod softmax;
mod tensor;

pub(crate) use activation::{Activation, add_bias, gate, sigmoid, softmax_of};
pub(crate) use norm::Norm;
pub(crate) use rope::Rotation;
pub(crate) use softmax::{Band, scaled_softmax};
pub(crate) use tensor::{combine, place, update};
