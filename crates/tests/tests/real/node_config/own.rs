//! Does an agent get what its own node needs, and nothing else? With tokens that the server issued, for pods on nodes, under everything
//! that is shipped (NODE-3).

use std::{fs, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use agent::{host::recording::Recording, run::Agent, supply::Supply};
use api::{
    kinds,
    machine::names::{
        API_VERSION, CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, MACHINE_CONFIG, PERMIT_CHANGE,
        REASON, ROLE, STATE,
    },
    names::MACHINE_CONFIG_POOL,
};
use kube::Client;
use operator::{
    Operator, Pools, Settings,
    node_config::{listen, own::AUDIENCE},
};
use rig::{Cluster, Controllers, User, rights::Recorder, suite};
use runtime::{call, clock::SystemClock, key::collection, telemetry::Telemetry};
use serde_json::{Value, json};
use tidy::Tree;
use tokio::net::TcpListener;
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::{
    super::{
        admin::kubectl,
        rollout::writers::{INITIATORS, RIGHTS, Writer},
    },
    ANY_PORT,
    http::{Connection, ask},
    world::{World, until},
    write_pair,
};

const SYSTEM: &str = "tidegate-system";
const AGENT: &str = "tidegate-agent";
const NODES: &str = "/api/v1/nodes";

/// A worker and a master, each with its pool, and the shipped roles and policies.
struct Stage<'a> {
    cluster: &'a Cluster,
    by_hand: Writer,
    worker: String,
    master: String,
}

#[test]
fn real_agents_get_what_their_own_machine_needs_and_nothing_else() {
    suite::on_real("node-config-own", Controllers::Absent, async |cluster| {
        for folder in ["", "/manage-pools", "/node-config", "/agent"] {
            let folder = format!("deploy/manifests{folder}");
            let folder = Tree::top().join(folder).display().to_string();
            kubectl(cluster, &["apply", "--server-side", "--force-conflicts", "-f", &folder]);
        }
        let _kinds = World::new(cluster).await;
        let admin = cluster.client(User::Admin).await.unwrap();
        // With the rights that are shipped, and no others.
        let account = cluster.account(SYSTEM, "tidegate", &Recorder::default()).await.unwrap();
        let proof = operator::Proof::Waived;
        let settings = Settings { proof, ..Settings::alone("one").with(Pools::Managed) };
        let operator = Operator::new(account, Arc::new(SystemClock), settings);
        let service = operator.node_config();
        tokio::spawn(async move { operator.run(std::future::pending()).await.unwrap() });
        let stage = Stage::set(cluster, &admin).await;

        let folder = tempfile::tempdir().unwrap();
        let files = ["tls.crt", "tls.key", "token"].map(|name| folder.path().join(name));
        let [chain, key, token] = &files;
        let trusted = write_pair(chain, key);
        // A port that nobody listens on yet: the operator is away.
        let address = TcpListener::bind(ANY_PORT).await.unwrap().local_addr().unwrap();
        fs::write(token, stage.token("on-w1").await).unwrap();
        let supply = Supply::of(
            Some(format!("https://localhost:{}", address.port())),
            Some(chain.clone()),
            Some(token.clone()),
        );
        let agent = stage.agent("w1", supply.unwrap()).await;
        stage
            .an_agent_waits_for_the_operator_and_says_so(agent, async || {
                let listener = TcpListener::bind(address).await.unwrap();
                let protection = listen::protection(address, Some((chain, key))).unwrap();
                let ended = std::future::pending();
                tokio::spawn(listen::serve(listener, protection, service.clone(), ended));
            })
            .await;
        stage.everybody_gets_their_own((address, &trusted)).await;
        stage.nothing_is_read_at_the_api_server().await;
        let stranger = folder.path().join("elsewhere");
        fs::create_dir(&stranger).unwrap();
        stage.a_false_operator_is_not_shown_the_token(address, &stranger, token).await;
    });
}

impl<'a> Stage<'a> {
    async fn set(cluster: &'a Cluster, admin: &Client) -> Self {
        let by_hand = Writer::new(admin, "jane", &[RIGHTS, INITIATORS], None);
        let (configs, pools) = (
            collection(&kinds::MACHINE_CONFIG, None),
            collection(&kinds::MACHINE_CONFIG_POOL, None),
        );
        for (role, node, secret) in [("worker", "w1", "of-workers"), ("master", "m1", "of-masters")]
        {
            let config = json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
                "metadata": {"name": format!("50-{role}"), "labels": {ROLE: role}},
                "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
                    {"path": "/etc/secret", "contents": {"source": format!("data:,{secret}")}}]}}}});
            by_hand.create(&configs, &config).await;
            let label = format!("node-role.kubernetes.io/{role}");
            let pool = json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG_POOL, "metadata": {"name": role},
                "spec": {"changeManagement": {"strategy": "Restrictive"},
                    "machineConfigSelector": {"matchLabels": {ROLE: role}},
                    "nodeSelector": {"matchLabels": {&*label: ""}}}});
            by_hand.create(&pools, &pool).await;
            let machine = json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": node, "labels": {&*label: ""}}});
            by_hand.create(NODES, &machine).await;
        }
        for (pod, node, account) in
            [("on-w1", "w1", AGENT), ("on-m1", "m1", AGENT), ("stranger-on-m1", "m1", "default")]
        {
            let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod}, "spec": {
                "nodeName": node, "serviceAccountName": account, "automountServiceAccountToken": false,
                "containers": [{"name": "c", "image": "example.com/none"}]}});
            by_hand.create(&format!("/api/v1/namespaces/{SYSTEM}/pods"), &pod).await;
        }
        let account =
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        // Where controllers run it is there already.
        let accounts = format!("/api/v1/namespaces/{SYSTEM}/serviceaccounts");
        drop(by_hand.send("POST", &accounts, "application/json", &account).await);
        let newest = async |pool: &str| {
            let path = format!("{pools}/{pool}");
            let name = async || by_hand.get(&path).await["spec"]["configuration"]["name"].clone();
            until("the pool is rendered", async || name().await.is_string()).await;
            name().await.as_str().unwrap().to_owned()
        };
        let (worker, master) = (newest("worker").await, newest("master").await);
        Self { cluster, by_hand, worker, master }
    }

    /// The token that the pod of an agent shows to the operator.
    async fn token(&self, pod: &str) -> String {
        self.cluster.token_for(AUDIENCE, (SYSTEM, AGENT), Some(pod)).await.unwrap()
    }

    async fn agent(&self, node: &str, supply: Supply) -> Agent<Recording> {
        let token = self.cluster.token_of_pod(SYSTEM, AGENT, &format!("on-{node}")).await.unwrap();
        let client = self.cluster.bearer(token, &Recorder::default()).await.unwrap();
        let (clock, telemetry) = (Arc::new(SystemClock), Arc::new(Telemetry::default()));
        let called = call::Cluster::new(client, clock, telemetry, Duration::from_secs(10));
        Agent::new(Recording::default(), called, node).supplied_by(supply)
    }

    async fn says(&self, node: &str, key: &str) -> String {
        let found = self.by_hand.get(&format!("{NODES}/{node}")).await;
        found["metadata"]["annotations"][key].as_str().unwrap_or_default().to_owned()
    }

    async fn order(&self, node: &str, annotations: &Value) {
        let change = json!({"metadata": {"annotations": annotations}});
        self.by_hand.merge(&format!("{NODES}/{node}"), &change).await.unwrap();
    }

    /// While the operator is away a node is on its way and says what it waits for; when it is back the node goes on by itself.
    async fn an_agent_waits_for_the_operator_and_says_so(
        &self,
        mut agent: Agent<Recording>,
        comes_back: impl AsyncFnOnce(),
    ) {
        let worker = &self.worker;
        self.order("w1", &json!({DESIRED_CONFIG: worker, PERMIT_CHANGE: worker})).await;
        let story = async {
            let waits = format!(
                "waiting for MachineConfig {worker}: the operator gives no answer at https://localhost:"
            );
            until("it says what it waits for", async || {
                self.says("w1", REASON).await.starts_with(&waits)
            })
            .await;
            assert_eq!(self.says("w1", STATE).await, "Working");
            comes_back().await;
            // It has read what it is to become, and asks for room.
            let asked = format!("drain-{worker}");
            until("it goes on", async || self.says("w1", DESIRED_DRAIN).await == asked).await;
            assert_eq!(self.says("w1", REASON).await, "");
        };
        tokio::select! {
            () = agent.run() => {}
            () = story => {}
        }
    }

    async fn everybody_gets_their_own(
        &self,
        (address, trusted): (SocketAddr, &CertificateDer<'static>),
    ) {
        let (worker, master) = (&*self.worker, &*self.master);
        let get = async |config: &str, token: Option<&str>| {
            let connection = Connection::tls(address, trusted.clone()).await.unwrap();
            ask(connection, "GET", &format!("/own/{config}"), token, "").await
        };
        let (worker_token, master_token) = (self.token("on-w1").await, self.token("on-m1").await);
        let for_the_server = self.cluster.token_of_pod(SYSTEM, AGENT, "on-m1").await.unwrap();
        let nowhere = self.cluster.token_for(AUDIENCE, (SYSTEM, AGENT), None).await.unwrap();
        let stranger = self
            .cluster
            .token_for(AUDIENCE, (SYSTEM, "default"), Some("stranger-on-m1"))
            .await
            .unwrap();
        let foreign = "Node/w1 belongs to MachineConfigPool/worker";
        for (who, token, config, code, part) in [
            ("a worker its own", Some(&*worker_token), worker, 200, "of-workers"),
            ("a worker the masters'", Some(&worker_token), master, 403, foreign),
            ("a master its own", Some(&master_token), master, 200, "of-masters"),
            ("a master the workers'", Some(&master_token), worker, 403, "MachineConfigPool/worker"),
            (
                "a worker a source",
                Some(&worker_token),
                "50-master",
                403,
                "was rendered for no pool",
            ),
            (
                "a worker nothing",
                Some(&worker_token),
                "rendered-worker-x",
                404,
                "there is no MachineConfig",
            ),
            ("a token for the API server", Some(&for_the_server), master, 401, "audience"),
            ("a token of no pod", Some(&nowhere), master, 403, "does not say on which node"),
            ("another account", Some(&stranger), master, 403, "may not get /own/"),
            ("nobody", None, master, 401, "there is no token"),
        ] {
            let answer = get(config, token).await;
            assert_eq!(answer.code, code, "{who}: {}", answer.body);
            assert!(answer.body.contains(part), "{who}: {}", answer.body);
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{who}");
            assert!(code == 200 || !answer.body.contains("of-masters"), "{who}: {}", answer.body);
        }
        // Whatever the agent of a node that was taken over says of it, the node stays what its labels make it.
        let claim = json!({"metadata": {"annotations": {CURRENT_CONFIG: master, STATE: "Done"}}});
        let token = self.cluster.token_of_pod(SYSTEM, AGENT, "on-w1").await.unwrap();
        let own = Writer::itself(&self.cluster.bearer(token, &Recorder::default()).await.unwrap());
        own.merge(&format!("{NODES}/w1"), &claim).await.unwrap();
        assert_eq!(get(master, Some(&worker_token)).await.code, 403, "the agent's own word");
        // Also before anybody has told the node anything: then the operator repeats the agent's word, without a record.
        self.order("w1", &json!({DESIRED_CONFIG: null, PERMIT_CHANGE: null})).await;
        until("the operator repeats it", async || self.says("w1", DESIRED_CONFIG).await == master)
            .await;
        assert_eq!(get(master, Some(&worker_token)).await.code, 403, "repeated, and not recorded");
        // An order with its record is another matter: somebody with the right to it sends the node there.
        self.order("w1", &json!({DESIRED_CONFIG: master, PERMIT_CHANGE: master})).await;
        assert_eq!(get(master, Some(&worker_token)).await.code, 200);
        self.order("w1", &json!({DESIRED_CONFIG: worker, PERMIT_CHANGE: worker})).await;
        assert_eq!(get(master, Some(&worker_token)).await.code, 403);
    }

    /// The door beside: the same token at the API server reads no configuration of any pool, its own included.
    async fn nothing_is_read_at_the_api_server(&self) {
        let token = self.cluster.token_of_pod(SYSTEM, AGENT, "on-w1").await.unwrap();
        let agent =
            Writer::itself(&self.cluster.bearer(token, &Recorder::default()).await.unwrap());
        let configs = collection(&kinds::MACHINE_CONFIG, None);
        for path in [
            format!("{configs}/{}", self.master),
            format!("{configs}/{}", self.worker),
            configs.clone(),
            format!("{configs}?watch=true&timeoutSeconds=1"),
        ] {
            let refused = agent.send("GET", &path, "", &Value::Null).await;
            let said = refused.expect_err(&path);
            assert!(said.contains("cannot ") && said.contains("machineconfigs"), "{path}: {said}");
        }
        // And a token for the operator is good for nothing there.
        let token = self.token("on-w1").await;
        let agent =
            Writer::itself(&self.cluster.bearer(token, &Recorder::default()).await.unwrap());
        let refused = agent.send("GET", &format!("{NODES}/w1"), "", &Value::Null).await;
        assert!(refused.as_ref().is_err_and(|said| said.contains("Unauthorized")), "{refused:?}");
    }

    /// An agent that trusts another authority asks nobody.
    async fn a_false_operator_is_not_shown_the_token(
        &self,
        at: SocketAddr,
        folder: &Path,
        token: &Path,
    ) {
        let (chain, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        write_pair(&chain, &key);
        let url = Some(format!("https://localhost:{}", at.port()));
        let supply = Supply::of(url, Some(chain), Some(token.to_owned())).unwrap();
        let called = call::Cluster::new(
            self.by_hand.client(),
            Arc::new(SystemClock),
            Arc::new(Telemetry::default()),
            Duration::from_secs(10),
        );
        let refused = supply.config(&called, &self.worker).await.unwrap_err();
        let said = runtime::chain::chain(&refused);
        assert!(said.contains("certificate") || said.contains("UnknownIssuer"), "{said}");
    }
}
