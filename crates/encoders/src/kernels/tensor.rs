//! Applies functions of slices to tensors, in place.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, Tensor, bail};

struct Update<F>(F);

struct Combine<F>(F);

/// Runs `change` on all values of a contiguous tensor.
pub(crate) fn update(tensor: &Tensor, change: impl Fn(&mut [f32])) -> Result<()> {
    tensor.inplace_op1(&Update(change))
}

/// Runs `change` on all values of a contiguous tensor and those of a second one.
pub(crate) fn combine(
    tensor: &Tensor,
    other: &Tensor,
    change: impl Fn(&mut [f32], &[f32]),
) -> Result<()> {
    tensor.inplace_op2(other, &Combine(change))
}

/// Copies `part`, (heads, rows, width), into `whole`, (all rows, columns): heads side by side, beginning at `row` and `column`.
pub(crate) fn place(whole: &Tensor, part: &Tensor, row: usize, column: usize) -> Result<()> {
    let (_, columns) = whole.dims2()?;
    let (_, rows, width) = part.dims3()?;
    combine(whole, part, |whole, part| {
        for (head, values) in part.chunks_exact(rows * width).enumerate() {
            let begin = column + head * width;
            let targets = whole.chunks_exact_mut(columns).skip(row);
            for (target, source) in targets.zip(values.chunks_exact(width)) {
                target[begin..begin + width].copy_from_slice(source);
            }
        }
    })
}

fn range(layout: &Layout) -> Result<std::ops::Range<usize>> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(start..end),
        None => bail!("a tensor is not contiguous"),
    }
}

impl<F: Fn(&mut [f32])> InplaceOp1 for Update<F> {
    fn name(&self) -> &'static str {
        "update"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let CpuStorage::F32(values) = storage else {
            bail!("a tensor does not have 32-bit floats");
        };
        (self.0)(&mut values[range(layout)?]);
        Ok(())
    }
}

impl<F: Fn(&mut [f32], &[f32])> InplaceOp2 for Combine<F> {
    fn name(&self) -> &'static str {
        "combine"
    }

    fn cpu_fwd(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        other: &CpuStorage,
        other_layout: &Layout,
    ) -> Result<()> {
        let (CpuStorage::F32(values), CpuStorage::F32(others)) = (storage, other) else {
            bail!("a tensor does not have 32-bit floats");
        };
        (self.0)(&mut values[range(layout)?], &others[range(other_layout)?]);
        Ok(())
    }
}
