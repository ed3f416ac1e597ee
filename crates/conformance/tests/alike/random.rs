//! Do the servers answer random sequences of requests alike?

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use conformance::{
    kubectl::prepare,
    random::{self, differences, steps, transcript},
};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use rig::{Cluster, Controllers, Embedded, User, suite};

/// The measure must not wobble: a real server agrees with itself, in two namespaces, on every sequence. What fails here is a value
/// that the comparison does not yet put away.
#[test]
fn real_server_agrees_with_itself() {
    suite::on_real("conformance", Controllers::Running, async |cluster| {
        agree(cluster, cluster, 200, &BTreeMap::new());
    });
}

/// What is known to differ stands in `random/differences.txt`, with why. An entry that was not met is an error: the list can only
/// shrink.
#[test]
fn embedded_server_agrees_with_a_real_one() {
    let list = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("random/differences.txt");
    let known = known_differences(&fs::read_to_string(list).unwrap());
    suite::on_real("conformance-embedded", Controllers::Running, async |real| {
        let embedded = Embedded::start(real.kubectl()).unwrap();
        let met = agree(real, embedded.cluster(), cases(), &known);
        let stale: Vec<_> = known.keys().filter(|name| !met.contains(*name)).collect();
        assert!(stale.is_empty(), "listed as different, and not met: {stale:#?}");
    });
}

/// How many sequences are compared: enough that every kind meets itself some hundred times, few enough for every run. A longer night
/// may ask for more.
fn cases() -> u32 {
    let asked = std::env::var("TIDEGATE_CONFORMANCE_CASES").ok();
    asked.map_or(3_000, |count| count.parse().unwrap())
}

/// Names of differences, each with the reason that stands above it.
fn known_differences(text: &str) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    let mut reason = None;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("  "), &reason) {
            (Some(name), Some(reason)) => {
                known.insert(name.to_owned(), String::clone(reason));
            }
            (Some(name), None) => panic!("{name} has no reason"),
            (None, _) => reason = Some(line.to_owned()),
        }
    }
    known
}

/// Whether an entry of the list means a difference of this name.
fn stands_for(entry: &str, name: &str) -> bool {
    entry.strip_prefix('*').map_or(entry == name, |end| name.ends_with(end))
}

/// A real server answers a single client slowly and many at once: so many sequences are under way together, each drawer with a seed
/// of its own.
const DRAWERS: u8 = 4;

/// Sends the same sequences to both, shrinking the first that shows an unknown difference, and tells which known ones were met.
fn agree(
    left: &Cluster,
    right: &Cluster,
    cases: u32,
    known: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    for cluster in [left, right] {
        prepare(cluster).unwrap();
    }
    // Threads of their own, because the runner is not async and the suite's runtime is busy with this call.
    std::thread::scope(|scope| {
        let drawers: Vec<_> = (0..DRAWERS)
            .map(|drawer| {
                let cases = cases.div_ceil(DRAWERS.into());
                scope.spawn(move || compare(left, right, drawer, cases, known))
            })
            .collect();
        let mut met = BTreeSet::new();
        for drawer in drawers {
            let compared = drawer.join();
            met.extend(compared.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        met
    })
}

fn compare(
    left: &Cluster,
    right: &Cluster,
    drawer: u8,
    cases: u32,
    known: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connect = |cluster: &Cluster| runtime.block_on(cluster.client(User::Admin)).unwrap();
    let (left_client, right_client) = (connect(left), connect(right));
    for client in [&left_client, &right_client] {
        runtime.block_on(random::prepare(client)).unwrap();
    }
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, &[drawer; 32]);
    let mut runner = TestRunner::new_with_rng(config, seed);
    let (case, met) = (Cell::new(0), RefCell::new(BTreeSet::new()));
    let outcome = runner.run(&steps(), |steps| {
        case.set(case.get() + 1);
        let names = ["left", "right"].map(|side| format!("case-{side}-{drawer}-{}", case.get()));
        let (expected, given) = runtime.block_on(async {
            tokio::join!(
                transcript(&left_client, &names[0], &steps),
                transcript(&right_client, &names[1], &steps)
            )
        });
        let (expected, given) = (expected.unwrap(), given.unwrap());
        let mut found = differences(&steps, &expected, &given);
        found.retain(|name| {
            let entry = known.keys().find(|entry| stands_for(entry, name));
            met.borrow_mut().extend(entry.cloned());
            entry.is_none()
        });
        if found.is_empty() {
            return Ok(());
        }
        let told = format!("{}: {expected:#?}\n{}: {given:#?}", left.server(), right.server());
        Err(TestCaseError::fail(format!("{found:#?}\n{told}")))
    });
    if let Err(problem) = outcome {
        panic!("{problem}");
    }
    met.into_inner()
}
