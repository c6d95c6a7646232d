//! Roles that the functions of a corpus or a conversation are called as: whoever set them.

use reground_grounding::settings::hook::Hook;
use reground_grounding::settings::is_set;
use serde::Deserialize;
use serde_json::Value;

/// A role for each function, as an oid; `None` where none is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Roles {
    pub reranker_role: Option<u32>,
    pub intent_role: Option<u32>,
}

impl Roles {
    /// The role of a function.
    pub fn of(&self, hook: Hook) -> Option<u32> {
        match hook {
            Hook::Reranker => self.reranker_role,
            Hook::Intent => self.intent_role,
        }
    }

    /// The same, but for functions that these settings name: those are the caller's own.
    pub fn but_for(mut self, settings: &Value) -> Self {
        for hook in Hook::ALL {
            if settings.get(hook.setting()).is_some_and(is_set) {
                self.set(hook, None);
            }
        }
        self
    }

    /// Sets the role of a function.
    pub fn set(&mut self, hook: Hook, role: Option<u32>) {
        match hook {
            Hook::Reranker => self.reranker_role = role,
            Hook::Intent => self.intent_role = role,
        }
    }
}
