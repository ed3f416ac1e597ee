use api::kinds;
use serde_json::{Value, json};

use super::*;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn gate(mode: &str, rooms: &[&str]) -> SeenGate {
    let holds: Value = rooms.iter().map(|room| json!({"what": room})).collect();
    SeenGate::new(&json!({"spec": {"mode": mode, "holds": holds}}))
}

fn proofs(tried: &[(&str, Enforcement)]) -> Proofs {
    let mut proofs = Proofs::default();
    for (policy, verdict) in tried {
        proofs.tell(policy, *verdict, None, at("2026-11-14T00:00:00Z"));
    }
    proofs
}

/// GATE-13: what is not refused speaks before what nobody knows, and that before what was seen.
#[test]
fn a_gate_is_kept_as_its_worst_room_is() {
    use Enforcement::{Advisory, NeedsNewerServer, NotRefused, NotTried, PolicyMissing, Proven};
    let rows: &[(&[Enforcement; 2], Enforcement, &str)] = &[
        (&[Proven, Proven], Proven, "the API server refuses what this gate holds"),
        (&[Proven, NotTried], NotTried, "KuredLock: whether"),
        (&[NotTried, PolicyMissing], PolicyMissing, "KuredLock: the admission policy"),
        (&[NotRefused, PolicyMissing], NotRefused, "Deployments: the API server let"),
        (&[NotRefused, NotRefused], NotRefused, "Deployments, KuredLock: the API server let"),
        (&[NeedsNewerServer, NeedsNewerServer], NeedsNewerServer, "Deployments, KuredLock: this"),
    ];
    for ([deployments, lock], expected, says) in rows {
        let tried = proofs(&[("gate-deployments", *deployments), ("gate-kured-lock", *lock)]);
        let gate = gate("Enforce", &["Deployments", "KuredLock"]);
        let kept = kept(&gate, &kinds::CHANGE_GATE, Some(&tried)).unwrap();
        let said = kept.about(&kinds::CHANGE_GATE);
        assert_eq!(kept.enforcement, *expected, "{said}");
        assert!(said.starts_with(says), "{said}");
    }
    // Each kind of gate has policies of its own.
    let tried = proofs(&[("gate-deployments", Proven), ("cluster-gate-deployments", NotRefused)]);
    let verdict = |kind| kept(&gate("Enforce", &["Deployments"]), kind, Some(&tried)).unwrap();
    assert_eq!(verdict(&kinds::CHANGE_GATE).enforcement, Proven);
    assert_eq!(verdict(&kinds::CLUSTER_CHANGE_GATE).enforcement, NotRefused);
    // A gate that lets everything pass refuses nothing, whatever was tried.
    let audits = kept(&gate("Audit", &["Deployments"]), &kinds::CHANGE_GATE, None).unwrap();
    assert_eq!(audits.enforcement, Advisory);
    assert_eq!(
        audits.about(&kinds::CHANGE_GATE),
        "nothing is refused by this gate: its mode is Audit"
    );
}

/// RCH-14: a room of somebody's own that nobody installed holds nothing, and the gate says so.
#[test]
fn each_room_of_somebodys_own_has_a_policy() {
    let document = json!({"spec": {"changeManagement": {"strategy": "Restrictive"}, "mode": "Enforce",
        "holds": [{"what": "Custom", "rooms": ["databases", "queues"]}]}});
    let gate = SeenGate::new(&document);
    let check = |queues: Enforcement, says: &str| {
        let tried = [
            ("cluster-gate-custom-databases", Enforcement::NotTried),
            ("cluster-gate-custom-queues", queues),
        ];
        let kept = kept(&gate, &kinds::CLUSTER_CHANGE_GATE, Some(&proofs(&tried))).unwrap();
        assert_eq!(kept.enforcement, queues);
        let said = kept.about(&kinds::CLUSTER_CHANGE_GATE);
        assert!(said.starts_with(says), "{said}");
    };
    check(Enforcement::PolicyMissing, "Custom queues: the admission policy");
    check(Enforcement::NotTried, "Custom databases, Custom queues: whether");
}

#[test]
fn what_nobody_has_tried_stays_as_it_is_told() {
    let gate = gate("Enforce", &["Deployments", "KuredLock"]);
    assert_eq!(kept(&gate, &kinds::CHANGE_GATE, None), None);
    let one = proofs(&[("gate-deployments", Enforcement::Proven)]);
    assert_eq!(kept(&gate, &kinds::CHANGE_GATE, Some(&one)), None, "the other is not known yet");
    let mut why = proofs(&[("gate-kured-lock", Enforcement::Proven)]);
    let refused = Some("no right".to_owned());
    why.tell("gate-deployments", Enforcement::NotTried, refused, at("2026-11-14T00:00:00Z"));
    let kept = kept(&gate, &kinds::CHANGE_GATE, Some(&why)).unwrap();
    let said = kept.about(&kinds::CHANGE_GATE);
    assert!(said.starts_with("Deployments: ") && said.ends_with(": no right"), "{said}");
}

/// STAT-3: a status that told of each try would be written with each try.
#[test]
fn proven_tells_since_when_and_is_taken_back_when_it_ends() {
    let room = rooms::room(api::reach::What::Deployments).unwrap();
    let mut tried = Proofs::default();
    let told = |tried: &Proofs, before: Option<&str>| {
        proven(room, &kinds::CHANGE_GATE, Some(tried), before)
    };
    let first = "2026-11-14T00:00:00Z";
    tried.tell("gate-deployments", Enforcement::Proven, None, at(first));
    assert_eq!(told(&tried, None).as_deref(), Some(first));
    tried.tell("gate-deployments", Enforcement::Proven, None, at("2026-11-14T00:05:00Z"));
    assert_eq!(told(&tried, Some(first)).as_deref(), Some(first));
    // Whoever starts anew has tried nothing, then tries: what stands there stays.
    assert_eq!(told(&Proofs::default(), Some(first)).as_deref(), Some(first));
    let mut anew = Proofs::default();
    anew.tell("gate-deployments", Enforcement::Proven, None, at("2026-11-14T01:00:00Z"));
    assert_eq!(told(&anew, Some(first)).as_deref(), Some(first));
    tried.tell("gate-deployments", Enforcement::NotRefused, None, at("2026-11-14T00:10:00Z"));
    assert_eq!(told(&tried, Some(first)), None);
    let again = "2026-11-14T00:15:00Z";
    tried.tell("gate-deployments", Enforcement::Proven, None, at(again));
    assert_eq!(told(&tried, None).as_deref(), Some(again));
}
