//! In a cluster, for many people: does each see what they may list and no more, and is what they do done as them?

use std::{net::SocketAddr, path::PathBuf, process::Command, sync::Arc, time::Duration};

use console::{AsSomebody, Desk, Doors, Entrance};
use front::Protection;
use kube::config::AuthInfo;
use rig::{
    Controllers, User,
    rights::{self, Difference, Recorder},
    suite,
};
use runtime::{call::Cluster, client, clock::SystemClock};
use serde_json::{Value, json};
use tidy::Tree;
use tokio::{net::TcpListener, task::spawn_blocking};

use crate::stand::{Answer, ask, chance, encoded, hear};

const NAME: &str = "console.example.com";

/// How long a real server may think.
const PATIENCE: Duration = Duration::from_secs(30);

fn kubectl(cluster: &rig::Cluster, arguments: &[&str], input: &Value) {
    let mut command = Command::new(cluster.kubectl());
    command.arg("--kubeconfig").arg(cluster.kubeconfig(User::Admin)).args(arguments);
    let folder = tempfile::tempdir().unwrap();
    if !input.is_null() {
        let file = folder.path().join("objects.json");
        std::fs::write(&file, input.to_string()).unwrap();
        command.arg("-f").arg(file);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Two teams with a pool each, a pool of the cluster, and three people: one who may read everything, one who works in a namespace, and nobody.
fn people_and_pools() -> Value {
    let pool = |namespace: &str| {
        json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool",
            "metadata": {"name": format!("pool-of-{namespace}"), "namespace": namespace},
            "spec": {"clusterName": "c", "release": {"image": "example.com/release:1"}, "platform": {"type": "None"}, "replicas": 0,
                "management": {"upgradeType": "Replace"}}})
    };
    let namespace =
        |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let account = |name: &str| json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "team-a"}});
    let subject =
        |name: &str| json!([{"kind": "ServiceAccount", "name": name, "namespace": "team-a"}]);
    let role = |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let rbac = "rbac.authorization.k8s.io/v1";
    json!({"apiVersion": "v1", "kind": "List", "items": [
        namespace("team-a"), namespace("team-b"), account("viewer"), account("editor"), account("nobody"),
        {"apiVersion": rbac, "kind": "ClusterRole", "metadata": {"name": "sees"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]},
        {"apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": {"name": "sees"}, "roleRef": role("ClusterRole", "sees"), "subjects": subject("viewer")},
        {"apiVersion": rbac, "kind": "Role", "metadata": {"name": "edits", "namespace": "team-a"}, "rules": [
            {"apiGroups": ["hypershift.openshift.io"], "resources": ["nodepools"], "verbs": ["get", "list"]},
            {"apiGroups": ["changemanagement.openshift.io"], "resources": ["changefreezes"], "verbs": ["get", "list", "create", "delete"]}]},
        {"apiVersion": rbac, "kind": "RoleBinding", "metadata": {"name": "edits", "namespace": "team-a"}, "roleRef": role("Role", "edits"), "subjects": subject("editor")},
        pool("team-a"), pool("team-b"),
        {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "metadata": {"name": "pool-of-all"},
            "spec": {"nodeSelector": {"matchLabels": {"a": "b"}}}},
    ]})
}

/// A request of a page of the console, with the token that a proxy hands on.
async fn asked(
    address: SocketAddr,
    request: &str,
    token: &str,
    cookie: &str,
    form: &str,
) -> Answer {
    let (request, token, cookie, form) =
        (request.to_owned(), token.to_owned(), cookie.to_owned(), form.to_owned());
    let asking = spawn_blocking(move || {
        let origin = format!("https://{NAME}");
        let mut headers = vec![
            ("Host", NAME),
            ("Origin", origin.as_str()),
            ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Cookie", cookie.as_str()),
        ];
        if !token.is_empty() {
            headers.push(("X-Forwarded-Access-Token", token.as_str()));
        }
        ask(address, &request, &headers, &form)
    });
    asking.await.unwrap()
}

/// The cookie, with the letters that it has.
fn cookie(answer: &Answer) -> String {
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__host-tidegate=") && cookie.contains("; secure"), "{cookie}");
    cookie.split(';').next().unwrap().replace("__host-tidegate", "__Host-tidegate")
}

fn form_token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

fn as_somebody(config: kube::Config) -> AsSomebody {
    AsSomebody(Arc::new(move |token| {
        let mut theirs = config.clone();
        theirs.auth_info = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
        let client = client::connect(theirs).ok()?;
        Some(Cluster::new(client, Arc::new(SystemClock), Arc::default(), PATIENCE))
    }))
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, in its order")]
fn real_people_see_what_they_may_and_write_as_themselves() {
    suite::on_real("console-in-cluster", Controllers::Absent, async |cluster| {
        let folder = |path: &str| -> String { Tree::top().join(path).display().to_string() };
        for path in [
            "deploy/manifests/0-namespace.yaml",
            "deploy/manifests/crds.yaml",
            "deploy/crds/upstream",
            "deploy/manifests/change-gates/0-crds.yaml",
            "deploy/manifests/guardrails/0-crds.yaml",
            "deploy/manifests/console",
        ] {
            kubectl(cluster, &["apply", "--server-side", "-f", &folder(path)], &Value::Null);
        }
        kubectl(cluster, &["wait", "--for=condition=Established", "crd", "--all"], &Value::Null);
        kubectl(cluster, &["apply", "--server-side", "--validate=false"], &people_and_pools());
        let recorder = Recorder::default();
        let own = cluster.account("tidegate-system", "tidegate-console", &recorder).await.unwrap();
        let own = Cluster::new(own, Arc::new(SystemClock), Arc::default(), PATIENCE);
        let kubeconfig: PathBuf = cluster.kubeconfig(User::Admin).to_owned();
        let config = client::configuration(Some(&kubeconfig)).await.unwrap();
        let desk = Desk::new(own, Arc::new(SystemClock), "real").for_people(as_somebody(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let pasted = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, door) = (listener.local_addr().unwrap(), pasted.local_addr().unwrap());
        let doors = Doors::in_cluster(chance);
        let mut tokens = Vec::new();
        for name in ["viewer", "editor", "nobody"] {
            tokens.push(cluster.token("team-a", name).await.unwrap());
        }
        let [viewer, editor, nobody] = <[String; 3]>::try_from(tokens).unwrap();
        let names = vec![NAME.to_owned()];
        let story = async {
            desk.settle(Duration::from_mins(1)).await;
            let pools = ["pool-of-team-a", "pool-of-team-b", "pool-of-all"];
            let seen = |page: &str| pools.map(|pool| page.contains(pool));
            // Without a token that the cluster knows nobody sees anything.
            for token in ["", "guessed"] {
                let answer = asked(address, "GET /resources", token, "", "").await;
                assert_eq!((answer.code, seen(&answer.body)), (401, [false; 3]), "{token}");
            }
            let everything = asked(address, "GET /resources", &viewer, "", "").await;
            assert_eq!(
                (everything.code, seen(&everything.body)),
                (200, [true; 3]),
                "{}",
                everything.body
            );
            let some = asked(address, "GET /resources", &editor, "", "").await;
            assert_eq!(seen(&some.body), [true, false, false], "{}", some.body);
            assert!(some.body.contains("You may not list"), "{}", some.body);
            for path in [
                "/resources",
                "/",
                "/r/np/team-a/pool-of-team-a",
                "/calendar",
                "/pools",
                "/gates",
                "/what-if",
            ] {
                let none = asked(address, &format!("GET {path}"), &nobody, "", "").await;
                let rest = none
                    .body
                    .replace("/r/np/team-a/pool-of-team-a", "")
                    .replace("NodePool/team-a/pool-of-team-a", "");
                assert_eq!(seen(&rest), [false; 3], "{path}: {}", none.body);
            }
            // A cookie is nothing without the token that it was given for, and whose token it is counts.
            let theirs = cookie(&everything);
            assert_eq!(asked(address, "GET /resources", "", &theirs, "").await.code, 401);
            let swapped = asked(address, "GET /resources", &nobody, &theirs, "").await;
            assert_eq!(seen(&swapped.body), [false; 3], "one person's session is not another's");
            // What somebody does is done as them.
            let fields = |name: &str, token: &str| {
                format!(
                    "stage=do&name={name}&ends=2100-01-01T00%3A00%3A00Z&reason=storm&scope=team-a&token={token}"
                )
            };
            let mine = cookie(&some);
            let written = asked(
                address,
                "POST /freeze",
                &editor,
                &mine,
                &fields("by-editor", &form_token(&some.body)),
            )
            .await;
            assert!(written.body.contains("is written."), "{}", written.body);
            let refused = asked(
                address,
                "POST /freeze",
                &viewer,
                &theirs,
                &fields("by-viewer", &form_token(&everything.body)),
            )
            .await;
            assert!(refused.body.contains("Nothing was written"), "{}", refused.body);
            assert!(
                refused.body.contains("system:serviceaccount:team-a:viewer"),
                "the server saw who it was: {}",
                refused.body
            );
            let form = asked(address, "GET /freeze", &viewer, &theirs, "").await;
            assert!(form.body.contains("You may not create clusterchangefreezes. (asked as system:serviceaccount:team-a:viewer)"), "{}", form.body);
            let stolen = asked(
                address,
                "POST /freeze",
                &editor,
                &mine,
                &fields("stolen", &form_token(&everything.body)),
            )
            .await;
            assert_eq!(stolen.code, 403, "the form of another session");
            // Where people paste a token, a header that claims one is refused.
            let lie = asked(door, "GET /", &viewer, "", "").await;
            assert_eq!(lie.code, 403);
            let wrong = asked(door, "POST /door", "", "", "bearer=guessed").await;
            assert_eq!(wrong.code, 403);
            let entered =
                asked(door, "POST /door", "", "", &format!("bearer={}", encoded(&editor))).await;
            assert_eq!(entered.code, 303);
            let page = asked(door, "GET /resources", "", &cookie(&entered), "").await;
            assert_eq!(seen(&page.body), [true, false, false], "{}", page.body);
            assert!(!page.body.contains(&editor[..20]), "no page shows a token");
            // Whom the cluster does not know any more is out within half a minute, a page that stays open among them.
            let inside = cookie(&entered);
            let open = inside.clone();
            let listening = spawn_blocking(move || {
                hear(door, NAME, (&open, "/live?page=%2F&mark=another"), "event: gone")
            });
            kubectl(
                cluster,
                &["delete", "serviceaccount", "editor", "--namespace=team-a"],
                &Value::Null,
            );
            listening.await.unwrap();
            assert_eq!(asked(door, "GET /resources", "", &inside, "").await.code, 401);
        };
        let (watching, other) = (desk.clone(), doors.clone());
        tokio::select! {
            () = watching.watch() => {}
            () = console::serve(listener, Protection::Clear, Entrance::Proxy(names.clone()), (desk.clone(), doors.clone()), std::future::pending()) => {}
            () = console::serve(pasted, Protection::Clear, Entrance::Tokens(names.clone()), (desk.clone(), other), std::future::pending()) => {}
            () = story => {}
        }
        // The account of the console reads and asks, and can do nothing else.
        let manifest = std::fs::read_to_string(folder("deploy/manifests/console/console.yaml"));
        let objects: Vec<Value> = serde_saphyr::from_multiple(&manifest.unwrap()).unwrap();
        let granted = rights::granted(&objects);
        let difference = Difference::between(&recorder.used(), &granted);
        assert!(difference.is_empty(), "the role does not fit:\n{difference}");
        for right in &granted {
            let right = right.to_string();
            let harmless = right.starts_with("list ")
                || right.starts_with("watch ")
                || right == "create tokenreviews.authentication.k8s.io"
                || right == "create subjectaccessreviews.authorization.k8s.io";
            assert!(
                harmless && !right.contains("secrets") && !right.contains("impersonate"),
                "{right}"
            );
        }
    });
}
