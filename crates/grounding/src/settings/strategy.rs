//! Strategies for history, and the decision whether a turn retrieves.
//!
//! A strategy is a preset of three settings: which turns may retrieve, whether such a turn replaces existing sources,
//! and whether the history is compressed. Explicit values override the preset, in any layer.
//!
//! A turn that does not retrieve reuses the sources of the last turn that did.

use serde::{Deserialize, Serialize};

use crate::attention_model::refresh_is_due;

/// A strategy for history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Nothing is retrieved.
    None,
    /// Sources of the first turn only.
    FirstTurn,
    /// Fresh sources every turn, with the whole history.
    EveryTurn,
    /// Fresh sources when the share falls below the minimum. The share is that of [`EveryTurn`](Self::EveryTurn),
    /// because fresh sources take as much of a context as old ones.
    RefreshOnly,
    /// Sources of the first turn, with a compressed history.
    CompressionOnly,
    /// Fresh sources with a compressed history.
    Reground,
}

/// The turns that may retrieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetrieveAt {
    /// All turns.
    EveryTurn,
    /// Only while there are no sources.
    FirstTurn,
    /// None. A call that needs sources sets `every_turn` itself.
    OnDemand,
}

/// When a turn that may retrieve replaces the existing sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// Always.
    Always,
    /// When their share of the context falls below the minimum for `accuracy_target`.
    Adaptive,
    /// Never.
    Never,
}

/// The settings of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preset {
    /// The turns that may retrieve.
    pub retrieve_at: RetrieveAt,
    /// When they replace the existing sources.
    pub refresh: Refresh,
    /// Whether the history is limited.
    pub compress: bool,
}

impl Strategy {
    /// All strategies, from the least effort to the most.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::FirstTurn,
        Self::EveryTurn,
        Self::RefreshOnly,
        Self::CompressionOnly,
        Self::Reground,
    ];

    /// The name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FirstTurn => "first_turn",
            Self::EveryTurn => "every_turn",
            Self::RefreshOnly => "refresh_only",
            Self::CompressionOnly => "compression_only",
            Self::Reground => "reground",
        }
    }

    /// The settings of the strategy.
    #[must_use]
    pub fn preset(self) -> Preset {
        use RetrieveAt::{EveryTurn, FirstTurn, OnDemand};
        let (retrieve_at, refresh, compress) = match self {
            // A call that asks for sources gets fresh ones.
            Self::None => (OnDemand, Refresh::Always, false),
            Self::FirstTurn => (FirstTurn, Refresh::Never, false),
            Self::EveryTurn => (EveryTurn, Refresh::Always, false),
            Self::RefreshOnly => (EveryTurn, Refresh::Adaptive, false),
            Self::CompressionOnly => (FirstTurn, Refresh::Never, true),
            Self::Reground => (EveryTurn, Refresh::Always, true),
        };
        Preset {
            retrieve_at,
            refresh,
            compress,
        }
    }

    /// Whether its sources age while the conversation continues.
    #[must_use]
    pub fn drifts(self) -> bool {
        self.preset().refresh == Refresh::Never
    }

    /// Whether its history is compressed.
    #[must_use]
    pub fn compresses(self) -> bool {
        self.preset().compress
    }
}

impl Preset {
    /// Whether a turn retrieves, given whether the conversation has sources.
    #[must_use]
    pub fn retrieves(self, has_sources: bool) -> Decision {
        match (self.retrieve_at, has_sources) {
            (RetrieveAt::OnDemand, _) | (RetrieveAt::FirstTurn, true) => Decision::Keep,
            (_, false) => Decision::Retrieve,
            (RetrieveAt::EveryTurn, true) => match self.refresh {
                Refresh::Always => Decision::Retrieve,
                Refresh::Adaptive => Decision::BelowLeastShare,
                Refresh::Never => Decision::Keep,
            },
        }
    }
}

/// Whether a turn retrieves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It retrieves.
    Retrieve,
    /// It reuses the existing sources, if there are any.
    Keep,
    /// It retrieves if the sources' share beside the compressed history is below the minimum. The share has to be
    /// measured first.
    BelowLeastShare,
}

impl Decision {
    /// The final decision. `share` is called only if needed, and returns the share and the minimum.
    ///
    /// # Errors
    /// Those of `share`.
    pub fn decide<E>(self, share: impl FnOnce() -> Result<(f64, f64), E>) -> Result<bool, E> {
        Ok(match self {
            Self::Retrieve => true,
            Self::Keep => false,
            Self::BelowLeastShare => {
                let (share, least) = share()?;
                refresh_is_due(share, least)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(preset: Preset, shares: &[f64]) -> Vec<bool> {
        let mut has_sources = false;
        let retrieve = |share: &f64| {
            let share = || Ok::<_, ()>((*share, 0.9));
            let fresh = preset.retrieves(has_sources).decide(share).unwrap();
            has_sources |= fresh;
            fresh
        };
        shares.iter().map(retrieve).collect()
    }

    #[test]
    fn turns_retrieve_by_strategy() {
        let shares = [1.0, 0.95, 0.89, 0.95];
        for (strategy, fresh) in [
            (Strategy::None, [false; 4]),
            (Strategy::FirstTurn, [true, false, false, false]),
            (Strategy::EveryTurn, [true; 4]),
            (Strategy::RefreshOnly, [true, false, true, false]),
            (Strategy::CompressionOnly, [true, false, false, false]),
            (Strategy::Reground, [true; 4]),
        ] {
            assert_eq!(turns(strategy.preset(), &shares), fresh, "{strategy:?}");
        }
    }

    #[test]
    fn refresh_never_retrieves_once_and_on_demand_is_overridden() {
        let never = Preset {
            refresh: Refresh::Never,
            ..Strategy::EveryTurn.preset()
        };
        assert_eq!(turns(never, &[1.0; 3]), [true, false, false]);
        let asked = Preset {
            retrieve_at: RetrieveAt::EveryTurn,
            ..Strategy::None.preset()
        };
        assert_eq!(asked.retrieves(true), Decision::Retrieve);
        assert_eq!(asked.retrieves(false), Decision::Retrieve);
    }

    #[test]
    fn the_share_is_measured_only_if_needed() {
        let unmeasured = || -> Result<(f64, f64), ()> { Err(()) };
        assert_eq!(Decision::Retrieve.decide(unmeasured), Ok(true));
        assert_eq!(Decision::Keep.decide(unmeasured), Ok(false));
        assert_eq!(Decision::BelowLeastShare.decide(unmeasured), Err(()));
        // At the minimum itself no refresh is due.
        let at = |share| Decision::BelowLeastShare.decide(|| Ok::<_, ()>((share, 0.9)));
        assert_eq!((at(0.9), at(0.899)), (Ok(false), Ok(true)));
    }

    #[test]
    fn names_equal_the_json_names() {
        for strategy in Strategy::ALL {
            assert_eq!(serde_json::to_value(strategy).unwrap(), strategy.name());
        }
    }
}
