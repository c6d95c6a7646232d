//! Rotary position embeddings.

use pulp::Arch;

/// Angles of a rotary position embedding up to a number of positions.
pub(crate) struct Rotation {
    /// (positions, half of the width of a head)
    cosines: Vec<f32>,
    sines: Vec<f32>,
    half: usize,
}

impl Rotation {
    /// Computes the angles for heads of `width` values.
    pub(crate) fn new(positions: usize, width: usize, base: f64) -> Self {
        let half = width / 2;
        let angles = || {
            (0..positions).flat_map(move |position| {
                (0..half).map(move |i| {
                    // transformers computes the angle in single precision.
                    let frequency = (1.0 / base.powf(2.0 * i as f64 / width as f64)) as f32;
                    position as f32 * frequency
                })
            })
        };
        Self {
            cosines: angles().map(f32::cos).collect(),
            sines: angles().map(f32::sin).collect(),
            half,
        }
    }

    /// Rotates the first `turned` heads of each row by the angle of its position. `rows` begins at position 0 and has rows of
    /// `row` values.
    pub(crate) fn apply(&self, rows: &mut [f32], row: usize, turned: usize) {
        let half = self.half;
        Arch::new().dispatch(|| {
            let angles = self
                .cosines
                .chunks_exact(half)
                .zip(self.sines.chunks_exact(half));
            for (row, (cosines, sines)) in rows.chunks_exact_mut(row).zip(angles) {
                for head in row.chunks_exact_mut(2 * half).take(turned) {
                    let (left, right) = head.split_at_mut(half);
                    for i in 0..half {
                        let (a, b) = (left[i], right[i]);
                        left[i] = a * cosines[i] - b * sines[i];
                        right[i] = b * cosines[i] + a * sines[i];
                    }
                }
            }
        });
    }
}
