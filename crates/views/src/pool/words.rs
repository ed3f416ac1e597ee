//! How is it said how far a pool is, and what each of its nodes waits for?

use schedule::{Instant, Zone};
use tidegate_core::{
    cluster::{overview::Row, phase::Phase},
    gate::pending::Course,
    policy::verdict::Verdict,
};

use super::{NodeProgress, PoolProgress};
use crate::{spoken, status};

impl PoolProgress {
    /// How far it is, in a sentence.
    pub fn sentence(&self, at: Instant, zone: &Zone) -> String {
        let (name, all) = (&self.name, self.nodes.len());
        if all == 0 {
            return format!("{name} has no nodes.");
        }
        if self.target.is_none() {
            return format!("Nobody can tell where {name} goes: it has no rendered configuration.");
        }
        let stuck = self.stuck();
        if stuck > 0 {
            let nodes = if stuck == 1 { "node" } else { "nodes" };
            let stuck = spoken::capital(&spoken::count(stuck));
            return format!("{stuck} {nodes} of {name} cannot go on.");
        }
        let (done, waiting) = (self.done(), self.count(&Phase::Waiting));
        let moving = self.moving();
        let silent = self.count(&Phase::Silent);
        if done == all {
            return match all {
                1 => format!("The node of {name} has what it is to have."),
                all => format!(
                    "All {} nodes of {name} have what they are to have.",
                    spoken::count(all)
                ),
            };
        }
        let mut said = vec![match done {
            0 => format!("None of the {} nodes of {name} is done", spoken::count(all)),
            1 => format!("One of the {} nodes of {name} is done", spoken::count(all)),
            done => {
                let done = spoken::capital(&spoken::count(done));
                format!("{done} of the {} nodes of {name} are done", spoken::count(all))
            }
        }];
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        if moving > 0 {
            said.push(format!("{} {} under way", spoken::count(moving), are(moving)));
        }
        if waiting > 0 {
            let wait = if waiting == 1 { "waits" } else { "wait" };
            said.push(format!("{} {wait}{}", spoken::count(waiting), self.held_until(at, zone)));
        }
        if silent > 0 {
            let say = if silent == 1 { "says" } else { "say" };
            said.push(format!("{} {say} nothing", spoken::count(silent)));
        }
        let last = said.pop().unwrap_or_default();
        match said.as_slice() {
            [] => format!("{last}."),
            [first] => format!("{first}; {last}."),
            several => format!("{} and {last}.", several.join(", ")),
        }
    }

    /// The same in a few words, for the title of a page: `worker: 3 of 12 done`.
    pub fn title(&self) -> String {
        if self.target.is_none() {
            return format!("{}: cannot tell", self.name);
        }
        format!("{}: {} of {} done", self.name, self.done(), self.nodes.len())
    }

    /// How many may be away at once, how many are, and who goes next.
    pub fn budget(&self) -> String {
        let Some(queue) = &self.queue else { return String::new() };
        let (at_once, away) = (spoken::count(queue.at_once), spoken::count(queue.away));
        let may = match queue.at_once {
            1 => "One node may be away at once".to_owned(),
            _ => format!("{} nodes may be away at once", spoken::capital(&at_once)),
        };
        let is = if queue.away == 1 { "is" } else { "are" };
        let away = if queue.away == 0 { "none is".to_owned() } else { format!("{away} {is}") };
        format!("{may}; {away}.")
    }

    /// What a node waits for, in a few words; none if for nothing.
    pub fn waits_for(&self, node: &NodeProgress, at: Instant, zone: &Zone) -> Option<String> {
        match &node.phase {
            Phase::Done | Phase::Applying => None,
            Phase::Draining(None) => Some("its workloads leave".into()),
            Phase::Draining(Some(blocked)) => {
                Some(format!("its workloads cannot leave: {blocked}"))
            }
            Phase::Failing(why) => Some(format!("somebody: {why}")),
            Phase::Silent => Some("a word of its agent".into()),
            Phase::Waiting => Some(self.in_the_way(&node.name, at, zone)),
        }
    }

    /// What is in the way of a node that nobody has told to go.
    fn in_the_way(&self, node: &str, at: Instant, zone: &Zone) -> String {
        let Some(row) = &self.row else { return "its turn".into() };
        match (&row.pending.course, row.verdict) {
            (Course::Stopped(stop), _) => return format!("the pool: {stop}"),
            (Course::Gate, Verdict::Held) => {
                return match status::end(row) {
                    Some(end) => format!("its gate, until {}", spoken::when(end, at, zone)),
                    None => "its gate, which has no end".into(),
                };
            }
            (Course::Gate, Verdict::CannotTell) => {
                return "its gate, and nobody can tell until when".into();
            }
            (Course::Gate, Verdict::Permitted) | (Course::Anyway(_), _) => {}
        }
        let place = self.queue.as_ref().and_then(|queue| {
            let place = queue.waiting.iter().position(|name| name == node)?;
            Some(if place < queue.room() { "it goes now".to_owned() } else { turn(place) })
        });
        place.unwrap_or_else(|| "somebody: it takes no workloads, or is not ready".into())
    }

    /// Until when those who wait do that, where the gate says so.
    fn held_until(&self, at: Instant, zone: &Zone) -> String {
        let held = self.row.as_ref().filter(|row| row.verdict != Verdict::Permitted);
        let end = held.and_then(gate_end);
        end.map_or_else(String::new, |end| format!(" until {}", spoken::when(end, at, zone)))
    }

    /// How many are on their way.
    pub fn moving(&self) -> usize {
        let moves =
            |node: &&NodeProgress| matches!(node.phase, Phase::Applying | Phase::Draining(_));
        self.nodes.iter().filter(moves).count()
    }

    /// How many cannot go on by themselves.
    pub fn stuck(&self) -> usize {
        let is_stuck = |node: &&NodeProgress| {
            matches!(node.phase, Phase::Failing(_) | Phase::Draining(Some(_)))
        };
        self.nodes.iter().filter(is_stuck).count()
    }

    fn count(&self, phase: &Phase) -> usize {
        self.nodes.iter().filter(|node| node.phase == *phase).count()
    }
}

/// How far all pools of a cluster are, in a sentence.
pub fn sentence(pools: &[PoolProgress]) -> String {
    let sum = |of: fn(&PoolProgress) -> usize| pools.iter().map(of).sum::<usize>();
    let (all, done) = (sum(|pool| pool.nodes.len()), sum(PoolProgress::done));
    let (stuck, moving) = (sum(PoolProgress::stuck), sum(PoolProgress::moving));
    let is = |count: usize| if count == 1 { "is" } else { "are" };
    if pools.is_empty() {
        return "This cluster has no machine config pools.".into();
    }
    if all == 0 {
        return "No pool has a node.".into();
    }
    if done == all {
        return "Every node has what it is to have.".into();
    }
    let told = |count: usize| spoken::capital(&spoken::count(count));
    let behind = all - done;
    let lack = if behind == 1 { "lacks what it is" } else { "lack what they are" };
    let most = format!("{} of {} nodes {lack} to have", told(behind), spoken::count(all));
    match (moving, stuck) {
        (0, 0) => format!("{most}; none is under way."),
        (moving, 0) => format!("{most}; {} {} under way.", spoken::count(moving), is(moving)),
        (_, stuck) => format!("{most}; {} cannot go on.", spoken::count(stuck)),
    }
}

fn gate_end(row: &Row) -> Option<Instant> {
    status::end(row).filter(|_| row.verdict == Verdict::Held)
}

/// `its turn: it is next`, `its turn: two go before it`.
fn turn(place: usize) -> String {
    match place {
        0 => "its turn: it is next".into(),
        1 => "its turn: one goes before it".into(),
        many => format!("its turn: {} go before it", spoken::count(many)),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::pool::queue::Queue;

    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    fn pool(phases: &[Phase], room: usize) -> PoolProgress {
        let nodes = phases.iter().enumerate().map(|(place, phase)| NodeProgress {
            name: format!("node-{place}"),
            phase: phase.clone(),
            current: "a".into(),
            desired: "a".into(),
            zone: None,
            since: None,
            away: false,
        });
        let nodes: Vec<NodeProgress> = nodes.collect();
        let waits = |node: &&NodeProgress| node.phase == Phase::Waiting;
        let waiting = nodes.iter().filter(waits).map(|node| node.name.clone()).collect();
        PoolProgress {
            name: "worker".into(),
            row: None,
            target: Some("b".into()),
            queue: Some(Queue { at_once: 2, away: 2 - room, waiting }),
            nodes,
        }
    }

    fn said(phases: &[Phase]) -> String {
        pool(phases, 0).sentence(at("2026-11-18T09:00:00Z"), &Zone::utc())
    }

    #[test]
    fn a_sentence_says_how_far_a_pool_is() {
        let (done, waiting) = (Phase::Done, Phase::Waiting);
        for (phases, expected) in [
            (vec![], "worker has no nodes."),
            (vec![done.clone()], "The node of worker has what it is to have."),
            (vec![done.clone(); 3], "All three nodes of worker have what they are to have."),
            (vec![waiting.clone(); 2], "None of the two nodes of worker is done; two wait."),
            (
                vec![done.clone(), Phase::Applying, Phase::Draining(None), waiting.clone()],
                "One of the four nodes of worker is done, two are under way and one waits.",
            ),
            (
                vec![done.clone(), Phase::Silent],
                "One of the two nodes of worker is done; one says nothing.",
            ),
            (
                vec![done.clone(), Phase::Failing("disk full".into())],
                "One node of worker cannot go on.",
            ),
            (
                vec![Phase::Draining(Some("budget".into())), Phase::Failing("disk full".into())],
                "Two nodes of worker cannot go on.",
            ),
        ] {
            assert_eq!(said(&phases), expected);
        }
        let unknown = PoolProgress { target: None, ..pool(&[done], 0) };
        let said = unknown.sentence(at("2026-11-18T09:00:00Z"), &Zone::utc());
        assert_eq!(said, "Nobody can tell where worker goes: it has no rendered configuration.");
    }

    #[test]
    fn a_sentence_says_how_far_all_pools_are() {
        let (done, waiting) = (Phase::Done, Phase::Waiting);
        let one = |phases: &[Phase]| sentence(&[pool(phases, 0), pool(&[Phase::Done], 0)]);
        assert_eq!(sentence(&[]), "This cluster has no machine config pools.");
        assert_eq!(sentence(&[pool(&[], 0)]), "No pool has a node.");
        assert_eq!(one(std::slice::from_ref(&done)), "Every node has what it is to have.");
        let said = one(&[done.clone(), waiting.clone()]);
        assert_eq!(said, "One of three nodes lacks what it is to have; none is under way.");
        let said = one(&[Phase::Applying, waiting]);
        assert_eq!(said, "Two of three nodes lack what they are to have; one is under way.");
        let said = one(&[Phase::Failing("disk full".into()), done]);
        assert_eq!(said, "One of three nodes lacks what it is to have; one cannot go on.");
    }

    #[test]
    fn budgets_are_told_in_words() {
        let pool = pool(&[Phase::Waiting, Phase::Waiting], 1);
        assert_eq!(pool.budget(), "Two nodes may be away at once; one is.");
        assert_eq!(turn(0), "its turn: it is next");
        assert_eq!(turn(2), "its turn: two go before it");
    }
}
