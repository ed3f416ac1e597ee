//! What goes wrong today?
//!
//! Faults are drawn from a seeded profile, or scripted ("fail the third status patch of X"); both are arguments, and the
//! same seed strikes at the same requests (DET-1).

use std::time::Duration;

use http::Method;

use crate::{
    call::Incoming,
    ids::Ids,
    path::{self, Target},
    query::Query,
    server::Server,
    status::Refusal,
    watch::Ailment,
};

/// One thing that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The answer takes this long; the write happens at the end of it.
    Latency(Duration),
    /// The request is carried out, and its answer is lost.
    LoseAnswer,
    /// 409, as if somebody else had been faster.
    Conflict,
    /// 429 with `Retry-After` seconds.
    TooManyRequests(u32),
    /// A server error such as 500, 503 or 504; nothing is carried out.
    ServerError(u16),
    /// The watch breaks after so many events.
    CutWatch(u32),
    /// The watch stays open and says nothing after so many events.
    SilenceWatch(u32),
    /// A list shows the state so many versions ago.
    StaleList(u64),
    /// History is forgotten before the request is carried out.
    Compact,
}

/// Which requests a scripted fault is about; `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestMatch {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: Option<String>,
    /// The plural name.
    pub resource: Option<String>,
    /// `status`, `eviction`; `Some("")` is the object itself.
    pub subresource: Option<String>,
    /// The object's name.
    pub name: Option<String>,
}

/// A scripted fault: strikes the `nth` matching request, counted from one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripted {
    /// Which requests are counted.
    pub matching: RequestMatch,
    /// Which of them is struck.
    pub nth: u32,
    /// What happens to it.
    pub fault: Fault,
}

/// How often faults strike at random: probabilities per request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// The longest extra latency, drawn evenly from zero.
    pub latency: Duration,
    /// Answers lost after the request was carried out.
    pub lose_answer: f64,
    /// 409 on writes.
    pub conflict: f64,
    /// 429 with a short `Retry-After`.
    pub too_many_requests: f64,
    /// 500, 503 or 504.
    pub server_error: f64,
    /// Watches that break after a few events.
    pub cut_watch: f64,
    /// Watches that fall silent.
    pub silence_watch: f64,
    /// Lists of an earlier state.
    pub stale_list: f64,
    /// Forgotten history.
    pub compact: f64,
}

/// The faults of a server.
#[derive(Debug)]
pub(crate) struct Faults {
    profile: Profile,
    script: Vec<(Scripted, u32)>,
    dice: Ids,
    distortion: Distortion,
}

/// What was decided for one request.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) latency: Duration,
    pub(crate) refuse: Option<Refusal>,
    pub(crate) lose_answer: bool,
    pub(crate) compact: bool,
    pub(crate) distortion: Distortion,
    pub(crate) told: Vec<String>,
}

/// What a fault makes of an answer that is given all the same. It travels with its request: another may be decided while this one
/// is still delayed.
#[derive(Debug, Default)]
pub(crate) struct Distortion {
    stale: Option<u64>,
    ailment: Option<Ailment>,
}

impl Server {
    /// Draws faults from `profile` from now on, with the dice of `seed`.
    pub fn draw_faults(&self, profile: Profile, seed: u64) {
        let mut state = self.inner.lock();
        state.faults.profile = profile;
        state.faults.dice = Ids::seeded(seed);
    }

    /// Adds a scripted fault.
    pub fn script_fault(&self, scripted: Scripted) {
        self.inner.lock().faults.script.push((scripted, 0));
    }

    /// Ends all faults, random and scripted.
    pub fn heal(&self) {
        let mut state = self.inner.lock();
        let seed = self.inner.settings.seed;
        state.faults = Faults::none(seed);
    }
}

/// The verb by which scripts name a request.
pub(crate) fn verb(method: &Method, named: bool, watching: bool) -> &'static str {
    match (method.as_str(), named, watching) {
        ("GET", _, true) => "watch",
        ("GET", true, _) => "get",
        ("GET", false, _) => "list",
        ("POST", _, _) => "create",
        ("PUT", _, _) => "update",
        ("PATCH", _, _) => "patch",
        ("DELETE", _, _) => "delete",
        _ => "",
    }
}

impl Faults {
    pub(crate) fn none(seed: u64) -> Self {
        Self {
            profile: Profile::default(),
            script: Vec::new(),
            dice: Ids::seeded(seed),
            distortion: Distortion::default(),
        }
    }

    fn is_idle(&self) -> bool {
        self.script.is_empty() && self.profile == Profile::default()
    }

    /// Decides what strikes this request. Discovery and documents are never struck.
    pub(crate) fn plan(&mut self, incoming: &Incoming) -> Plan {
        let mut plan = Plan::default();
        if self.is_idle() {
            return plan;
        }
        let Target::Resource(path) = path::parse(incoming.uri.path()) else {
            return plan;
        };
        let watching = Query::parse(incoming.uri.query()).flag("watch");
        let verb = verb(&incoming.method, path.name.is_some(), watching);
        let mut due = Vec::new();
        for (scripted, seen) in &mut self.script {
            let matching = &scripted.matching;
            let same =
                |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|w| w == has);
            if same(&matching.verb, verb)
                && same(&matching.resource, &path.resource)
                && same(&matching.subresource, path.subresource.as_deref().unwrap_or_default())
                && same(&matching.name, path.name.as_deref().unwrap_or_default())
            {
                *seen += 1;
                if *seen == scripted.nth {
                    due.push(scripted.fault.clone());
                }
            }
        }
        due.extend(self.draw(verb));
        for fault in due {
            plan.told.push(format!("{fault:?} {verb} {}", incoming.uri));
            strike(&fault, verb, &path, &mut plan);
        }
        plan
    }

    fn draw(&mut self, verb: &str) -> Vec<Fault> {
        let profile = self.profile.clone();
        let mut due = Vec::new();
        if !profile.latency.is_zero() {
            due.push(Fault::Latency(profile.latency.mul_f64(self.dice.fraction())));
        }
        let writes = !matches!(verb, "get" | "list" | "watch" | "");
        let mut chance = |p: f64| p > 0.0 && self.dice.fraction() < p;
        if chance(profile.lose_answer) {
            due.push(Fault::LoseAnswer);
        }
        if writes && chance(profile.conflict) {
            due.push(Fault::Conflict);
        }
        if chance(profile.too_many_requests) {
            due.push(Fault::TooManyRequests(1));
        }
        if chance(profile.server_error) {
            due.push(Fault::ServerError(503));
        }
        if verb == "watch" && chance(profile.cut_watch) {
            due.push(Fault::CutWatch(3));
        }
        if verb == "watch" && chance(profile.silence_watch) {
            due.push(Fault::SilenceWatch(3));
        }
        if verb == "list" && chance(profile.stale_list) {
            due.push(Fault::StaleList(5));
        }
        if chance(profile.compact) {
            due.push(Fault::Compact);
        }
        // The kinds of error and the moments of a cut are drawn as well.
        for fault in &mut due {
            match fault {
                Fault::ServerError(code) => {
                    *code = match self.dice.next_u64() % 3 {
                        0 => 500,
                        1 => 503,
                        _ => 504,
                    };
                }
                Fault::CutWatch(after) | Fault::SilenceWatch(after) => {
                    *after = (self.dice.next_u64() % 8) as u32;
                }
                Fault::StaleList(behind) => *behind = 1 + self.dice.next_u64() % 20,
                _ => {}
            }
        }
        due
    }

    /// What holds for the request that is answered now.
    pub(crate) fn distort(&mut self, distortion: Distortion) {
        self.distortion = distortion;
    }

    /// The version that a list shows.
    pub(crate) fn stale_list(&mut self, latest: u64) -> u64 {
        latest.saturating_sub(self.distortion.stale.take().unwrap_or_default())
    }

    pub(crate) fn watch_ailment(&mut self) -> Option<Ailment> {
        self.distortion.ailment.take()
    }
}

fn strike(fault: &Fault, verb: &str, path: &path::ResourcePath, plan: &mut Plan) {
    match *fault {
        Fault::Latency(length) => plan.latency += length,
        Fault::LoseAnswer => plan.lose_answer = true,
        Fault::Conflict => {
            let name = path.name.as_deref().unwrap_or_default();
            plan.refuse = Some(Refusal::modified(&path.resource, &path.group, name));
        }
        Fault::TooManyRequests(seconds) => {
            let text =
                "the server has received too many requests and has asked us to try again later";
            plan.refuse =
                Some(Refusal::new(429, "TooManyRequests", text).with_retry_after(seconds));
        }
        Fault::ServerError(code) => {
            let (reason, text) = match code {
                503 => {
                    ("ServiceUnavailable", "the server is currently unable to handle the request")
                }
                504 => {
                    ("Timeout", "the server was unable to return a response in the time allotted")
                }
                _ => (
                    "InternalError",
                    "an error on the server has prevented the request from succeeding",
                ),
            };
            plan.refuse = Some(Refusal::new(code, reason, text));
        }
        Fault::CutWatch(after) if verb == "watch" => {
            plan.distortion.ailment = Some(Ailment::CutAfter(after));
        }
        Fault::SilenceWatch(after) if verb == "watch" => {
            plan.distortion.ailment = Some(Ailment::SilentAfter(after));
        }
        Fault::StaleList(behind) if verb == "list" => plan.distortion.stale = Some(behind),
        Fault::Compact => plan.compact = true,
        Fault::CutWatch(_) | Fault::SilenceWatch(_) | Fault::StaleList(_) => {}
    }
}
