//! Runs claimed tasks: batches of embeddings, repetitions, limits, and the end of the lease.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::apis::types::{Embeddings, InputType};
use crate::apis::{Apis, text};
use crate::failure::{Class, Failure};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::model::{Model, Task};

/// Repetitions of a call after a failure that may pass.
const REPETITIONS: u32 = 2;
/// Pause before the first repetition. The second one is four times as long.
const PAUSE: Duration = Duration::from_millis(500);
/// Longest pause that an API can ask for before a repetition.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// A result in the form that the queue stores.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The result.
    pub result: Value,
    /// Tokens of the input.
    pub input_tokens: Option<i64>,
    /// Tokens of the answer.
    pub output_tokens: Option<i64>,
}

/// What became of a task.
pub type Outcome = Result<Done, Failure>;

/// One embedding, and its part of the tokens that the API counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// The embedding.
    pub vector: Vec<f32>,
    /// Tokens of the text.
    pub tokens: Option<i64>,
}

/// When calls have to end.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Before the lease ends.
    pub until: Instant,
    /// At the end of the grace period of a shutdown.
    pub stop: CancellationToken,
    /// At the beginning of a shutdown: calls that run may end, and no others start.
    pub drain: CancellationToken,
}

impl Scope {
    /// Returns a scope that ends after a time.
    pub fn lasting(time: Duration, stop: &CancellationToken) -> Self {
        Self {
            until: Instant::now() + time,
            stop: stop.clone(),
            drain: stop.clone(),
        }
    }

    /// Waits between calls, at most until a shutdown begins.
    async fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.drain.cancelled() => Err(Failure::stopped("the worker stops")),
            ended = self.within(future) => ended,
        }
    }

    /// Waits for a future, at most until the scope ends.
    async fn within<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(Failure::stopped("the worker stops")),
            ended = timeout_at(self.until, future) => {
                ended.map_err(|_| Failure::stopped("the lease ends"))
            }
        }
    }
}

/// Runs tasks of all databases.
pub struct Runner {
    /// The APIs.
    pub apis: Apis,
    /// The limits of the models.
    pub limits: Limits,
    /// Figures about calls.
    pub metrics: Arc<Metrics>,
}

impl Runner {
    /// Runs tasks of one model and returns their outcomes in the same order. The tasks that embed are one batch.
    pub async fn run(&self, model: &Model, tasks: &[Task], scope: &Scope) -> Vec<Outcome> {
        let mut outcomes: Vec<Option<Outcome>> = Vec::new();
        let (mut places, mut texts) = (Vec::new(), Vec::new());
        for (place, task) in tasks.iter().enumerate() {
            outcomes.push(if task.kind != "embed" {
                Some(self.run_one(model, task, scope).await)
            } else {
                match text(&task.request, "text") {
                    Ok(text) => {
                        places.push(place);
                        texts.push(text.to_owned());
                        None
                    }
                    Err(failure) => Some(Err(failure)),
                }
            });
        }
        let embedded = self.embed(model, &texts, InputType::Document, scope).await;
        for (place, embedded) in places.into_iter().zip(embedded) {
            outcomes[place] = Some(embedded.map(|embedded| Done {
                result: json!({"embedding": embedded.vector.iter().map(short).collect::<Vec<_>>()}),
                input_tokens: embedded.tokens,
                output_tokens: None,
            }));
        }
        let missing = || Err(Failure::stopped("the task was not run"));
        outcomes
            .into_iter()
            .map(|outcome| outcome.unwrap_or_else(missing))
            .collect()
    }

    async fn run_one(&self, model: &Model, task: &Task, scope: &Scope) -> Outcome {
        let tokens = reground_tokens::count(&task.request.to_string()) as u64;
        let call = || self.apis.run(model, task);
        let answer = self.call(model, tokens, scope, call).await;
        let answer = answer.map_err(|failure| blame(failure, Class::Item))?;
        self.metrics
            .tokens(&model.name, "input", answer.input_tokens);
        self.metrics
            .tokens(&model.name, "output", answer.output_tokens);
        Ok(Done {
            result: answer.result,
            input_tokens: answer.input_tokens,
            output_tokens: answer.output_tokens,
        })
    }

    /// Computes embeddings in one call, and returns one result per text. If the API refuses the call or answers nonsense, the
    /// texts are halved until each text that is refused is alone. If the answers are nonsense for every single text, the fault
    /// is the model's.
    pub async fn embed(
        &self,
        model: &Model,
        texts: &[String],
        input: InputType,
        scope: &Scope,
    ) -> Vec<Result<Embedded, Failure>> {
        let counts: Vec<usize> = texts
            .iter()
            .map(|text| reground_tokens::count(text))
            .collect();
        let mut results: Vec<Option<Result<Embedded, Failure>>> = texts
            .iter()
            .map(|text| check_text(text).err().map(Err))
            .collect();
        let usable: Vec<usize> = (0..texts.len())
            .filter(|&place| results[place].is_none())
            .collect();
        let alone = usable.len() == 1;
        let mut groups = vec![usable];
        while let Some(group) = groups.pop() {
            if group.is_empty() {
                continue;
            }
            let batch: Vec<String> = group.iter().map(|&place| texts[place].clone()).collect();
            let tokens: u64 = group.iter().map(|&place| counts[place] as u64).sum();
            let call = || self.apis.embed(model, &batch, input);
            match self.call(model, tokens, scope, call).await {
                Ok(embeddings) => self.keep(model, &group, &counts, embeddings, &mut results),
                Err(failure) if splits(&failure) && group.len() > 1 => {
                    let (first, second) = group.split_at(group.len() / 2);
                    groups.push(second.to_vec());
                    groups.push(first.to_vec());
                }
                Err(failure) if splits(&failure) => {
                    results[group[0]] = Some(Err(failure));
                }
                // Of a refused model, the other groups are not tried.
                Err(failure) => {
                    let rest = groups.drain(..).flatten();
                    for place in group.into_iter().chain(rest) {
                        results[place] = Some(Err(failure.clone()));
                    }
                }
            }
        }
        settle(results, alone)
    }

    fn keep(
        &self,
        model: &Model,
        group: &[usize],
        counts: &[usize],
        embeddings: Embeddings,
        results: &mut [Option<Result<Embedded, Failure>>],
    ) {
        self.metrics
            .tokens(&model.name, "input", embeddings.input_tokens);
        let weights: Vec<i64> = group.iter().map(|&place| counts[place] as i64).collect();
        let shares = shares(embeddings.input_tokens, &weights);
        for ((&place, vector), tokens) in group.iter().zip(embeddings.vectors).zip(shares) {
            results[place] = Some(Ok(Embedded { vector, tokens }));
        }
    }

    /// Calls the model within its limits, and repeats a call whose failure may pass.
    async fn call<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        model: &Model,
        tokens: u64,
        scope: &Scope,
        call: impl Fn() -> F,
    ) -> Result<T, Failure> {
        let limiter = self.limits.of(model);
        let mut repetition = 0;
        loop {
            scope.wait(limiter.acquire(tokens, scope.until)).await??;
            let start = Instant::now();
            let ended = scope.within(call()).await.and_then(|ended| ended);
            let outcome = ended
                .as_ref()
                .map_or_else(|failure| failure.class.name(), |_| "done");
            self.metrics.call(&model.name, outcome, start.elapsed());
            let mut failure = match ended {
                Ok(answer) => {
                    limiter.succeeded();
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            if failure.class == Class::Limit {
                failure.retry_after = Some(limiter.hold(failure.retry_after));
            }
            let pause = jittered(PAUSE * 4_u32.pow(repetition))
                .max(failure.retry_after.unwrap_or_default());
            let possible = pause <= LONGEST_PAUSE && Instant::now() + pause < scope.until;
            if !failure.passing || repetition == REPETITIONS || !possible {
                return Err(failure);
            }
            repetition += 1;
            scope.wait(sleep(pause)).await?;
        }
    }
}

/// Returns a duration between half and one and a half times the given one, so that workers do not repeat together.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + fastrand::f64())
}

/// Returns a number with the digits that distinguish it from other 32-bit floats. Its exact value has twice as many.
fn short(number: &f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(*number))
}

/// The database has cut the text to `max_input_tokens`. It is not counted again: a prefix of a text can have more tokens than it had
/// in the whole.
fn check_text(text: &str) -> Result<(), Failure> {
    match text.trim().is_empty() {
        true => Err(Failure::item("the text is empty")),
        false => Ok(()),
    }
}

fn splits(failure: &Failure) -> bool {
    matches!(failure.class, Class::Item | Class::Answer)
}

/// Turns an unusable answer into a failure of the task or of the model.
fn blame(failure: Failure, class: Class) -> Failure {
    if failure.class == Class::Answer {
        Failure { class, ..failure }
    } else {
        failure
    }
}

/// Decides whom unusable answers count against.
fn settle(
    results: Vec<Option<Result<Embedded, Failure>>>,
    alone: bool,
) -> Vec<Result<Embedded, Failure>> {
    let unusable = |result: &Option<Result<Embedded, Failure>>| matches!(result, Some(Err(failure)) if failure.class == Class::Answer);
    let usable = |result: &Option<Result<Embedded, Failure>>| matches!(result, Some(Ok(_)));
    let all = results.iter().any(unusable) && !results.iter().any(usable);
    let class = if all && !alone {
        Class::Model
    } else {
        Class::Item
    };
    let missing = || Err(Failure::stopped("the text was not embedded"));
    results
        .into_iter()
        .map(|result| result.unwrap_or_else(missing))
        .map(|result| result.map_err(|failure| blame(failure, class)))
        .collect()
}

/// Divides the tokens of a call among its texts. The sum stays the same.
fn shares(total: Option<i64>, weights: &[i64]) -> Vec<Option<i64>> {
    let Some(total) = total else {
        return vec![None; weights.len()];
    };
    let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
    let sum = sum.max(1);
    let (mut before, mut given) = (0_i128, 0_i128);
    weights
        .iter()
        .map(|&weight| {
            before += i128::from(weight);
            let share = i128::from(total) * before / sum - given;
            given += share;
            i64::try_from(share).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        assert_eq!(shares(Some(10), &[1, 1, 1]), [Some(3), Some(3), Some(4)]);
        assert_eq!(shares(Some(7), &[6, 1]), [Some(6), Some(1)]);
        assert_eq!(shares(None, &[6, 1]), [None, None]);
        assert_eq!(shares(Some(3), &[0]), [Some(0)]);
    }

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!(short(&0.1).to_string(), "0.1");
        for number in [1.0e-7_f32, 0.333_333_34, -123_456.79] {
            assert_eq!(short(&number) as f32, number);
        }
    }

    #[test]
    fn nonsense_for_every_text_counts_against_the_model() {
        let vector = || {
            Some(Ok(Embedded {
                vector: vec![1.0],
                tokens: None,
            }))
        };
        let nonsense = || Some(Err(Failure::answer("x")));
        let classes = |results, alone| -> Vec<Option<Class>> {
            settle(results, alone)
                .into_iter()
                .map(|result| result.err().map(|failure| failure.class))
                .collect()
        };
        assert_eq!(
            classes(vec![nonsense(), nonsense()], false),
            [Some(Class::Model); 2]
        );
        assert_eq!(
            classes(vec![vector(), nonsense()], false),
            [None, Some(Class::Item)]
        );
        assert_eq!(classes(vec![nonsense()], true), [Some(Class::Item)]);
    }
}
