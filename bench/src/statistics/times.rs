//! Medians of measured times.

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
}
