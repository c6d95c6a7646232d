//! Medians and percentiles of measured times.

use std::time::Duration;

/// The median; of an even number of times, the upper of the two in the middle. 0 of no times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A time in milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The percentile of the times, as a share, by nearest rank; NaN of no times.
pub fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share * sorted.len() as f64).ceil().max(1.0) as usize - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_no_times() {
        let of = |times: &[u64]| {
            ms(median(
                times.iter().copied().map(Duration::from_millis).collect(),
            ))
        };
        assert_eq!([of(&[9, 1, 5]), of(&[4, 2]), of(&[])], [5.0, 4.0, 0.0]);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(
            (percentile(&times, 0.5), percentile(&times, 0.95)),
            (10.0, 19.0)
        );
        assert_eq!(percentile(&[7.0], 0.95), 7.0);
    }
}
