//! Sums and maxima in 16 lanes, because the compiler may not reorder a plain sum of floats.

const LANES: usize = 16;

#[inline(always)]
pub(super) fn fold(
    values: &[f32],
    start: f32,
    step: impl Fn(f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *value);
        }
    }
    let tail = rest.iter().fold(start, |all, value| step(all, *value));
    lanes.iter().fold(tail, |all, lane| join(all, *lane))
}

#[inline(always)]
pub(super) fn sum(values: &[f32]) -> f32 {
    fold(values, 0.0, |a, b| a + b, |a, b| a + b)
}

#[inline(always)]
pub(super) fn max(values: &[f32]) -> f32 {
    // Not f32::max, whose rule for NaN prevents one instruction.
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    fold(values, f32::NEG_INFINITY, larger, larger)
}
