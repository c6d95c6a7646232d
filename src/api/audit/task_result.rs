//! The result of a task of maintenance.

/// What a task has done.
#[derive(Default)]
pub(in crate::api) struct TaskResult {
    /// Number of processed objects.
    pub processed: i64,
    /// What the task could not do. Its other changes are kept.
    pub problems: Vec<String>,
}

impl TaskResult {
    /// The problems in one line; `None` without one.
    pub fn error(&self) -> Option<String> {
        let first = self.problems.first()?;
        Some(match self.problems.len() {
            1 => first.clone(),
            count => format!("{first} (and {} more)", count.saturating_sub(1)),
        })
    }
}
