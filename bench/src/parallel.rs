//! Distributes work over connections.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};

/// Runs `work` on every item; each connection takes the next item. Returns the results in the order of the items.
///
/// # Errors
/// The first error; no further item is started after it.
pub fn over<C: Send, T: Sync, R: Send>(
    connections: &mut [C],
    items: &[T],
    work: impl Fn(&mut C, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let share = |connection: &mut C| -> Result<()> {
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result =
                work(connection, item).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            done.lock()
                .map_err(|_| anyhow!("another thread panicked"))?
                .push((index, result));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = connections
            .iter_mut()
            .map(|connection| scope.spawn(|| share(connection)))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
        })
    })?;
    let mut done = done.into_inner().ok().context("a thread panicked")?;
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_processed_once_in_its_place() {
        let items: Vec<usize> = (0..100).collect();
        for connections in [1, 3] {
            let mut counts = vec![0; connections];
            let doubled = over(&mut counts, &items, |count, item| {
                *count += 1;
                Ok(item * 2)
            });
            assert_eq!(doubled.unwrap(), (0..200).step_by(2).collect::<Vec<_>>());
            assert_eq!(counts.iter().sum::<usize>(), 100);
        }
    }

    #[test]
    fn an_error_stops_the_work() {
        let begun = AtomicUsize::new(0);
        let result = over(&mut [(), ()], &[false; 1000], |(), _| -> Result<()> {
            begun.fetch_add(1, Ordering::Relaxed);
            Err(anyhow!("refused"))
        });
        assert_eq!(result.unwrap_err().to_string(), "refused");
        assert!(begun.into_inner() <= 2);
    }
}
