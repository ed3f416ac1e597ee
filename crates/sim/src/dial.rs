//! How do people turn the clock? By a `ConfigMap` that anybody can write with kubectl, and that says what the clock was last set to.
//!
//! `at` and `speed` say what was last set. Writing another `speed` asks for it, `set` asks for an instant, `step` for a jump. What is
//! asked for is first taken off the object, under the version that was read, and only then done: a step is taken once, however often it
//! is seen.

use std::{sync::Arc, time::Duration};

use runtime::{
    call::{CallError, Cluster},
    changes::Changes,
    clock::{Clock as _, SetClock},
    path::{self, CONFIG_MAP},
};
use schedule::Instant;
use serde_json::{Map, Value, json};

use crate::{
    mirror::{Mirror, text},
    pace::{LEAP, TICK, Work},
};

/// The namespace of the clock.
pub const NAMESPACE: &str = "tidegate-sandbox";

/// The name of the clock.
pub const NAME: &str = "clock";

/// What the clock said when it was last turned. Only told.
pub const AT: &str = "at";

/// How often it has been turned. Only told.
pub const TURNS: &str = "turns";

/// The instant that it is to be.
pub const SET: &str = "set";

/// How many seconds pass in one; writing it changes that.
pub const SPEED: &str = "speed";

/// How fast it goes on after a pause. Only told.
pub const RESUME: &str = "resume";

/// A jump by so many seconds, minutes, hours or days, such as `2h` or `-30m`.
pub const STEP: &str = "step";

/// Why the last request was refused. Only told.
pub const REFUSED: &str = "refused";

/// The most seconds that pass in one.
pub const FASTEST: u32 = 3_600;

/// Up to this speed the clock runs, and a permit of five minutes has five seconds of the node's time. Beyond it the clock leaps
/// ([`crate::pace`]).
const STEADY: u32 = 60;

/// What is asked of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It says this now.
    Set(Instant),
    /// It jumps by so many seconds.
    Step(i64),
    /// So many of its seconds pass in one; 0 stands still.
    Speed(u32),
    /// It goes on as fast as before it was stopped.
    Resume,
}

/// The hand on the clock. Clones turn the same one.
#[derive(Clone, Debug)]
pub struct Dial {
    clock: SetClock,
    setting: Arc<std::sync::Mutex<Setting>>,
    turned: Changes,
}

/// What others have been told of the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told(Setting);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setting {
    at: Instant,
    speed: u32,
    resume: u32,
    turns: u64,
}

impl Dial {
    /// A hand on a clock that runs at this speed from now on.
    pub(crate) fn new(clock: SetClock, speed: u32) -> Self {
        let speed = speed.min(FASTEST);
        clock.speed(steady(speed));
        let setting = Setting { at: clock.now(), speed, resume: speed.max(1), turns: 0 };
        let setting = Arc::new(std::sync::Mutex::new(setting));
        Self { clock, setting, turned: Changes::default() }
    }

    /// The clock.
    pub fn clock(&self) -> &SetClock {
        &self.clock
    }

    /// How many seconds pass in one.
    pub fn speed(&self) -> u32 {
        self.setting().speed
    }

    /// Turns the clock.
    pub fn turn(&self, turn: Turn) {
        self.apply(turn);
        self.turned.tell();
    }

    fn apply(&self, turn: Turn) {
        let mut setting = self.lock();
        match turn {
            Turn::Set(at) => self.clock.set(at),
            Turn::Step(seconds) => self.clock.step(seconds),
            Turn::Speed(speed) => setting.speed = speed.min(FASTEST),
            Turn::Resume => setting.speed = setting.resume,
        }
        self.clock.speed(steady(setting.speed));
        setting.at = self.clock.now();
        setting.resume = if setting.speed > 0 { setting.speed } else { setting.resume };
        setting.turns += 1;
    }

    fn setting(&self) -> Setting {
        *self.lock()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Setting> {
        self.setting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Moves the clock where it does not run by itself, for ever: some seconds at a time, and only while nothing is under way.
    pub(crate) async fn pace(self, work: Work) {
        let (mut setting, mut since) = (self.setting(), tokio::time::Instant::now());
        loop {
            if setting.speed <= STEADY {
                // Ends when somebody turns the clock.
                self.clock.wait(Instant::MAX).await;
            } else {
                tokio::time::sleep(TICK).await;
                work.rest().await;
            }
            let now = self.lock();
            if now.turns != setting.turns || now.speed <= STEADY {
                (setting, since) = (*now, tokio::time::Instant::now());
                continue;
            }
            // Whole seconds; what is left of one counts for the next leap. Whoever was late does not make up for it in one.
            let due = since.elapsed().saturating_mul(now.speed).as_secs();
            if due > LEAP {
                since = tokio::time::Instant::now();
            } else {
                since += Duration::from_secs(due) / now.speed;
            }
            if due > 0 {
                self.clock.step(due.min(LEAP).cast_signed());
            }
        }
    }

    /// Follows what people write, and tells what the clock was set to, for ever.
    pub(crate) async fn follow(self, cluster: Cluster, maps: Mirror, mut told: Told) {
        let (mut turned, mut written) = (self.turned.follow(), maps.changes());
        loop {
            turned.mark_seen();
            written.mark_seen();
            match self.attend(&cluster, told.0).await {
                Ok(now) => told = Told(now),
                Err(error) => {
                    tracing::debug!(%error, "somebody turned the clock at the same time");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            }
            tokio::select! {
                biased;
                () = turned.changed() => {}
                () = written.changed() => {}
            }
        }
    }

    /// Reads the object, takes what is asked off it, and does that.
    async fn attend(&self, cluster: &Cluster, told: Setting) -> Result<Setting, CallError> {
        let found = cluster.get::<Value>(&path()).await;
        if let Err(CallError::Refused { code: 404, .. }) = found {
            return self.write_anew(cluster).await;
        }
        let found = found?;
        let (turns, refused) = asked(&found, told);
        if turns.is_empty() && refused.is_none() && self.setting() == told {
            return Ok(told);
        }
        // Taken off first, under the version that was read: only one who takes it does it.
        if !turns.is_empty() || refused.is_some() {
            self.write(cluster, &found, told.written(refused.as_deref())).await?;
        }
        for turn in turns {
            self.apply(turn);
        }
        let setting = self.setting();
        if setting != told {
            let found: Value = cluster.get(&path()).await?;
            // Whatever somebody asked for meanwhile stays asked.
            let mut fields = setting.written(refused.as_deref());
            for key in [SET, STEP] {
                if let Some(asked) = found.get("data").and_then(|given| given.get(key)) {
                    fields.insert(key.into(), asked.clone());
                }
            }
            self.write(cluster, &found, fields).await?;
        }
        Ok(setting)
    }

    async fn write(
        &self,
        cluster: &Cluster,
        found: &Value,
        fields: Map<String, Value>,
    ) -> Result<(), CallError> {
        let object = object(text(found, "/metadata/resourceVersion"), &fields);
        cluster.update(&path(), &object).await.map(drop)
    }

    /// Tells what the clock is set to for the first time.
    pub(crate) async fn tell(&self, cluster: &Cluster) -> Result<Told, CallError> {
        self.write_anew(cluster).await.map(Told)
    }

    /// Somebody took the object away, or it was never there.
    async fn write_anew(&self, cluster: &Cluster) -> Result<Setting, CallError> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": NAMESPACE}});
        match cluster.create(&path::NAMESPACE.collection(None), &namespace).await {
            Ok(_) | Err(CallError::Refused { code: 409, .. }) => {}
            Err(error) => return Err(error),
        }
        let setting = self.setting();
        let object = object("", &setting.written(None));
        cluster.create(&CONFIG_MAP.collection(Some(NAMESPACE)), &object).await?;
        Ok(setting)
    }
}

/// Where the clock is.
pub fn path() -> String {
    CONFIG_MAP.object(Some(NAMESPACE), NAME)
}

/// How fast the clock runs by itself at a speed; beyond what is steady it stands, and leaps.
fn steady(speed: u32) -> u32 {
    if speed <= STEADY { speed } else { 0 }
}

fn object(version: &str, fields: &Map<String, Value>) -> Value {
    let mut metadata = json!({"namespace": NAMESPACE, "name": NAME});
    if !version.is_empty() {
        metadata["resourceVersion"] = json!(version);
    }
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": fields})
}

impl Setting {
    fn written(self, refused: Option<&str>) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert(AT.into(), self.at.to_string().into());
        fields.insert(SPEED.into(), self.speed.to_string().into());
        fields.insert(TURNS.into(), self.turns.to_string().into());
        if self.speed == 0 {
            fields.insert(RESUME.into(), self.resume.to_string().into());
        }
        if let Some(refused) = refused {
            fields.insert(REFUSED.into(), refused.into());
        }
        fields
    }
}

/// What is asked of the clock by what somebody wrote, and what of that cannot be understood.
fn asked(found: &Value, told: Setting) -> (Vec<Turn>, Option<String>) {
    let (mut turns, mut refused) = (Vec::new(), None);
    let field = |key: &str| found.get("data").and_then(|fields| fields.get(key)?.as_str());
    if let Some(at) = field(SET) {
        match Instant::parse(at) {
            Ok(at) => turns.push(Turn::Set(at)),
            Err(error) => refused = Some(format!("{SET}: {error}")),
        }
    }
    if let Some(step) = field(STEP) {
        match seconds(step) {
            Some(seconds) => turns.push(Turn::Step(seconds)),
            None => refused = Some(format!("{STEP}: {step:?} is no length of time such as 2h")),
        }
    }
    if let Some(speed) = field(SPEED).filter(|speed| *speed != told.speed.to_string()) {
        match speed.parse() {
            Ok(speed) if speed <= FASTEST => turns.push(Turn::Speed(speed)),
            Ok(_) => refused = Some(format!("{SPEED}: {FASTEST} is the most")),
            Err(_) => refused = Some(format!("{SPEED}: {speed:?} is no whole number")),
        }
    }
    (turns, refused)
}

/// Reads a length of time: whole numbers with `s`, `m`, `h`, `d` or `w`, one after the other, with a sign before them to go back.
pub fn seconds(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mut total, mut number) = (0_i64, None::<i64>);
    for letter in rest.chars() {
        if let Some(digit) = letter.to_digit(10) {
            let grown = number.unwrap_or(0).checked_mul(10)?.checked_add(i64::from(digit))?;
            number = Some(grown);
            continue;
        }
        let unit = match letter {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    (number.is_none() && !rest.is_empty()).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_numbers_with_units() {
        for (given, expected) in [
            ("2h", Some(7_200)),
            ("1d12h", Some(129_600)),
            ("+90s", Some(90)),
            ("-30m", Some(-1_800)),
            ("2w", Some(1_209_600)),
            ("", None),
            ("-", None),
            ("5", None),
            ("h", None),
            ("2 h", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(seconds(given), expected, "{given}");
        }
    }

    #[test]
    fn only_what_differs_from_what_was_told_is_asked() {
        let at = Instant::parse("2026-11-16T12:00:00Z").unwrap();
        let told = Setting { at, speed: 1, resume: 1, turns: 4 };
        let check = |fields: Value, expected: &[Turn], refused: Option<&str>| {
            let (turns, found) = asked(&json!({"data": fields}), told);
            assert_eq!((turns.as_slice(), found.as_deref()), (expected, refused), "{fields}");
        };
        check(json!({"speed": "1"}), &[], None);
        check(json!({"speed": "1", "step": "2h"}), &[Turn::Step(7_200)], None);
        let other = Instant::parse("2026-11-21T00:00:00Z").unwrap();
        check(
            json!({"set": "2026-11-21T00:00:00Z", "speed": "600"}),
            &[Turn::Set(other), Turn::Speed(600)],
            None,
        );
        check(json!({"speed": "3600"}), &[Turn::Speed(3_600)], None);
        check(json!({"speed": "3601"}), &[], Some("speed: 3600 is the most"));
        check(json!({"speed": "fast"}), &[], Some("speed: \"fast\" is no whole number"));
        check(json!({"step": "soon"}), &[], Some("step: \"soon\" is no length of time such as 2h"));
    }
}
