//! What does this console know of a cluster, and how is it shown to somebody? The watches of `runtime`, and what was last worked out from them.
//!
//! Rows are worked out once for everybody who looks, and again when something changed or an edge has passed: they name instants and no
//! lengths, so that they stay true in between.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use api::schema::Role;
use futures_util::{FutureExt as _, future::join_all};
use runtime::{
    caches::Caches, call::Cluster, changes::Follower, clock::Clock, observe::Observer, tempo::Tempo,
};
use schedule::{Instant, Zone};
use tidegate_core::cluster::{
    kinds::{self, Listed, Row},
    snapshot::Snapshot,
};
use tokio::sync::Semaphore;
use views::{now::Now, status::Rows};

use crate::{
    clock::TheirClock,
    guest::{Guest, Lost, Rights},
    session::Session,
    view::{Reading, View},
};

/// What pages are made from. Clones are one.
#[derive(Clone, Debug)]
pub struct Desk {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    cluster: Cluster,
    caches: Arc<Caches>,
    clock: Arc<dyn Clock>,
    theirs: Option<TheirClock>,
    people: Option<AsSomebody>,
    place: String,
    dial: Option<Dial>,
    tempo: Tempo,
    kept: Mutex<Kept>,
    /// Forecasts are made one at a time: each may take a core for seconds.
    forecasts: Arc<Semaphore>,
}

/// What was last worked out.
#[derive(Debug)]
struct Kept {
    changes: Follower,
    /// By what somebody may see; none for everything.
    boards: BTreeMap<Option<Arc<Rights>>, Arc<Board>>,
}

/// What follows from everything that was seen, until something changes.
#[derive(Debug)]
struct Board {
    /// What may be seen of the cluster, if that is not everything.
    seen: Option<Mutex<Snapshot>>,
    rows: Rows,
    now: Now,
    zones: Vec<Zone>,
    made: Instant,
    until: Option<Instant>,
}

type Asking = dyn Fn(&str) -> Option<Cluster> + Send + Sync;

/// The cluster, asked with somebody's token.
#[derive(Clone)]
pub struct AsSomebody(pub Arc<Asking>);

impl fmt::Debug for AsSomebody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsSomebody")
    }
}

/// The hand on a clock that people can turn.
#[derive(Clone)]
pub struct Dial {
    /// How many of its seconds pass in one.
    pub speed: Arc<dyn Fn() -> u32 + Send + Sync>,
    /// Turns it.
    pub turn: Arc<dyn Fn(Turned) + Send + Sync>,
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

/// What somebody does to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// It says this now.
    Set(Instant),
    /// It jumps by so many seconds.
    Step(i64),
    /// So many of its seconds pass in one; 0 stands still.
    Speed(u32),
    /// It goes on as fast as before it was stopped.
    Resume,
}

impl Desk {
    /// A desk at a cluster whose clock is this one. Nothing is known until [`Desk::watch`] runs.
    pub fn new(cluster: Cluster, clock: Arc<dyn Clock>, place: impl Into<String>) -> Self {
        let observed: Vec<&'static Row> = kinds::ALL.to_vec();
        let caches = Arc::new(Caches::of(observed));
        let kept = Mutex::new(Kept { changes: caches.changes(), boards: BTreeMap::new() });
        let shared = Shared {
            cluster,
            caches,
            clock,
            theirs: None,
            people: None,
            place: place.into(),
            dial: None,
            tempo: Tempo::default(),
            kept,
            forecasts: Arc::new(Semaphore::new(1)),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The same, with a clock that the API server is asked about.
    #[must_use]
    pub fn by_their_clock(self, theirs: TheirClock) -> Self {
        self.with(|shared| shared.theirs = Some(theirs))
    }

    /// The same, for people who come with tokens: each is shown what they may list, and writes as themselves.
    #[must_use]
    pub fn for_people(self, people: AsSomebody) -> Self {
        self.with(|shared| shared.people = Some(people))
    }

    /// The same, with a hand on its clock.
    #[must_use]
    pub fn with_dial(self, dial: Dial) -> Self {
        self.with(|shared| shared.dial = Some(dial))
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        // Nobody else has it yet: this is how it is made.
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            change(shared);
        }
        self
    }

    /// Keeps what is known true, for ever.
    pub async fn watch(&self) {
        let Shared { cluster, caches, tempo, .. } = &*self.shared;
        let observers = caches
            .observed()
            .iter()
            .map(|row| Observer::new(row, cluster.clone(), Arc::clone(caches), *tempo).run());
        let asking = async {
            loop {
                self.ask_the_time().await;
                tokio::time::sleep(Duration::from_secs(10)).await;
            }
        };
        tokio::join!(join_all(observers), asking);
    }

    /// Waits until every kind has been heard of, or so long.
    pub async fn settle(&self, at_most: Duration) {
        let mut changes = self.shared.caches.changes();
        let settled = async {
            while self.is_unheard() {
                changes.changed().await;
            }
        };
        // What is not read by then is said on every page.
        let _ = tokio::time::timeout(at_most, settled).await;
    }

    /// Whether there is a kind that the API server has said nothing about.
    fn is_unheard(&self) -> bool {
        let store = self.shared.caches.store();
        let mut observed = self.shared.caches.observed().iter();
        observed.any(|row| store.listed(row) == Listed::Unknown)
    }

    /// Asks the API server what time it is, where that is whose clock counts.
    pub(crate) async fn ask_the_time(&self) {
        if let Some(theirs) = &self.shared.theirs {
            theirs.ask(&self.shared.cluster).await;
        }
    }

    /// What time it is there.
    pub(crate) fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// The clock.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// The hand on it, if there is one.
    pub(crate) fn dial(&self) -> Option<&Dial> {
        self.shared.dial.as_ref()
    }

    /// The cluster, with the rights of whoever looks: on a machine of their own those of whoever started this.
    pub(crate) fn cluster_of<'a>(&'a self, session: &'a Session) -> &'a Cluster {
        session.guest.as_ref().map_or(&self.shared.cluster, |guest| &guest.cluster)
    }

    /// Whoever a token belongs to.
    pub(crate) async fn guest(&self, token: &str) -> Result<Guest, Lost> {
        let people = self.shared.people.as_ref();
        let theirs = people.and_then(|people| (people.0)(token)).ok_or(Lost::Unknown)?;
        Guest::of(&self.shared.cluster, token, theirs).await
    }

    /// Asks the cluster again what somebody may see, if that is some time ago.
    pub(crate) async fn renew(&self, session: &Session) -> Result<(), Lost> {
        let Some(guest) = &session.guest else { return Ok(()) };
        let mut places: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        for (key, _) in self.shared.caches.store().snapshot().all() {
            if let Some(namespace) = &key.namespace {
                places.entry(key.kind().name).or_default().insert(namespace.to_string());
            }
        }
        guest.renew(&self.shared.cluster, self.shared.caches.observed(), &places).await
    }

    /// Tells whenever something changes.
    pub(crate) fn changes(&self) -> Follower {
        self.shared.caches.changes()
    }

    /// The first instant at which something opens, shuts, begins or ends.
    pub(crate) fn next_edge(&self) -> Option<Instant> {
        self.board(self.now(), None).until
    }

    /// Whoever makes a forecast takes a place here.
    pub(crate) fn forecasts(&self) -> Arc<Semaphore> {
        Arc::clone(&self.shared.forecasts)
    }

    /// Everything that is known, as it is now: for work that takes longer than the watches should wait.
    pub(crate) fn cluster_as_seen(&self) -> Snapshot {
        self.shared.caches.store().snapshot().clone()
    }

    /// The same, as far as somebody may see it.
    pub(crate) fn seen_by(&self, session: &Session) -> Snapshot {
        let all = self.cluster_as_seen();
        match &session.guest {
            Some(guest) => guest.rights().of(&all),
            None => all,
        }
    }

    /// Shows what is known to somebody.
    pub(crate) fn look<T>(&self, session: &Session, show: impl FnOnce(&View<'_>) -> T) -> T {
        let at = self.now();
        let rights = session.guest.as_ref().map(|guest| guest.rights());
        let board = self.board(at, rights.clone());
        let reading = self.reading(at, rights.as_deref());
        let mut zones = board.zones.clone();
        if !zones.contains(&session.zone) {
            zones.push(session.zone.clone());
        }
        let store = self.shared.caches.store();
        let seen =
            board.seen.as_ref().map(|seen| seen.lock().unwrap_or_else(PoisonError::into_inner));
        show(&View {
            at,
            zone: &session.zone,
            zones: &zones,
            snapshot: seen.as_deref().unwrap_or_else(|| store.snapshot()),
            rows: &board.rows,
            now: &board.now,
            place: &self.shared.place,
            reading: &reading,
            speed: self.shared.dial.as_ref().map(|dial| (dial.speed)()),
            token: &session.token,
        })
    }

    /// What follows for whoever has these rights: people with the same see the same, and nothing of it is anybody's own.
    fn board(&self, at: Instant, rights: Option<Arc<Rights>>) -> Arc<Board> {
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = kept.changes.changed().now_or_never().is_some();
        if changed {
            kept.boards.clear();
        }
        if let Some(board) = kept.boards.get(&rights).filter(|board| board.holds(at)) {
            return Arc::clone(board);
        }
        kept.boards.retain(|_, board| board.holds(at));
        let store = self.shared.caches.store();
        let seen = rights.as_ref().map(|rights| rights.of(store.snapshot()));
        let board = Arc::new(Board::new(store.snapshot(), seen, at));
        kept.boards.insert(rights, Arc::clone(&board));
        board
    }

    fn reading(&self, at: Instant, rights: Option<&Rights>) -> Reading {
        let store = self.shared.caches.store();
        let told = self.shared.caches.observed().iter().filter(|row| row.role != Role::Part);
        let parts = [&kinds::NODE, &kinds::MACHINE_CONFIG].into_iter();
        let hidden = |row: &Row| rights.is_some_and(|rights| !rights.may_list(&row.kind));
        let unknown = |row: &&Row| {
            hidden(row) || !matches!(store.listed(row), Listed::Known | Listed::Absent)
        };
        let lacking = parts.filter(unknown).map(|row| row.name).collect();
        let mut reading = Reading { lacking, ..Reading::default() };
        let mut oldest = Duration::ZERO;
        for row in told {
            match store.listed(row) {
                Listed::Unknown => reading.unread.push(row.name),
                Listed::Refused => reading.refused.push(row.name),
                Listed::Known if hidden(row) => reading.refused.push(row.name),
                Listed::Known | Listed::Absent => {}
            }
            oldest = oldest.max(store.age(row).unwrap_or_default());
        }
        if oldest > self.shared.tempo.stale {
            let seconds = i64::try_from(oldest.as_secs()).unwrap_or(i64::MAX);
            reading.stale_since = Some(at.saturating_add(-seconds));
        }
        reading
    }
}

impl Board {
    fn new(all: &Snapshot, seen: Option<Snapshot>, at: Instant) -> Self {
        let snapshot = seen.as_ref().unwrap_or(all);
        let rows = Rows::new(snapshot, at);
        let now = Now::new(&rows, snapshot, at);
        let freezes = snapshot.freezes().filter_map(|freeze| freeze.next_edge(at));
        let overrides = snapshot.overrides().filter_map(|one| one.next_edge(at));
        let until = rows.next_edge(at).into_iter().chain(freezes).chain(overrides).min();
        let zones = zones(snapshot);
        Self { seen: seen.map(Mutex::new), rows, now, zones, made: at, until }
    }

    /// Whether it is still so: time has not gone back, and no edge has passed.
    fn holds(&self, at: Instant) -> bool {
        self.made <= at && self.until.is_none_or(|until| at < until)
    }
}

/// UTC, and the two zones that most policies are written in.
fn zones(snapshot: &Snapshot) -> Vec<Zone> {
    let mut named: BTreeMap<String, (usize, Zone)> = BTreeMap::new();
    for policy in snapshot.policies().filter_map(|seen| seen.judged.policy.as_ref()) {
        let zone = &policy.lowered.zone;
        if !zone.is_utc() {
            named.entry(zone.name().to_owned()).or_insert_with(|| (0, zone.clone())).0 += 1;
        }
    }
    let mut named: Vec<(usize, Zone)> = named.into_values().collect();
    named.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    [Zone::utc()].into_iter().chain(named.into_iter().take(2).map(|(_, zone)| zone)).collect()
}
