//! Roles that call the functions in the settings of a corpus or a conversation: the roles that set them.

use reground_grounding::settings::hook::Hook;
use reground_grounding::settings::is_set;
use serde::Deserialize;
use serde_json::Value;

/// The oid of the role of each function; `None` if no function is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Roles {
    pub reranker_role: Option<u32>,
    pub intent_role: Option<u32>,
}

impl Roles {
    /// The role that calls a function.
    pub fn of(&self, hook: Hook) -> Option<u32> {
        match hook {
            Hook::Reranker => self.reranker_role,
            Hook::Intent => self.intent_role,
        }
    }

    /// The same roles, except for functions that these settings name: the caller itself calls those.
    pub fn but_for(mut self, settings: &Value) -> Self {
        for hook in Hook::ALL {
            if settings.get(hook.setting()).is_some_and(is_set) {
                self.set(hook, None);
            }
        }
        self
    }

    /// Sets the role that calls a function.
    pub fn set(&mut self, hook: Hook, role: Option<u32>) {
        match hook {
            Hook::Reranker => self.reranker_role = role,
            Hook::Intent => self.intent_role = role,
        }
    }
}
