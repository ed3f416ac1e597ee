//! What is the case now? One sentence, what needs somebody, what holds how many, what comes next, and what people did.
//!
//! A value made from the rows of `tidegate status` and from what people wrote; a page draws it. At ten thousand resources people want causes,
//! not resources: same state, same end, same decider is one cause with a count.

use std::collections::{BTreeMap, BTreeSet};

use schedule::{Instant, Zone};
use tidegate_core::{
    cluster::{
        overview::{Overridden, Row},
        phase::{self, Phase},
        snapshot::Snapshot,
    },
    document::key::Key,
    policy::verdict::Verdict,
};

use crate::{
    spoken,
    status::{self, Rows},
};

/// So many of the next edges are told.
const EDGES: usize = 6;

/// So many of the things that people did are told.
const DEEDS: usize = 6;

/// Everything that is said of a cluster at an instant.
#[derive(Clone, Debug)]
pub struct Now {
    /// How many resources are how.
    pub counts: Counts,
    /// The next gate that opens by itself.
    pub opening: Option<Opening>,
    /// What needs somebody.
    pub troubles: Vec<Trouble>,
    /// Why resources are as they are, the most frequent first.
    pub causes: Vec<Cause>,
    /// What happens next, the soonest first.
    pub edges: Vec<Edge>,
    /// The freezes and overrides that people wrote and that are not over, the newest first.
    pub deeds: Vec<Deed>,
    /// The freeze that holds every resource, if one does.
    pub frozen: Option<Deed>,
}

/// How many resources are how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub total: usize,
    /// Those that may change.
    pub open: usize,
    /// Those about which nobody can tell; they are held too.
    pub unknown: usize,
    /// Those with something that waits.
    pub waiting: usize,
    /// Those that an override opens, or whose stanza sets its policy aside.
    pub overridden: usize,
}

impl Counts {
    /// Those that may not change.
    pub fn held(&self) -> usize {
        self.total - self.open
    }
}

/// The next gate that opens by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// When.
    pub at: Instant,
    /// The first that does.
    pub first: Key,
    /// How many do then.
    pub count: usize,
    /// How many of them have something that waits.
    pub waiting: usize,
}

/// How a resource is, as it is drawn and said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Manner {
    /// It may change.
    Open,
    /// It may change, because somebody set its windows aside.
    Overridden,
    /// It may not change.
    Held,
    /// It may not change, because its stanza says so.
    HeldByHand,
    /// It may not change, because of a freeze.
    Frozen,
    /// Nobody can tell.
    Unknown,
}

impl Manner {
    /// How the resource of a row is.
    pub fn of(row: &Row) -> Self {
        let by_hand = row.overridden == Overridden::Yes;
        match row.verdict {
            Verdict::CannotTell => Self::Unknown,
            Verdict::Permitted if by_hand || row.opened.is_some() => Self::Overridden,
            Verdict::Permitted => Self::Open,
            Verdict::Held if row.frozen.is_some() => Self::Frozen,
            Verdict::Held if by_hand => Self::HeldByHand,
            Verdict::Held => Self::Held,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Overridden => "open by override",
            Self::Held => "held",
            Self::HeldByHand => "held by hand",
            Self::Frozen => "frozen",
            Self::Unknown => "held, no end known",
        }
    }
}

/// Why some resources are as they are.
#[derive(Clone, Debug)]
pub struct Cause {
    /// What they have in common.
    pub key: CauseKey,
    /// Their places among the rows.
    pub rows: Vec<usize>,
    /// How many of them have something that waits.
    pub waiting: usize,
    /// The policies that they name.
    pub policies: BTreeSet<Key>,
    /// The first end among theirs.
    pub first_end: Option<Instant>,
    /// Whether all of them have that end.
    pub same_end: bool,
}

/// What resources have in common whose state has one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CauseKey {
    /// How they are.
    pub manner: Manner,
    /// When that ends; what people do by hand ends when it ends.
    pub end: Option<Instant>,
    /// The freeze, if one holds them.
    pub freeze: Option<Key>,
}

/// Something that needs somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it is about; the first of several.
    pub object: Key,
    /// How many it is about.
    pub count: usize,
    /// What is wrong.
    pub what: String,
    /// What that means.
    pub meaning: String,
}

/// Something that happens by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When.
    pub at: Instant,
    /// What.
    pub turn: Turn,
    /// To what; the first of several.
    pub first: Key,
    /// To how many.
    pub count: usize,
    /// Until when it lasts then, if that is known and the same for all.
    pub until: Option<Instant>,
    /// How many of them have something that waits.
    pub waiting: usize,
}

/// What happens at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Gates open.
    Opens,
    /// Gates shut.
    Shuts,
    /// A freeze begins.
    FreezeBegins,
    /// A freeze ends.
    FreezeEnds,
    /// An override ends.
    OverrideEnds,
}

impl Turn {
    /// In a word, behind what it happens to.
    pub fn word(self) -> &'static str {
        match self {
            Self::Opens => "opens",
            Self::Shuts => "shuts",
            Self::FreezeBegins => "begins",
            Self::FreezeEnds | Self::OverrideEnds => "ends",
        }
    }
}

/// Something that somebody wrote to stop or to open something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The object.
    pub key: Key,
    /// What it is about, where that is one thing.
    pub target: Option<Key>,
    /// Who signed it.
    pub by: Option<String>,
    /// Why, in their words.
    pub reason: String,
    /// Since when, as far as that is known.
    pub from: Option<Instant>,
    /// Until when, if it ends by itself.
    pub until: Option<Instant>,
    /// Whether it has begun.
    pub begun: bool,
    /// Whether it stops or opens.
    pub stops: bool,
}

impl Now {
    /// What is said of a cluster, from its rows.
    pub fn new(rows: &Rows, snapshot: &Snapshot, at: Instant) -> Self {
        let deeds = deeds(snapshot, at);
        let frozen = rows.resources.first().and_then(|row| row.frozen.clone());
        let frozen = frozen
            .filter(|freeze| rows.resources.iter().all(|row| row.frozen.as_ref() == Some(freeze)));
        Self {
            counts: counts(&rows.resources),
            opening: opening(&rows.resources, at),
            troubles: troubles(rows, snapshot),
            causes: causes(&rows.resources),
            edges: edges(&rows.resources, snapshot, at),
            frozen: frozen.and_then(|key| deeds.iter().find(|deed| deed.key == key).cloned()),
            deeds: deeds.into_iter().take(DEEDS).collect(),
        }
    }

    /// The answer, in a sentence or two.
    pub fn sentence(&self, at: Instant, zone: &Zone) -> String {
        let Counts { total, open, unknown, .. } = self.counts;
        if total == 0 {
            return "Nothing is gated yet.".into();
        }
        if unknown == total {
            return "Not everything is known. Held until it is.".into();
        }
        if let Some(freeze) = &self.frozen {
            let until = freeze.until.map_or_else(
                || "Frozen until further notice".to_owned(),
                |until| format!("Frozen until {}", spoken::when(until, at, zone)),
            );
            return format!("{until}: {}.", freeze.reason.trim_end_matches('.'));
        }
        if open == total {
            return "Everything may change. Nothing is held.".into();
        }
        let held = if open == 0 {
            "Everything is held.".to_owned()
        } else {
            let (held, total) = (spoken::count(self.counts.held()), spoken::count(total));
            let is = if self.counts.held() == 1 { "is" } else { "are" };
            format!("{} of {total} {is} held.", spoken::capital(&held))
        };
        let Some(next) = &self.opening else { return format!("{held} No gate opens by itself.") };
        let length = spoken::length(next.at.unix() - at.unix());
        let gates = if next.count == 1 { "gate opens" } else { "gates open" };
        format!("{held} The next {gates} in {length}.")
    }

    /// The answer in a few words, for the title of a page: `5 held`.
    pub fn title(&self) -> String {
        match self.counts {
            Counts { total: 0, .. } => "nothing gated".into(),
            Counts { total, open, .. } if total == open => "all open".into(),
            counts => format!("{} held", spoken::thousands(counts.held())),
        }
    }

    /// What else there is to say, in sentences.
    pub fn details(&self, at: Instant, zone: &Zone) -> Vec<String> {
        let mut said = Vec::new();
        if self.counts.total == 0 {
            return vec!["A policy says when; three lines in a resource name it.".into()];
        }
        if let Some(next) = &self.opening {
            let when = spoken::when_in_a_sentence(next.at, at, zone);
            said.push(match next.count {
                1 => format!("{} opens {when}.", next.first),
                count => {
                    format!("{} and {} more open {when}.", next.first, spoken::count(count - 1))
                }
            });
        }
        let (changes, wait) = match self.counts.waiting {
            0 => ("no change", "waits"),
            1 => ("one change", "waits"),
            _ => ("changes", "wait"),
        };
        let number = match self.counts.waiting {
            0 | 1 => String::new(),
            waiting => format!("{} ", spoken::count(waiting)),
        };
        said.push(spoken::capital(&format!("{number}{changes} {wait}.")));
        match self.counts.overridden {
            0 => {}
            1 => said.push("One resource is overridden.".into()),
            many => {
                let many = spoken::capital(&spoken::count(many));
                said.push(format!("{many} resources are overridden."));
            }
        }
        said
    }
}

fn counts(rows: &[Row]) -> Counts {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    Counts {
        total: rows.len(),
        open: count(&|row| row.verdict == Verdict::Permitted),
        unknown: count(&|row| row.verdict == Verdict::CannotTell),
        waiting: count(&|row| !row.pending.waiting.is_empty()),
        overridden: count(&|row| {
            matches!(Manner::of(row), Manner::Overridden | Manner::HeldByHand)
        }),
    }
}

/// Whether a row says that its gate opens at the end of its state, and when.
fn opens(row: &Row) -> Option<Instant> {
    let opens = row.verdict != Verdict::Permitted && row.next == Some(Verdict::Permitted);
    status::end(row).filter(|_| opens)
}

fn opening(rows: &[Row], now: Instant) -> Option<Opening> {
    let ahead = |row: &Row| opens(row).filter(|at| *at > now);
    let at = rows.iter().filter_map(ahead).min()?;
    let mut then = rows.iter().filter(|row| ahead(row) == Some(at));
    let waiting = then.clone().filter(|row| !row.pending.waiting.is_empty()).count();
    let count = then.clone().count();
    Some(Opening { at, first: then.next()?.object.clone(), count, waiting })
}

fn causes(rows: &[Row]) -> Vec<Cause> {
    let mut found: BTreeMap<CauseKey, Cause> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        let manner = Manner::of(row);
        let end = status::end(row);
        let by_hand = matches!(manner, Manner::Overridden | Manner::HeldByHand);
        let key = CauseKey {
            manner,
            end: end.filter(|_| !by_hand),
            freeze: row.frozen.clone().filter(|_| manner == Manner::Frozen),
        };
        let cause = found.entry(key.clone()).or_insert_with(|| Cause {
            key,
            rows: Vec::new(),
            waiting: 0,
            policies: BTreeSet::new(),
            first_end: end,
            same_end: true,
        });
        cause.rows.push(place);
        cause.waiting += usize::from(!row.pending.waiting.is_empty());
        cause.policies.extend(row.policy.clone());
        cause.same_end &= cause.first_end == end;
        cause.first_end = match (cause.first_end, end) {
            (Some(first), Some(end)) => Some(first.min(end)),
            (first, end) => first.or(end),
        };
    }
    let mut found: Vec<Cause> = found.into_values().collect();
    found.sort_by_key(|cause| (cause.key.manner == Manner::Unknown, usize::MAX - cause.rows.len()));
    found
}

/// What needs somebody: doubt, updates that would not start, changes that did not ask, nodes that do not go on.
fn troubles(rows: &Rows, snapshot: &Snapshot) -> Vec<Trouble> {
    let mut said: BTreeMap<(u8, String), Trouble> = BTreeMap::new();
    let mut say = |rank: u8, object: &Key, what: String, meaning: &str| {
        let trouble = said.entry((rank, what.clone())).or_insert_with(|| Trouble {
            object: object.clone(),
            count: 0,
            what,
            meaning: meaning.to_owned(),
        });
        trouble.count += 1;
    };
    for row in rows.iter().filter(|row| row.verdict == Verdict::CannotTell) {
        let meaning = if row.object.is_policy() {
            "Whatever names it is held."
        } else {
            "Everything on it is held, and no end is known."
        };
        say(0, &row.object, row.behavior.current.reason.clone(), meaning);
    }
    for pool in snapshot.pools() {
        for machine in phase::machines(snapshot, pool) {
            let (what, meaning) = match &machine.phase {
                Phase::Failing(why) => (why, "The node cannot go on."),
                Phase::Draining(Some(why)) => (why, "The node is being emptied, and waits."),
                Phase::Draining(None)
                | Phase::Done
                | Phase::Waiting
                | Phase::Applying
                | Phase::Silent => continue,
            };
            let what = format!("{}: {what}", machine.node.name);
            say(1, &pool.key(), what, meaning);
        }
    }
    for row in &rows.resources {
        if let Some(began) = row.outside {
            let what = format!("A change began at {began}, while changes were held.");
            say(2, &row.object, what, "Whoever began it did not ask the gate.");
        }
        if let Some(why) = &row.unmet {
            say(
                3,
                &row.object,
                why.clone(),
                "What waits would not start if changes were permitted.",
            );
        }
    }
    said.into_values().collect()
}

fn edges(rows: &[Row], snapshot: &Snapshot, now: Instant) -> Vec<Edge> {
    let mut found: BTreeMap<(Instant, Turn), Edge> = BTreeMap::new();
    let mut add = |edge: Edge| {
        found
            .entry((edge.at, edge.turn))
            .and_modify(|known| {
                known.count += 1;
                known.waiting += edge.waiting;
                if known.until != edge.until {
                    known.until = None;
                }
            })
            .or_insert(edge);
    };
    for row in rows {
        let Some(at) = status::end(row).filter(|at| *at > now) else { continue };
        let turn = match (row.verdict, row.next) {
            (Verdict::Permitted, Some(Verdict::Held)) => Turn::Shuts,
            (Verdict::Held, Some(Verdict::Permitted)) => Turn::Opens,
            _ => continue,
        };
        let then = row.behavior.next.as_ref().and_then(|next| next.end_time.as_deref());
        let until = then.and_then(|end| Instant::parse(end).ok());
        let waiting = usize::from(!row.pending.waiting.is_empty());
        add(Edge { at, turn, first: row.object.clone(), count: 1, until, waiting });
    }
    for freeze in snapshot.freezes() {
        let Some(at) = freeze.next_edge(now) else { continue };
        let turn = if freeze.is_in_force(now) { Turn::FreezeEnds } else { Turn::FreezeBegins };
        let until = freeze.until.filter(|_| turn == Turn::FreezeBegins);
        add(Edge { at, turn, first: freeze.key.clone(), count: 1, until, waiting: 0 });
    }
    for one in snapshot.overrides().filter(|one| one.is_in_force(now)) {
        let Some(at) = one.until else { continue };
        let (turn, first) = (Turn::OverrideEnds, one.key.clone());
        add(Edge { at, turn, first, count: 1, until: None, waiting: 0 });
    }
    found.into_values().take(EDGES).collect()
}

/// Every freeze and override that is not over, the newest first.
pub fn deeds(snapshot: &Snapshot, at: Instant) -> Vec<Deed> {
    let freezes = snapshot.freezes().filter(|freeze| freeze.is_ahead(at)).map(|freeze| Deed {
        key: freeze.key.clone(),
        target: None,
        by: freeze.by.clone(),
        reason: freeze.reason.clone(),
        from: freeze.from,
        until: freeze.until,
        begun: freeze.is_in_force(at),
        stops: true,
    });
    let overrides = snapshot.overrides().filter(|one| one.is_ahead(at)).map(|one| Deed {
        key: one.key.clone(),
        target: one.target.clone(),
        by: one.by.clone(),
        reason: one.reason.clone(),
        from: one.from,
        until: one.until,
        begun: one.is_in_force(at),
        stops: false,
    });
    let mut deeds: Vec<Deed> = freezes.chain(overrides).collect();
    deeds.sort_by_key(|deed| std::cmp::Reverse(deed.from));
    deeds
}

#[cfg(test)]
mod tests;
