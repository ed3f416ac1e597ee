//! What is likelier in some worlds than in others? A directed world raises the odds of what any world may hold, so that a rare mishap is
//! met within a few seeds.
//!
//! It takes what was drawn and answers what is, and draws nothing itself: an ordinary world is the same story as without it. Honest
//! operators keep every promise in each of them; `every_planted_bug_is_found` plays that too, because a bug that is found only where
//! honest ones fail as well is no find.

use std::time::Duration;

use apiserver::{Fault, Profile, RequestMatch, Scripted};
use operator::Updates;
use serde_json::{Value, json};

use super::{
    cast::{Clocks, Leaders},
    stage::Guards,
    story::Forecast,
};

/// A kind of world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum World {
    /// As it falls.
    Any,
    /// A pool of few nodes, and two hours in which much is done.
    Busy,
    /// That, in good weather, with right clocks.
    Fair,
    /// That, with gates that are open for some minutes more.
    Brief,
    /// That, with a single node.
    Lone,
    /// That, with policies that take days out.
    Excluding,
    /// That, with policies and stanzas that somebody misspelt.
    Misspelt,
    /// That, and for a while nothing on the server refuses; so strangers stay away.
    Unguarded,
    /// A busy one in good weather, whose gates are open for some minutes more, and whose people freeze what they see going.
    Frozen,
    /// A busy one in good weather, whose gates are shut, and whose people open them, think better of it, and freeze what they see going.
    Hurried,
    /// A busy one with masters, in good weather, whose people stop half-way.
    Masters,
    /// That, whose owner of the control plane asks for releases whenever it likes, and installs what operators let begin.
    Updating,
    /// A busy one whose two operators both believe that they lead, in foul weather.
    Rivals,
    /// Watches fall silent and lists are old, many nodes may go at once, and people stop them half-way.
    Silent,
    /// Many nodes may go at once, people stop them half-way, no watch of what can hold ever says anything, and nothing else goes wrong.
    Hushed,
    /// A busy one in which many writes are held up on their way, and what they were decided for has changed when they arrive.
    Late,
    /// A busy one in which kubelets register anew and say what they would like to run.
    Joining,
    /// A busy one in which strangers forge stamps.
    Stamped,
    /// A busy one in which whoever has the token of a node's agent asks for a drain of that node.
    Asking,
    /// Many nodes in one pool, half of which may be away, and people who seldom stop them: as much is begun as can be.
    Throng,
}

impl World {
    fn is_small(self) -> bool {
        self != Self::Any
    }

    pub(crate) fn weather(self, drawn: Forecast) -> Forecast {
        match self {
            Self::Any | Self::Busy | Self::Throng => drawn,
            Self::Rivals | Self::Silent | Self::Hushed | Self::Late => Forecast::Foul,
            Self::Fair
            | Self::Brief
            | Self::Lone
            | Self::Excluding
            | Self::Misspelt
            | Self::Unguarded
            | Self::Frozen
            | Self::Hurried
            | Self::Masters
            | Self::Updating
            | Self::Joining
            | Self::Stamped
            | Self::Asking => Forecast::Fair,
        }
    }

    pub(crate) fn clocks(self, drawn: Clocks) -> Clocks {
        let may_be_wrong = [Self::Any, Self::Busy, Self::Throng].contains(&self);
        if may_be_wrong { drawn } else { Clocks::Right }
    }

    pub(crate) fn leaders(self, drawn: Leaders) -> Leaders {
        match self {
            Self::Any | Self::Busy | Self::Throng => drawn,
            Self::Rivals => Leaders::Two,
            _ => Leaders::One,
        }
    }

    pub(crate) fn profile(self, drawn: Profile) -> Profile {
        let latency = Duration::from_secs(2);
        match self {
            Self::Rivals => Profile { latency, ..drawn },
            Self::Silent => Profile { latency, silence_watch: 0.6, stale_list: 0.2, ..drawn },
            Self::Hushed => Profile { latency, ..Profile::default() },
            Self::Late => Profile::default(),
            _ => drawn,
        }
    }

    /// What goes wrong beside that, each time.
    pub(crate) fn scripted(self) -> Vec<Scripted> {
        /// More watches than are opened in its hour.
        const WATCHES: u32 = 200;
        let holds = ["changemanagementpolicies", "machineconfigpools"];
        let silence = |resource: &str, nth| Scripted {
            matching: RequestMatch {
                verb: Some("watch".into()),
                resource: Some(resource.into()),
                ..RequestMatch::default()
            },
            nth,
            fault: Fault::SilenceWatch(0),
        };
        let each = |resource| (1..=WATCHES).map(move |nth| silence(resource, nth));
        if self == Self::Hushed { holds.into_iter().flat_map(each).collect() } else { Vec::new() }
    }

    /// How many writes of a hundred are held up in foul weather, and how many are their sender's last.
    pub(crate) fn storm(self) -> (u64, u64) {
        match self {
            Self::Hushed => (0, 0),
            Self::Late => (40, 0),
            _ => (3, 3),
        }
    }

    /// How many hours the faults last.
    pub(crate) fn hours(self, drawn: i64) -> i64 {
        match self {
            Self::Any => drawn,
            Self::Throng => 4,
            Self::Hushed => 1,
            _ => 2,
        }
    }

    /// How long people rest, in seconds.
    pub(crate) fn rest(self, drawn: i64) -> i64 {
        if self.is_small() { drawn.min(120) } else { drawn }
    }

    pub(crate) fn pools(self, drawn: usize) -> usize {
        if self.is_small() { 1 } else { drawn }
    }

    pub(crate) fn machines(self, drawn: i64) -> i64 {
        match self {
            Self::Any => drawn,
            Self::Silent | Self::Hushed => 6 + drawn / 3,
            Self::Throng => 20 + drawn,
            Self::Lone => 1,
            _ => 3 + drawn / 5,
        }
    }

    /// Whether there is a control plane.
    pub(crate) fn has_owner(self, drawn: bool) -> bool {
        match self {
            Self::Any | Self::Busy | Self::Throng => drawn,
            Self::Masters | Self::Updating => true,
            _ => false,
        }
    }

    /// Who starts updates of the control plane.
    pub(crate) fn updates(self) -> Updates {
        if self == Self::Updating { Updates::Started } else { Updates::Watched }
    }

    /// How many nodes may be away.
    pub(crate) fn limit(self, drawn: Value) -> Value {
        match self {
            Self::Silent | Self::Hushed => json!("80%"),
            Self::Throng => json!("50%"),
            _ => drawn,
        }
    }

    /// How often of a hundred times somebody who sees nodes go stops them.
    pub(crate) fn stops(self) -> u64 {
        match self {
            Self::Silent | Self::Masters | Self::Updating => 40,
            // Seldom enough that there is something left to begin.
            Self::Hushed => 20,
            Self::Throng => 1,
            _ => 6,
        }
    }

    /// How often of a hundred times people who do something freeze something too, or thaw it.
    pub(crate) fn freezes(self) -> u64 {
        match self {
            Self::Frozen => 25,
            Self::Hurried => 15,
            Self::Any | Self::Busy | Self::Rivals | Self::Silent | Self::Late => 3,
            Self::Updating => 5,
            // There something else is sought.
            _ => 0,
        }
    }

    /// How often of a hundred times somebody who sees nodes go freezes everything.
    pub(crate) fn freezes_what_goes(self) -> u64 {
        match self {
            Self::Frozen => 30,
            Self::Hurried => 10,
            Self::Any | Self::Busy | Self::Rivals | Self::Silent | Self::Late => 2,
            _ => 0,
        }
    }

    /// How often of a hundred times people who do something open something too, or end what is opened.
    pub(crate) fn overrides(self) -> u64 {
        match self {
            Self::Hurried => 40,
            Self::Any
            | Self::Busy
            | Self::Rivals
            | Self::Silent
            | Self::Late
            | Self::Masters
            | Self::Updating => 6,
            // There something else is sought.
            _ => 0,
        }
    }

    /// How often of a hundred times somebody who sees nodes go ends an override.
    pub(crate) fn ends_what_goes(self) -> u64 {
        match self {
            Self::Hurried => 20,
            _ if self.overrides() > 0 => 10,
            _ => 0,
        }
    }

    /// For how many seconds an override lasts.
    pub(crate) fn overridden_for(self, drawn: i64) -> i64 {
        if self == Self::Hurried { drawn / 4 } else { drawn }
    }

    /// How often of a hundred times whoever stops them edits the policy, where the stanza names one.
    pub(crate) fn stops_by_policy(self) -> u64 {
        if self == Self::Hushed { 90 } else { 50 }
    }

    /// What people do: up to the seventh they configure, and where much is begun they do so instead of pausing, pinning and the like.
    pub(crate) fn deed(self, drawn: i64) -> i64 {
        if self == Self::Throng && drawn > 15 && drawn % 2 == 0 { 0 } else { drawn }
    }

    /// After how many minutes what a stanza says ends.
    pub(crate) fn minutes(self, drawn: i64) -> i64 {
        if self == Self::Brief { 3 + drawn % 20 } else { drawn }
    }

    /// How many schedules of a hundred take days out.
    pub(crate) fn excludes(self) -> u64 {
        if self == Self::Excluding { 90 } else { 35 }
    }

    /// Which of twenty forms a policy has: the first permits everything, the third cannot be used.
    pub(crate) fn policy(self, drawn: i64) -> i64 {
        match self {
            Self::Misspelt if drawn > 12 => 2,
            Self::Hushed if drawn > 9 => 0,
            _ => drawn,
        }
    }

    /// Whether what somebody writes at an instant, and nobody can use, is misspelt.
    pub(crate) fn misspells(self, now: i64) -> bool {
        self == Self::Misspelt || now / 60 % 2 == 0
    }

    /// Which of twelve forms a stanza has: the third permits nothing, the fourth everything for a while, the last ask a policy.
    pub(crate) fn stanza(self, drawn: i64) -> i64 {
        match self {
            Self::Misspelt if drawn > 8 => 2,
            Self::Brief | Self::Throng | Self::Frozen if drawn > 4 => 3,
            Self::Hurried if drawn > 2 => 5,
            Self::Hushed => 7,
            _ => drawn,
        }
    }

    /// How many kubelets of a hundred that strike register anew.
    pub(crate) fn registers(self) -> u64 {
        if self == Self::Joining { 40 } else { 4 }
    }

    /// Who of so many strangers comes: the place of whoever has the token of an agent.
    pub(crate) fn stranger(self, drawn: usize, agent: usize) -> usize {
        if self == Self::Asking { agent } else { drawn }
    }

    /// What a stranger tries.
    pub(crate) fn trick(self, drawn: i64) -> i64 {
        match self {
            // A node that joins with what it runs; an order that is taken away.
            Self::Joining if drawn > 8 => 3,
            Self::Joining if drawn > 6 => 4,
            // Nothing but the stamps.
            Self::Stamped if drawn > 4 => 13,
            // A node is to be emptied, for what it runs.
            Self::Asking if drawn > 4 => 10,
            _ => drawn,
        }
    }

    /// Which verb a stranger takes: the place of it.
    pub(crate) fn verb(self, drawn: usize, forward: usize) -> usize {
        if self == Self::Stamped && drawn.is_multiple_of(2) { forward } else { drawn }
    }

    pub(crate) fn has_strangers(self) -> bool {
        self != Self::Unguarded
    }

    /// Whether the server refuses marks so many seconds after the start.
    pub(crate) fn guards(self, elapsed: i64) -> Guards {
        if self == Self::Unguarded && (900..5_400).contains(&elapsed) {
            Guards::Away
        } else {
            Guards::Standing
        }
    }
}
