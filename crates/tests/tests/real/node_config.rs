//! Does a new node get the right configuration, and nobody else any? Over the wire, with tokens that the cluster issued (POOL-4).

mod http;
mod own;
mod world;

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, STATE};
use operator::{
    Operator, Pools, Settings,
    node_config::listen::{self, CertificateError, ListenError, Protection},
};
use rcgen::{CertificateParams, KeyPair};
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use runtime::clock::SystemClock;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject as _};

use self::{
    http::{Answer, Connection, ask},
    world::{World, until},
};

const ANY_PORT: &str = "127.0.0.1:0";
const IGNITION: &str = "application/vnd.coreos.ignition+json;version=";

/// Starts an operator that manages pools and answers new nodes.
async fn start(cluster: &Cluster, protection: Protection) -> SocketAddr {
    let listener = TcpListener::bind(ANY_PORT).await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    // Every pool is held here, so no change is initiated, and nobody has to see the server refuse one.
    let proof = operator::Proof::Waived;
    let settings = Settings { proof, ..Settings::alone("one").with(Pools::Managed) };
    let operator = Operator::new(client, Arc::new(SystemClock), settings);
    let ended = std::future::pending();
    tokio::spawn(listen::serve(listener, protection, operator.node_config(), ended));
    tokio::spawn(async move { operator.run(std::future::pending()).await.unwrap() });
    address
}

/// POOL-4
#[test]
fn real_scale_up_during_a_hold_gets_what_the_canary_rule_says() {
    suite::on_real("node-config", Controllers::Absent, async |cluster| {
        let world = World::new(cluster).await;
        let address = start(cluster, Protection::Clear).await;
        let (joiner, stranger) = (world.token("joiner").await, world.token("stranger").await);
        world.bind("joiner").await;
        let get = async |path: &str, token: Option<&str>, accept: &str| {
            ask(Connection::Plain(address), "GET", path, token, accept).await
        };
        let joins = async || get("/config/worker", Some(&joiner), "").await;

        until("the right is heeded", async || joins().await.code == 404).await;
        assert!(joins().await.body.contains("there is no MachineConfigPool/worker"));

        // The first node proves the target itself.
        world.configure("one").await;
        world.create_pool(&json!({"strategy": "Restrictive"})).await;
        until("the pool is rendered", async || joins().await.code == 200).await;
        let first = joins().await.given();
        world.join("n1", &first).await;

        // A hold: what is newer waits, and who joins gets what is proven.
        world.configure("two").await;
        let second = world.newest_but(&first).await;
        until("the new one is known", async || world.is_pending(&second).await).await;
        assert_eq!(joins().await.given(), first, "no node has the new one");
        for (valid_after, expected) in [("CanaryUpgrade", &first), ("Immediate", &second)] {
            world.pin(&json!({"name": second, "validAfter": valid_after})).await;
            until(valid_after, async || joins().await.given() == *expected).await;
        }
        world.pin(&json!({"name": second})).await;
        until("canary again", async || joins().await.given() == first).await;
        let done = json!({CURRENT_CONFIG: second, DESIRED_CONFIG: second, STATE: "Done"});
        world.annotate("n1", &done).await;
        until("one node has it", async || joins().await.given() == second).await;

        // Nobody else gets any.
        for (who, path, token, accept, code, part) in [
            ("nobody", "/config/worker", None, "", 401, "there is no token"),
            ("a liar", "/config/worker", Some("x.y.z"), "", 401, "does not know the token"),
            ("a stranger", "/config/worker", Some(&*stranger), "", 403, "tidegate:node-config"),
            (
                "another pool",
                "/config/infra",
                Some(&*joiner),
                "",
                404,
                "no MachineConfigPool/infra",
            ),
            ("no pool", "/config/../x", Some(&*joiner), "", 404, "the name of a pool"),
            (
                "an old one",
                "/config/worker",
                Some(&*joiner),
                "application/vnd.coreos.ignition+json;version=2.4.0, */*;q=0.1",
                406,
                "version=3.5.0",
            ),
            (
                "a new one",
                "/config/worker",
                Some(&*joiner),
                "application/vnd.coreos.ignition+json;version=3.2.0, */*;q=0.1",
                200,
                "\"version\":\"3.2.0\"",
            ),
            ("a probe", "/healthz", None, "", 200, "ok"),
        ] {
            let answer = get(path, token, accept).await;
            assert_eq!(answer.code, code, "{who}: {}", answer.body);
            assert!(answer.body.contains(part), "{who}: {}", answer.body);
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{who}");
        }
        let spoken = get("/config/worker", Some(&joiner), "").await;
        assert_eq!(spoken.header("content-type"), Some(&*format!("{IGNITION}3.5.0")));
        let head =
            ask(Connection::Plain(address), "HEAD", "/config/worker", Some(&joiner), "").await;
        assert_eq!((head.code, head.body.as_str()), (200, ""));
        assert_eq!(head.header("content-length"), spoken.header("content-length"));
        let post =
            ask(Connection::Plain(address), "POST", "/config/worker", Some(&joiner), "").await;
        assert_eq!((post.code, post.header("allow")), (405, Some("GET, HEAD")));

        world.unbind("joiner").await;
        until("a right that was taken away is gone", async || joins().await.code == 403).await;
    });
}

/// The embedded server knows nobody apart, and then nobody gets anything.
#[test]
fn nothing_is_served_where_nobody_can_be_told_apart() {
    suite::on_embedded("node-config", Kubectl::Unused, async |cluster| {
        let address = start(cluster, Protection::Clear).await;
        let answer = ask(Connection::Plain(address), "GET", "/config/worker", Some("x"), "").await;
        assert_eq!(answer.code, 503);
        assert!(answer.body.contains("does not serve TokenReview"), "{}", answer.body);
        assert_eq!(answer.header("retry-after"), Some("5"));
        let answer = ask(Connection::Plain(address), "GET", "/config/worker", None, "").await;
        assert_eq!(answer.code, 401, "who shows no token is told that first");
    });
}

#[test]
fn certificate_is_read_again_when_it_changes_and_kept_when_it_cannot_be_used() {
    suite::on_embedded("node-config-tls", Kubectl::Unused, async |cluster| {
        let folder = tempfile::tempdir().unwrap();
        let (chain, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
        let address: SocketAddr = ANY_PORT.parse().unwrap();
        let open = || listen::protection(address, Some((&chain, &key)));
        assert!(
            matches!(open(), Err(ListenError::Certificate(CertificateError::File { .. }))),
            "there are no files yet"
        );
        let first = write_pair(&chain, &key);
        let address = start(cluster, open().unwrap()).await;
        let healthy = async |trusted: &CertificateDer<'static>| -> Option<Answer> {
            let connection = Connection::tls(address, trusted.clone()).await?;
            Some(ask(connection, "GET", "/healthz", None, "").await)
        };
        assert_eq!(healthy(&first).await.unwrap().code, 200);
        let plain = ask(Connection::Plain(address), "GET", "/healthz", None, "").await;
        assert_eq!(plain.code, 0, "nothing is said in the clear");

        fs::write(&key, "nothing of use").unwrap();
        assert_eq!(healthy(&first).await.unwrap().code, 200, "the old one serves on");
        let second = write_pair(&chain, &key);
        assert_eq!(healthy(&second).await.unwrap().code, 200, "the new one is used");
        assert!(healthy(&first).await.is_none(), "and the old one is not");
    });
}

#[test]
fn secrets_are_not_sent_in_the_clear() {
    let check = |address: &str, fine: bool| {
        let protection = listen::protection(address.parse().unwrap(), None);
        assert_eq!(protection.is_ok(), fine, "{address}");
        if let Err(error) = protection {
            assert!(error.to_string().contains("hint: name the files"), "{error}");
        }
    };
    check("127.0.0.1:22623", true);
    check("[::1]:22623", true);
    check("0.0.0.0:22623", false);
    check("192.0.2.1:22623", false);
}

/// A certificate that vouches for itself, and its key, in files.
fn write_pair(chain: &Path, key: &Path) -> CertificateDer<'static> {
    let pair = KeyPair::generate().unwrap();
    let made = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let made = made.self_signed(&pair).unwrap();
    // A comment of another length each time: two files of one length may be written within one tick of a coarse clock.
    let length = fs::metadata(chain).map_or(0, |file| file.len());
    fs::write(
        chain,
        format!("{}{}", "# renewed\n".repeat(usize::try_from(length).unwrap() % 7 + 1), made.pem()),
    )
    .unwrap();
    fs::write(key, pair.serialize_pem()).unwrap();
    CertificateDer::from_pem_slice(made.pem().as_bytes()).unwrap()
}

impl Answer {
    /// The name of the configuration that was given.
    fn given(&self) -> String {
        assert_eq!(self.code, 200, "{}", self.body);
        let document: Value = serde_json::from_str(&self.body).unwrap();
        let files = document["storage"]["files"].as_array().unwrap();
        let noted = files
            .iter()
            .find(|file| file["path"] == "/etc/machine-config-daemon/node-annotations.json")
            .unwrap();
        let bytes = tidegate_core::node::content::bytes(
            &serde_json::from_value(noted["contents"].clone()).unwrap(),
        )
        .unwrap()
        .into_owned();
        let noted: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(noted[CURRENT_CONFIG], noted[DESIRED_CONFIG]);
        noted[CURRENT_CONFIG].as_str().unwrap().to_owned()
    }
}
