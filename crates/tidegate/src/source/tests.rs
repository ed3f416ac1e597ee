use super::*;

const GOOD: &str = include_str!("../../../../examples/berlin-nights.yaml");
const JSON: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion":
    "changemanagement.openshift.io/v1alpha1", "kind": "HostedChangeManagementPolicy", "metadata": {"name": "x"},
    "spec": {"strategy": "Permissive", "maintenanceSchedule": {"exclude": [{"fromDate": "2026-12-24"}]}}}]}"#;

fn read(text: &[u8]) -> Loaded {
    let mut loaded = Loaded::default();
    load_bytes(text, "x.yaml", &mut loaded);
    loaded
}

/// A small generator of numbers, the same on every node.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Good documents with parts torn out, put in or doubled: never a panic, never silence, and every problem has a place in the file.
#[test]
fn damaged_documents_are_judged_and_never_break_the_reader() {
    const PIECES: &[&str] = &[
        ":",
        "- ",
        "\n",
        "---\n",
        "...\n",
        "&a ",
        "*a",
        "!x ",
        "!!str ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "|\n",
        ">\n",
        "#",
        "%",
        "\t",
        "? ",
        "<<: ",
        "\u{1F384}",
        "\\",
        "  ",
        "0x",
        "1e9",
        "~",
        "@",
        "`",
    ];
    let mut chance = Chance(1);
    let mut usable = 0;
    for round in 0..3_000 {
        let mut text = if round % 4 == 0 { JSON } else { GOOD }.to_owned();
        for _ in 0..=chance.below(4) {
            let boundary = |mut at: usize| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let (from, to) = (chance.below(text.len()), chance.below(text.len()));
            let (from, to) = (boundary(from.min(to)), boundary(from.max(to)));
            match chance.below(3) {
                0 => text.replace_range(from..to.min(boundary(from + (to - from) % 20)), ""),
                1 => text.insert_str(from, PIECES[chance.below(PIECES.len())]),
                _ => {
                    let copy = text[from..boundary(from + (to - from) % 40)].to_owned();
                    text.insert_str(to, &copy);
                }
            }
        }
        let loaded = read(text.as_bytes());
        usable += loaded.policies.len();
        assert!(
            !loaded.policies.is_empty() || !loaded.findings.is_empty(),
            "neither a policy nor a problem: {text:?}"
        );
        let lines = text.lines().count() + 1;
        for finding in &loaded.findings {
            let line = finding.place.line;
            assert!((1..=lines).contains(&line), "line {line} of {lines}: {finding:?} in {text:?}");
        }
    }
    assert!(usable > 100, "some of them survive: {usable}");
}

#[test]
fn one_broken_document_hides_no_other() {
    let text = format!("{GOOD}---\na: [\n---\n{GOOD}---\nkind: 7\n---\n{GOOD}");
    let loaded = read(text.as_bytes());
    assert_eq!((loaded.documents, loaded.policies.len(), loaded.findings.len()), (5, 3, 2));
}

/// Others have kinds of the same name, and what is theirs is none of ours.
#[test]
fn karpenters_node_pool_is_not_hypershifts() {
    let of = |version: &str, kind: &str| {
        let text = format!(
            "{{apiVersion: {version}, kind: {kind}, metadata: {{name: x, namespace: n}}, items: [\
             {{apiVersion: {version}, kind: NodePool, metadata: {{name: x, namespace: n}}}}]}}"
        );
        let mut loaded = Loaded { reads: Reads::Cluster, ..Loaded::default() };
        load_bytes(text.as_bytes(), "x.yaml", &mut loaded);
        loaded.objects.len()
    };
    assert_eq!(of("hypershift.openshift.io/v1beta1", "NodePool"), 1);
    assert_eq!(of("karpenter.sh/v1", "NodePool"), 0);
    assert_eq!(of("hypershift.openshift.io/v1beta1", "NodePoolList"), 1);
    assert_eq!(of("karpenter.sh/v1", "NodePoolList"), 0);
    // A list of many kinds is of no group, and each entry says its own.
    assert_eq!(of("v1", "List"), 0);
}

/// GATE-12: of a gate that names no namespace nobody could say what it holds, and one that is there twice says two things.
#[test]
fn a_gate_of_a_file_says_where_it_is_and_is_there_once() {
    let gate = |namespace: &str, strategy: &str| {
        format!(
            "apiVersion: changemanagement.openshift.io/v1alpha1\nkind: ChangeGate\nmetadata: {{name: till{namespace}}}\n\
             spec: {{changeManagement: {{strategy: {strategy}}}, holds: [{{what: Deployments}}]}}\n"
        )
    };
    let judged = |text: &str| {
        let mut loaded = Loaded { reads: Reads::Cluster, ..Loaded::default() };
        load_bytes(text.as_bytes(), "x.yaml", &mut loaded);
        loaded.leave_unclear_holders_out();
        let strategies = loaded.objects.iter().map(|(_, gate)| {
            gate["spec"]["changeManagement"]["strategy"].as_str().unwrap_or_default().to_owned()
        });
        let said = loaded.findings.iter().map(|finding| {
            format!("{} {} {}", finding.place.line, finding.problem.field, finding.problem.detail)
        });
        (strategies.collect::<Vec<_>>(), said.collect::<Vec<_>>())
    };
    let shop = ", namespace: shop";
    let none: [&str; 0] = [];
    let (kept, said) = judged(&gate(shop, "Restrictive"));
    assert_eq!((kept, said), (vec!["Restrictive".to_owned()], vec![]));
    let (kept, said) = judged(&gate("", "Restrictive"));
    assert_eq!(kept, none);
    let expected =
        "1 metadata.namespace ChangeGate/till holds what is in its namespace, and names none";
    assert_eq!(said, [expected]);
    // What is written last counts, as when both are applied.
    let twice = format!(
        "{}---\n{}---\n{}",
        gate(shop, "Restrictive"),
        gate(", namespace: lab", "Restrictive"),
        gate(shop, "Permissive")
    );
    let (kept, said) = judged(&twice);
    assert_eq!(kept, ["Restrictive", "Permissive"]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("1 metadata.name ChangeGate/shop/till is written twice"),
        "{said:?}"
    );
    assert!(said[0].ends_with("is in x.yaml:11"), "{said:?}");
}
