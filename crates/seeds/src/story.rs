//! How does one seed go? People and nodes live through a day of faults; then everything stands still, and what waits must finish.

use std::{sync::Arc, time::Duration};

use apiserver::Profile;

use super::{
    cast::{Cast, Clocks, Leaders, Make},
    check::{
        Checker, Violation, is_cordoned, is_done, is_healthy, is_unavailable, limit, noted, target,
    },
    dice::Dice,
    machines::{Agents, Machines},
    owner::Owner,
    people::People,
    planted::Drainer,
    stage::{Admission, Kind, Stage, installed},
    strangers::Strangers,
    weather::Weather,
    windows,
    world::World,
};

/// 2026-11-09T00:00:00Z, a Monday.
const BASE: i64 = 1_794_182_400;
const HOUR: i64 = 3_600;

/// What a story is made of, beside its seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    pub(crate) make: Make,
    pub(crate) admission: Admission,
    /// How far all clocks of operators are off, in seconds, while there are faults.
    pub(crate) off: i64,
    pub(crate) agents: Agents,
    pub(crate) drainer: Drainer,
    pub(crate) world: World,
    /// The promise that somebody wants to see broken: the story ends when it is.
    pub(crate) sought: Option<&'static str>,
    /// How often strangers try something when they come; none: a few times, by chance.
    pub(crate) attempts: Option<i64>,
}

impl Plot {
    pub(crate) fn honest() -> Self {
        Self {
            make: Make::honest(),
            admission: installed,
            off: 0,
            agents: Agents::Careful,
            drainer: Drainer::Own,
            world: World::Any,
            sought: None,
            attempts: None,
        }
    }
}

/// What came of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) violations: Vec<Violation>,
    pub(crate) story: Vec<String>,
    pub(crate) initiations: u64,
    /// How many updates of the control plane operators let begin.
    pub(crate) updates: u64,
    /// How often somebody who means harm tried something, and how much of that the server took.
    pub(crate) attempts: (u64, u64),
    pub(crate) hours: i64,
    pub(crate) trace: u64,
}

/// Plays a seed on a runtime of its own, whose time passes when nobody has anything left to do.
pub(crate) fn play(seed: u64, plot: Plot) -> Outcome {
    in_virtual_time(async { Story::begin(seed, plot).tell(plot).await })
}

pub(super) fn in_virtual_time<T>(story: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(story)
}

pub(super) struct Story {
    pub(super) seed: u64,
    pub(super) dice: Dice,
    pub(super) start: i64,
    pub(super) stage: Arc<Stage>,
    pub(super) people: People,
    pub(super) machines: Machines,
    pub(super) cast: Cast,
    pub(super) bad: Bad,
    pub(super) strangers: Option<Strangers>,
    pub(super) drainer: Drainer,
    pub(super) sought: Option<&'static str>,
}

/// What goes wrong in a story.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bad {
    pub(super) weather: Forecast,
    pub(super) clocks: Clocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forecast {
    Fair,
    Foul,
}

impl Forecast {
    /// How long an edit may take to reach everybody: with foul weather, a watch that falls silent (GATE-11).
    fn slack(self) -> i64 {
        match self {
            Self::Fair => 10,
            Self::Foul => 65,
        }
    }

    fn profile(self, dice: &mut Dice) -> Profile {
        if self == Self::Fair {
            return Profile::default();
        }
        let (silence_watch, stale_list) = *dice.pick(&[(0.1, 0.0), (0.0, 0.1), (0.1, 0.1)]);
        Profile {
            latency: Duration::from_millis(dice.of(1..3_000) as u64),
            lose_answer: 0.04,
            conflict: 0.04,
            too_many_requests: 0.03,
            server_error: 0.04,
            cut_watch: 0.2,
            silence_watch,
            stale_list,
            compact: 0.01,
        }
    }
}

impl Story {
    fn begin(seed: u64, plot: Plot) -> Self {
        let mut dice = Dice::new(seed);
        let world = plot.world;
        let weather = if dice.percent(25) { Forecast::Fair } else { Forecast::Foul };
        let clocks = if dice.percent(30) { Clocks::Stepped } else { Clocks::Right };
        let bad = Bad { weather: world.weather(weather), clocks: world.clocks(clocks) };
        let leaders = *dice.pick(&[Leaders::One, Leaders::One, Leaders::Two, Leaders::Elected]);
        let leaders = world.leaders(leaders);
        let start = BASE + dice.of(0..14 * 24 * 60) * 60;
        let weather = Weather::new(dice.split());
        let checker = Checker::new(bad.weather.slack(), bad.clocks);
        let stage = Arc::new(Stage::new(seed, start, weather, checker));
        stage.furnish(plot.admission);
        let what = format!("{bad:?}, {leaders:?}");
        stage.checker().tell(start, &what);
        let people = People::settle(dice.split(), &stage, world);
        let machines = Machines::new(dice.split(), plot.agents);
        let cast = Cast::new(Arc::clone(&stage), dice.split(), leaders, plot.make);
        let strangers = Strangers::new(dice.split(), (plot.attempts, world));
        let strangers = world.has_strangers().then_some(strangers);
        let Plot { drainer, sought, .. } = plot;
        Self { seed, dice, start, stage, people, machines, cast, bad, strangers, drainer, sought }
    }

    async fn tell(mut self, plot: Plot) -> Outcome {
        // Long enough for an election and a first rendering.
        self.live(self.start + 200, None).await;
        self.people.populate(&self.stage);
        self.live(self.start + 260, None).await;
        self.cast.set_off(plot.off);
        let profile = plot.world.profile(self.bad.weather.profile(&mut self.dice));
        if self.bad.weather == Forecast::Foul {
            self.stage.server.draw_faults(profile, self.seed);
            for scripted in plot.world.scripted() {
                self.stage.server.script_fault(scripted);
            }
            let (holds, ends) = plot.world.storm();
            self.stage.weather.set(holds, ends);
        }
        let next = self.stage.now() + self.people.rest();
        let end = self.stage.now() + plot.world.hours(self.dice.of(5..9)) * HOUR;
        self.live(end, Some(next)).await;

        self.stage.server.heal();
        self.stage.weather.set(0, 0);
        self.machines.calm();
        self.cast.mend();
        self.stage.checker().tell(self.stage.now(), "faults stop, and people go home");
        self.people.go_home(&self.stage);
        if self.stage.checker().violations.is_empty() && self.finish().await {
            self.idle().await;
        }
        let hours = (self.stage.now() - self.start) / HOUR;
        let checker = self.stage.checker();
        Outcome {
            seed: self.seed,
            violations: checker.violations.clone(),
            story: checker.story(),
            initiations: checker.initiations,
            updates: checker.updates,
            attempts: (checker.attempts, checker.taken),
            hours,
            trace: self.stage.server.trace_hash(),
        }
    }

    /// Lets everybody live until an instant; people act from `next` on.
    pub(super) async fn live(&mut self, until: i64, mut next: Option<i64>) {
        loop {
            self.machines.look(&self.stage);
            self.cast.look().await;
            if let Some(owner) = &mut self.people.owner {
                owner.look(&self.stage);
            }
            if next.is_some() {
                self.people.watch(&self.stage);
            }
            self.drainer.look(&self.stage);
            let now = self.stage.now();
            self.stage.guard(self.people.world.guards(now - self.start));
            if now >= until || self.stage.checker().has_enough(self.sought) {
                return;
            }
            if next.is_some_and(|next| next <= now) {
                self.people.act(&self.stage);
                if let Some(strangers) = &mut self.strangers {
                    strangers.visit(&self.stage);
                }
                let ends = self.people.world.storm().1 > 0;
                let strikes = self.bad.weather == Forecast::Foul && ends;
                if strikes && self.dice.percent(12) {
                    self.cast.strike(self.bad.clocks);
                }
                next = Some(now + self.people.rest());
                continue;
            }
            let owner = self.people.owner.as_ref().and_then(Owner::due);
            let due = [Some(until), next, self.machines.due(), self.cast.due(), owner];
            let due = due.into_iter().flatten().min().unwrap_or(until);
            let due = jiff::Timestamp::from_second(due.max(now)).unwrap_or_default();
            let left = self.stage.server.now().duration_until(due);
            let left = Duration::try_from(left).unwrap_or(Duration::ZERO);
            tokio::select! {
                biased;
                () = self.stage.moved.notified() => {}
                () = tokio::time::sleep(left + Duration::from_millis(1)) => {}
            }
        }
    }

    /// Inputs fixed, faults stopped, enough permitted time: everything pending finishes (LIVE-1), and starts when it may (LIVE-2).
    async fn finish(&mut self) -> bool {
        /// The longest wait after a failure, and a watch that still is silent.
        const GRACE: i64 = 900;
        /// Every gate opens for six hours of a day, and the largest pool needs three.
        const ENOUGH: i64 = 26 * HOUR;
        /// Looking at the clock, deciding, and two writes.
        const PROMPT: i64 = 3;
        let home = self.stage.now();
        let mut waited = vec![0_i64; self.people.pools().len()];
        loop {
            let now = self.stage.now();
            let pools = self.people.pools().to_vec();
            if now > home + GRACE && pools.iter().all(|pool| self.stage.checker().is_settled(pool))
            {
                return true;
            }
            if now > home + ENOUGH {
                let waits: Vec<_> =
                    pools.iter().filter(|pool| !self.stage.checker().is_settled(pool)).collect();
                let stands: Vec<String> =
                    waits.iter().map(|pool| self.stage.checker().stands(pool)).collect();
                let what = format!("{waits:?} never finish: {stands:?}");
                self.stage.checker().accuse(now, "LIVE-1", what);
                return false;
            }
            for (pool, waited) in pools.iter().zip(&mut waited) {
                let could = self.stage.checker().could_begin(pool, now);
                *waited = if now > home + GRACE && could { *waited + 1 } else { 0 };
                if *waited > PROMPT {
                    let stands = self.stage.checker().stands(pool);
                    let what =
                        format!("{pool} may begin a node for minutes, and does not: {stands}");
                    self.stage.checker().accuse(now, "LIVE-2", what);
                    return false;
                }
            }
            self.live(now + 60, None).await;
            if !self.stage.checker().violations.is_empty() {
                return false;
            }
        }
    }

    /// Meaning unchanged, bytes unchanged: a stretch without edges is a stretch without writes (STAT-3).
    async fn idle(&mut self) {
        const AFTER_AN_EDGE: i64 = 400;
        for _ in 0..6 {
            let now = self.stage.now();
            self.live(now + AFTER_AN_EDGE, None).await;
            let (from, edge) = {
                let checker = self.stage.checker();
                let now = self.stage.now();
                let own = |kind| checker.all(kind).map(|(_, object)| (**object).clone());
                let policies: Vec<_> = own(Kind::Policy).collect();
                let stanzas: Vec<_> = own(Kind::Pool)
                    .chain(own(Kind::Version))
                    .map(|one| one["spec"]["changeManagement"].clone())
                    .collect();
                let edge = windows::edge(&policies, &stanzas, now, 4 * HOUR);
                (now, checker.override_edge(now).map_or(edge, |ends| ends.min(edge)))
            };
            if edge - from < 1_800 {
                self.live(edge + 1, None).await;
                continue;
            }
            // A clock that is right to the second is late by less than one.
            self.live(from + 30, None).await;
            let before = self.stage.checker().writes;
            self.live(edge - 1, None).await;
            let now = self.stage.now();
            let mut checker = self.stage.checker();
            let written = checker.writes - before;
            if written > 0 {
                let what = format!("{written} writes while nothing changed");
                checker.accuse(now, "STAT-3", what);
            }
            checker.truth(now);
            return;
        }
    }
}

impl Checker {
    /// Whether there is nothing left to find: what was sought, or so much that nobody would read on.
    fn has_enough(&self, sought: Option<&str>) -> bool {
        match sought {
            Some(rule) => self.violations.iter().any(|violation| violation.rule == rule),
            None => self.violations.len() > 9,
        }
    }

    /// Whether every node of a pool is where the pool goes.
    fn is_settled(&self, pool: &str) -> bool {
        let Some(known) = self.get(Kind::Pool, pool) else { return false };
        let there = |desired: &str| desired == target(known);
        self.members(pool).all(|(_, node)| {
            is_done(node) && there(noted(node, api::machine::names::DESIRED_CONFIG))
        }) && !known["spec"]["configuration"]["name"].is_null()
    }

    /// How a pool and its nodes stand, for people.
    fn stands(&self, pool: &str) -> String {
        let known = self.get(Kind::Pool, pool);
        let goes = known.map_or("", |known| target(known));
        let conditions = known.and_then(|known| known["status"]["conditions"].as_array());
        let said: Vec<String> = conditions
            .into_iter()
            .flatten()
            .filter(|one| one["status"] == "True")
            .map(|one| format!("{} {}", one["type"], one["message"]))
            .collect();
        let machines: Vec<String> = self
            .members(pool)
            .map(|(name, node)| {
                let [current, desired, change, state, asks, did] = [
                    api::machine::names::CURRENT_CONFIG,
                    api::machine::names::DESIRED_CONFIG,
                    api::machine::names::PERMIT_CHANGE,
                    api::machine::names::STATE,
                    api::machine::names::DESIRED_DRAIN,
                    api::machine::names::LAST_APPLIED_DRAIN,
                ]
                .map(|key| noted(node, key));
                let cordoned = is_cordoned(node);
                format!("{name} {current} -> {desired} ({change}) {state}, asks {asks} after {did}, cordoned {cordoned}")
            })
            .collect();
        let ledger = known.map_or("", |known| noted(known, api::machine::names::LEDGER));
        format!("to {goes}, ledger {ledger}, {machines:#?}, {said:#?}")
    }

    /// Whether the gate of a pool is open at an instant for who goes there, as everything stands.
    pub(crate) fn opens(&self, (pool, config): (&str, Option<&str>), at: i64) -> bool {
        let (kind, name) = self.holder(pool);
        let Some(known) = self.get(kind, &name) else { return false };
        let stanza = known.pointer("/spec/changeManagement");
        let named = stanza.and_then(|stanza| stanza.pointer("/byPolicy/name"));
        let policy = self.get(Kind::Policy, named.and_then(|name| name.as_str()).unwrap_or(""));
        let opened = || self.is_opened(pool, config, at) && windows::is_readable(stanza);
        let open = windows::gate(stanza, policy.map(|policy| &**policy), at) || opened();
        open && !self.is_frozen(pool, at)
    }

    /// Whether a pool could begin a node now: the gate is open, somebody waits, and there is room.
    fn could_begin(&self, pool: &str, at: i64) -> bool {
        let Some(known) = self.get(Kind::Pool, pool) else { return false };
        let members: Vec<_> = self.members(pool).collect();
        let away = members.iter().filter(|(_, node)| is_unavailable(node)).count();
        let waits = members.iter().any(|(_, node)| {
            is_done(node)
                && is_healthy(node)
                && !is_cordoned(node)
                && noted(node, api::machine::names::DESIRED_CONFIG) != target(known)
        });
        let idle = self.last.get(pool).is_none_or(|last| at - last > 60);
        self.opens((pool, Some(target(known))), at)
            && waits
            && away < limit(known, members.len())
            && idle
    }

    /// At rest, every status tells what is so.
    fn truth(&mut self, at: i64) {
        let state = |open| if open { "ChangesUnpaused" } else { "ChangesPaused" };
        let mut wrong = Vec::new();
        for (name, policy) in self.all(Kind::Policy) {
            let open = windows::policy(&policy["spec"], at).is_some_and(|read| read.open);
            if policy["status"]["behavior"]["current"]["state"] != state(open) {
                wrong.push(format!("policy {name}: {}", policy["status"]));
            }
        }
        for (name, pool) in self.all(Kind::Pool) {
            let told = &pool["status"]["changeManagement"]["behavior"]["current"]["state"];
            if !told.is_null() && *told != state(self.opens((name, Some(target(pool))), at)) {
                wrong.push(format!("pool {name}: {}", pool["status"]["changeManagement"]));
            }
            let machines = self.members(name).count();
            if pool["status"]["updatedMachineCount"] != machines {
                wrong.push(format!("pool {name} of {machines} nodes: {}", pool["status"]));
            }
        }
        let follows = match (self.get(Kind::Version, "version"), self.get(Kind::Pool, "master")) {
            (Some(version), Some(pool)) => {
                let stanza = "/spec/changeManagement";
                version.pointer(stanza) == pool.pointer(stanza)
            }
            _ => true,
        };
        if !follows {
            self.accuse(at, "CV-2", "the master pool does not follow ClusterVersion".into());
        }
        for what in wrong {
            self.accuse(at, "LIVE-1", what);
        }
    }
}
