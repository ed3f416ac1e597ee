//! Do the servers answer random sequences of requests alike?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

use std::cell::Cell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use rig::{
    Cluster, Controllers, Embedded, User,
    conformance::{steps, transcript},
    kubectl::prepare,
    suite,
};

/// The measure must not wobble: a real server agrees with itself, in two namespaces, on every sequence. What fails here is a value
/// that the comparison does not yet put away.
#[test]
fn real_server_agrees_with_itself() {
    suite::on_real("conformance", Controllers::Running, async |cluster| {
        agree(cluster, cluster, 200);
    });
}

#[test]
fn embedded_server_agrees_with_a_real_one() {
    suite::on_real("conformance-embedded", Controllers::Running, async |real| {
        let embedded = Embedded::start(real.kubectl()).unwrap();
        agree(real, embedded.cluster(), 1000);
    });
}

/// Sends the same sequences to both, shrinking the first on which they differ.
fn agree(left: &Cluster, right: &Cluster, cases: u32) {
    for cluster in [left, right] {
        prepare(cluster).unwrap();
    }
    // A thread of its own, because the runner is not async and the suite's runtime is busy with this call.
    std::thread::scope(|scope| {
        let compared = scope.spawn(|| compare(left, right, cases)).join();
        if let Err(panic) = compared {
            std::panic::resume_unwind(panic);
        }
    });
}

fn compare(left: &Cluster, right: &Cluster, cases: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connect = |cluster: &Cluster| runtime.block_on(cluster.client(User::Admin)).unwrap();
    let (left_client, right_client) = (connect(left), connect(right));
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, seed);
    let case = Cell::new(0);
    let outcome = runner.run(&steps(), |steps| {
        case.set(case.get() + 1);
        let told = |client, side: &str| {
            let namespace = format!("case-{side}-{}", case.get());
            runtime.block_on(transcript(client, &namespace, &steps)).unwrap()
        };
        let (expected, given) = (told(&left_client, "left"), told(&right_client, "right"));
        for (index, (expected, given)) in expected.iter().zip(&given).enumerate() {
            if expected != given {
                let what = steps.get(index).map_or("event".to_owned(), |step| format!("{step:?}"));
                let problem =
                    format!("{what}\n{}: {expected}\n{}: {given}", left.server(), right.server());
                return Err(TestCaseError::fail(problem));
            }
        }
        if expected.len() != given.len() {
            return Err(TestCaseError::fail("one watch saw more than the other"));
        }
        Ok(())
    });
    if let Err(problem) = outcome {
        panic!("{problem}");
    }
}
