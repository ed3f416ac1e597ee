//! Does anything move when strangers, kubelets and agents try everything, in any order, for a long time? (GATE-7)
//!
//! A run of the suite is short. `TIDEGATE_HOSTILE_ATTEMPTS=50000 cargo test -p tidegate-tests --test real withstands_hostile -- --nocapture`
//! asks for a longer one, and says how long it took; `TIDEGATE_HOSTILE_SEED` gives it another order.

use std::{env, time::Instant};

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, PERMIT_CHANGE, STATE};
use futures_util::future::join_all;
use kube::Client;
use serde_json::{Value, json};

use super::{
    NODES, node,
    orders::{Path, Permit, Row, Told, Wish, borne, planted},
    who::Who,
};

/// As many come at once: a real server answers a single client slowly.
const AT_ONCE: u64 = 8;

/// `SplitMix64`: a number for each attempt, the same in every run of one seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let count = u64::try_from(all.len()).unwrap();
        all[usize::try_from(self.roll() % count).unwrap()]
    }
}

fn asked(name: &str, otherwise: u64) -> u64 {
    env::var(name).ok().map_or(otherwise, |number| number.parse().unwrap())
}

pub(crate) async fn writers_move_nothing(client: &Client, attempts: u64) {
    let attempts = asked("TIDEGATE_HOSTILE_ATTEMPTS", attempts);
    let seed = asked("TIDEGATE_HOSTILE_SEED", 1);
    let began = Instant::now();
    let each = (0..AT_ONCE).map(|place| {
        let dice = Dice(seed.wrapping_mul(AT_ONCE).wrapping_add(place));
        besiege(client, format!("pier-{place}"), dice, attempts.div_ceil(AT_ONCE))
    });
    let taken: u64 = join_all(each).await.into_iter().sum();
    let seconds = began.elapsed().as_secs_f64();
    eprintln!(
        "{attempts} hostile attempts from seed {seed} in {seconds:.0} s, {:.0} a second: {taken} were taken and moved nothing",
        f64::from(u32::try_from(attempts).unwrap()) / seconds,
    );
}

/// All attempts at one node; how many the server took.
async fn besiege(client: &Client, name: String, mut dice: Dice, attempts: u64) -> u64 {
    let hostile: Vec<Who> = Who::ALL.into_iter().filter(|who| who.is_hostile()).collect();
    let permits = Permit::ALL.map(Wish::Go);
    let others = [Wish::Join, Wish::Adopt, Wish::Record, Wish::Remove, Wish::RemoveRecord];
    let wishes: Vec<Wish> = permits.into_iter().chain(others).collect();
    let by_hand = Who::Initiator.at(client, &name);
    let settled =
        json!({CURRENT_CONFIG: "a", STATE: "Done", DESIRED_CONFIG: "a", PERMIT_CHANGE: "a"});
    let path = format!("{NODES}/{name}");
    by_hand.create(NODES, &node(&name, &settled)).await;
    let mut taken = 0;
    for number in 0..attempts {
        let row = Row {
            who: dice.one_of(&hostile),
            path: dice.one_of(&Path::ALL),
            wish: dice.one_of(&wishes),
            told: Told::Settled,
        };
        let answer = match dice.roll() % 4 {
            0 => mischief(client, &name, row.who, &mut dice).await,
            _ => row.attempt(client, &name).await,
        };
        taken += u64::from(answer.is_ok());
        let found = by_hand.send("GET", &path, "", &Value::Null).await;
        // One that was deleted and made anew bears no order, and is given a new life.
        let (_, noted) = borne(found.as_ref().unwrap_or(&Value::Null));
        if noted == [Value::Null, Value::Null] {
            drop(by_hand.send("DELETE", &path, "", &Value::Null).await);
            by_hand.create(NODES, &node(&name, &settled)).await;
            continue;
        }
        assert_eq!(
            noted,
            [json!("a"), json!("a")],
            "attempt {number} on {name}: {row}: {answer:?}"
        );
    }
    // And with all that they planted, the operator still can.
    let mark = Row {
        who: Who::Operator,
        path: Path::ApplyInItsName,
        wish: Wish::Go(Permit::Live),
        told: Told::Settled,
    };
    let marked = mark.attempt(client, &name).await;
    assert!(marked.is_ok(), "{name} cannot be marked any more: {marked:?}");
    taken
}

/// What starts nothing by itself, and may prepare something: planted, wiped and stolen owners, lies, deletions.
async fn mischief(client: &Client, name: &str, who: Who, dice: &mut Dice) -> Result<Value, String> {
    let writer = who.at(client, name);
    let path = format!("{NODES}/{name}");
    match dice.roll() % 6 {
        0 => writer.merge(&path, &json!({"metadata": {"managedFields": [{}]}})).await,
        1 => {
            let mut whole = writer.send("GET", &path, "", &Value::Null).await?;
            let year = 2000 + dice.roll() % 100;
            let owner = dice.one_of(&["forger", "tidegate", "tidegate-rollout", "gate"]);
            let entry = planted(owner, &format!("{year}-01-01T00:00:00Z"));
            match whole["metadata"]["managedFields"].as_array_mut() {
                Some(known) => known.push(entry),
                None => whole["metadata"]["managedFields"] = json!([entry]),
            }
            writer.send("PUT", &path, "application/json", &whole).await
        }
        2 => {
            writer.merge(&path, &json!({"metadata": {"annotations": {CURRENT_CONFIG: "c"}}})).await
        }
        3 => writer.merge(&path, &json!({"metadata": {"annotations": null}})).await,
        4 => writer.send("DELETE", &path, "", &Value::Null).await,
        _ => {
            let at = format!("{path}?fieldManager=tidegate-rollout&force=true");
            let config = node(name, &json!({"example.com/x": "x"}));
            writer.send("PATCH", &at, "application/apply-patch+yaml", &config).await
        }
    }
}
