//! What is done about history, and which turns retrieve (D5, D9, K1).
//!
//! A strategy is a preset over three settings: which turns may retrieve, whether a turn that may and has sources already
//! replaces them, and whether the history is compressed. What is set explicitly wins over the preset, in whatever layer.
//!
//! A turn that does not retrieve keeps the sources of the turn that did so last ([`crate::begin::reuse_context`]).

use serde::{Deserialize, Serialize};

use crate::attention_model::refresh_is_due;

/// What is done about history (D9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Nothing is retrieved.
    None,
    /// Sources of the first turn, for good.
    FirstTurn,
    /// Fresh sources every turn, and all of the history.
    EveryTurn,
    /// Fresh sources where the share falls below the least. It is the share of [`EveryTurn`](Self::EveryTurn): fresh sources
    /// take as much of a context as old ones.
    RefreshOnly,
    /// Sources of the first turn, and a compressed history.
    CompressionOnly,
    /// Fresh sources and a compressed history.
    Reground,
}

/// The turns that may retrieve (K1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetrieveAt {
    /// All of them.
    EveryTurn,
    /// Those before which the conversation has no sources.
    FirstTurn,
    /// None: a call that wants sources says `every_turn` itself.
    OnDemand,
}

/// When a turn that may retrieve replaces the sources that there are (D5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// Always.
    Always,
    /// Where their share of the context has fallen below the least that keeps `accuracy_target`.
    Adaptive,
    /// Never.
    Never,
}

/// The settings that a strategy stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preset {
    /// The turns that may retrieve.
    pub retrieve_at: RetrieveAt,
    /// When they replace the sources that there are.
    pub refresh: Refresh,
    /// Whether the history is kept to L_max (D6).
    pub compress: bool,
}

impl Strategy {
    /// All of them, from the least effort to the most.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::FirstTurn,
        Self::EveryTurn,
        Self::RefreshOnly,
        Self::CompressionOnly,
        Self::Reground,
    ];

    /// The name as users write it.
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

    /// The settings that it stands for.
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

    /// Whether its sources age while the conversation moves on.
    #[must_use]
    pub fn drifts(self) -> bool {
        self.preset().refresh == Refresh::Never
    }

    /// Whether its history stops growing.
    #[must_use]
    pub fn compresses(self) -> bool {
        self.preset().compress
    }
}

impl Preset {
    /// Whether a turn retrieves, that finds the conversation with sources or without.
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
    /// It does.
    Retrieve,
    /// It keeps the sources that there are, if there are any.
    Keep,
    /// It does where the share that these have, beside the history as it goes into the prompt, is below the least: the
    /// share has to be measured first.
    BelowLeastShare,
}

impl Decision {
    /// The last word. `share` is asked for where it decides, and gives the share and the least.
    ///
    /// # Errors
    /// Those of `share`.
    pub fn settle<E>(self, share: impl FnOnce() -> Result<(f64, f64), E>) -> Result<bool, E> {
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
        let decide = |share: &f64| {
            let share = || Ok::<_, ()>((*share, 0.9));
            let fresh = preset.retrieves(has_sources).settle(share).unwrap();
            has_sources |= fresh;
            fresh
        };
        shares.iter().map(decide).collect()
    }

    #[test]
    fn a_conversation_under_each_strategy() {
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
    fn never_is_the_first_turn_and_a_demand_is_met() {
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
    fn the_share_is_measured_only_where_it_decides() {
        let unmeasured = || -> Result<(f64, f64), ()> { Err(()) };
        assert_eq!(Decision::Retrieve.settle(unmeasured), Ok(true));
        assert_eq!(Decision::Keep.settle(unmeasured), Ok(false));
        assert_eq!(Decision::BelowLeastShare.settle(unmeasured), Err(()));
        // At the least itself nothing is due.
        let at = |share| Decision::BelowLeastShare.settle(|| Ok::<_, ()>((share, 0.9)));
        assert_eq!((at(0.9), at(0.899)), (Ok(false), Ok(true)));
    }

    #[test]
    fn names_are_those_of_the_json() {
        for strategy in Strategy::ALL {
            assert_eq!(serde_json::to_value(strategy).unwrap(), strategy.name());
        }
    }
}
