//! What goes wrong on the way between operators and the server, beside what the server's own faults do?
//!
//! A request that was sent travels on, whether or not somebody still waits for it: it may be held up for minutes and arrive when its
//! sender has long given up or ended. And a sender may end in the very step in which its write was carried out.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use api::machine::names::LEDGER;
use apiserver::{Body as Answer, Lost, Service};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Frame;
use kube::client::Body;
use runtime::clock::{Clock as _, SetClock};
use serde_json::{Value, json};
use tower::Service as _;

use super::{
    dice::Dice,
    stage::{By, Kind, Stage},
};

/// What strikes writes, by chance.
#[derive(Debug)]
pub(crate) struct Weather(Mutex<Sky>);

#[derive(Debug)]
struct Sky {
    dice: Dice,
    /// How many writes of a hundred are held up.
    holds: u64,
    /// How many writes of a hundred are their sender's last.
    ends: u64,
    /// The write after which its sender ends, counted over all of them.
    last: Option<u64>,
    writes: u64,
    ended: BTreeSet<u32>,
}

impl Weather {
    pub(crate) fn new(dice: Dice) -> Self {
        let sky = Sky { dice, holds: 0, ends: 0, last: None, writes: 0, ended: BTreeSet::new() };
        Self(Mutex::new(sky))
    }

    pub(crate) fn set(&self, holds: u64, ends: u64) {
        let mut sky = self.0.lock().unwrap();
        (sky.holds, sky.ends) = (holds, ends);
    }

    /// Ends a sender after this very write.
    pub(crate) fn end_after(&self, write: u64) {
        self.0.lock().unwrap().last = Some(write);
    }

    /// The operators that have to end, each once.
    pub(crate) fn ended(&self) -> BTreeSet<u32> {
        std::mem::take(&mut self.0.lock().unwrap().ended)
    }

    fn held_up(&self) -> Duration {
        let mut sky = self.0.lock().unwrap();
        let holds = sky.holds;
        if !sky.dice.percent(holds) {
            return Duration::ZERO;
        }
        // Mostly longer than anybody waits for an answer, sometimes longer than any permit is good.
        let longest = *sky.dice.pick(&[15_000, 60_000, 400_000, 1_200_000]);
        Duration::from_millis(sky.dice.of(0..longest) as u64)
    }

    /// Counts a write that was carried out; whether its sender ends with it.
    fn is_last(&self, sender: u32) -> bool {
        let mut sky = self.0.lock().unwrap();
        sky.writes += 1;
        let ends = sky.ends;
        let last = sky.last == Some(sky.writes) || sky.dice.percent(ends);
        if last {
            sky.ended.insert(sender);
        }
        last
    }
}

/// A request on its way, as it is bent by whoever planted a bug.
pub(crate) struct Packet {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) body: Vec<u8>,
    pub(crate) held: Duration,
    /// How often it is sent again by itself when nobody knows what became of it.
    pub(crate) insistence: u32,
}

impl Packet {
    /// Whether it gives a node its desired configuration.
    pub(crate) fn is_mark(&self) -> bool {
        self.method == Method::PATCH && self.path.contains("fieldManager=tidegate-rollout")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn request(&self) -> Request<Body> {
        let request = Request::builder().method(self.method.clone()).uri(&self.path);
        let request = request.header("Content-Type", &self.content);
        request.body(Body::from(self.body.clone())).unwrap()
    }
}

/// What somebody does to requests; [`straight`] does nothing.
pub(crate) type Bend = fn(&mut Packet);

pub(crate) fn straight(_: &mut Packet) {}

/// How an operator hears what the server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ears {
    /// As it is said.
    Honest,
    /// Whatever the server's clock says, it says what the own clock says.
    OwnTime,
    /// What was read is read again as it was for five minutes, unless it is written from here: as through a proxy that keeps answers.
    Remembering,
    /// That, and a watch that opens has said something.
    Believing,
    /// What was listed is listed again as it was, too.
    Listing,
    /// What it reserved in a ledger it keeps to itself, and reads it as if it had written it.
    Secretive,
}

/// What was read, and when.
type Remembered = Arc<Mutex<BTreeMap<String, (i64, Bytes)>>>;

/// The line between one operator and the server.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) stage: Arc<Stage>,
    pub(crate) service: Service,
    pub(crate) sender: u32,
    pub(crate) bend: Bend,
    pub(crate) ears: Ears,
    pub(crate) clock: SetClock,
    pub(crate) remembered: Remembered,
}

type Answered = Result<Response<Said>, Lost>;
type Answering = Pin<Box<dyn Future<Output = Answered> + Send>>;

impl tower::Service<Request<Body>> for Line {
    type Response = Response<Said>;
    type Error = Lost;
    type Future = Answering;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answering {
        let line = self.clone();
        Box::pin(async move {
            let path = request.uri().path().trim_end_matches("/status").to_owned();
            let mut answer = if request.method() == Method::GET {
                line.read(request).await?
            } else {
                line.clone().send(request).await?
            };
            if line.ears == Ears::Secretive {
                answer = line.with_ledger(&path, answer).await;
            }
            // The server dates its answers; that is how a wrong clock is noticed (GATE-11).
            if line.ears == Ears::OwnTime {
                let stamp = line.clock.exact().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
                answer.headers_mut().insert(http::header::DATE, stamp.parse().unwrap());
            }
            Ok(answer)
        })
    }
}

/// What an operator hears: what the server says, perhaps with something before it, or something else.
pub(crate) struct Said {
    first: Option<Bytes>,
    rest: Option<Answer>,
}

impl Said {
    fn by_server(answer: Answer) -> Self {
        Self { first: None, rest: Some(answer) }
    }

    fn instead(bytes: Bytes) -> Self {
        Self { first: Some(bytes), rest: None }
    }
}

impl http_body::Body for Said {
    type Data = Bytes;
    type Error = <Answer as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(first) = self.first.take().filter(|first| !first.is_empty()) {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
    }
}

/// All of an answer in one piece.
async fn whole<B>(mut answer: B) -> Bytes
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    let mut bytes = Vec::new();
    loop {
        let frame = std::future::poll_fn(|context| {
            http_body::Body::poll_frame(Pin::new(&mut answer), context)
        });
        match frame.await {
            Some(Ok(frame)) => bytes.extend(frame.into_data().unwrap_or_default()),
            Some(Err(_)) | None => return bytes.into(),
        }
    }
}

impl Line {
    async fn read(&self, request: Request<Body>) -> Answered {
        let (path, query) = (request.uri().path().to_owned(), request.uri().query());
        let watches = query.is_some_and(|query| query.contains("watch=true"));
        let version = query.and_then(|query| {
            query.split('&').find_map(|part| part.strip_prefix("resourceVersion="))
        });
        let version = version.unwrap_or_default().to_owned();
        // Names and versions alone are another answer than whole objects.
        let form = request.headers().get(http::header::ACCEPT);
        let form = form.and_then(|form| form.to_str().ok()).unwrap_or_default().to_owned();
        let found = Kind::found(&path).map(|(kind, name)| (kind, name.to_owned()));
        if let Some((Kind::Node, name)) = &found
            && !name.is_empty()
        {
            self.stage.checker().read(self.sender, name);
        }
        let holds = |kind: &Kind| !matches!(kind, Kind::Config | Kind::Node);
        let remembers = matches!(self.ears, Ears::Remembering | Ears::Believing | Ears::Listing)
            && found.as_ref().is_some_and(|(kind, name)| !name.is_empty() && holds(kind));
        let now = self.stage.now();
        if remembers {
            let known = self.remembered.lock().unwrap().get(&path).cloned();
            if let Some((_, bytes)) = known.filter(|(at, _)| *at > now - 300) {
                return Ok(Response::new(Said::instead(bytes)));
            }
        }
        let answer = self.service.clone().call(request).await?;
        let (parts, body) = answer.into_parts();
        if remembers && parts.status.is_success() {
            let bytes = whole(body).await;
            self.remembered.lock().unwrap().insert(path, (now, bytes.clone()));
            return Ok(Response::from_parts(parts, Said::instead(bytes)));
        }
        let policies = matches!(found, Some((Kind::Policy | Kind::Version, _)));
        if self.ears == Ears::Listing && policies && !watches && parts.status.is_success() {
            let bytes = self.as_listed_before(&format!("{path} {form}"), whole(body).await, now);
            return Ok(Response::from_parts(parts, Said::instead(bytes)));
        }
        if watches && self.ears == Ears::Believing && !version.is_empty() {
            let (api_version, kind) = named(&path);
            let told = json!({"type": "BOOKMARK", "object": {"apiVersion": api_version, "kind": kind,
                "metadata": {"resourceVersion": version}}});
            let first = Some(Bytes::from(format!("{told}\n")));
            return Ok(Response::from_parts(parts, Said { first, rest: Some(body) }));
        }
        Ok(Response::from_parts(parts, Said::by_server(body)))
    }

    /// A list that says that it is of now, and holds what it held up to five minutes ago.
    fn as_listed_before(&self, path: &str, bytes: Bytes, now: i64) -> Bytes {
        let mut remembered = self.remembered.lock().unwrap();
        let known = remembered.get(path).filter(|(at, _)| *at > now - 300);
        let Some((_, before)) = known else {
            remembered.insert(path.to_owned(), (now, bytes.clone()));
            return bytes;
        };
        let parsed = |bytes: &Bytes| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        let mut list = parsed(&bytes);
        list["items"] = parsed(before)["items"].clone();
        list.to_string().into()
    }

    /// Takes what is written of a ledger out of a patch, and remembers it.
    fn keep_ledger(&self, packet: &mut Packet) {
        let mut body = packet.json();
        let ledger = format!("/metadata/annotations/{}", LEDGER.replace('/', "~1"));
        let operations = body.as_array_mut().into_iter().flatten();
        for operation in operations.filter(|operation| operation["path"] == ledger) {
            let path = packet.path.split('?').next().unwrap_or_default().to_owned();
            let kept = Bytes::from(operation["value"].as_str().unwrap_or_default().to_owned());
            self.remembered.lock().unwrap().insert(path, (self.stage.now(), kept));
            operation["path"] = json!("/metadata/annotations/example.com~1note");
        }
        packet.body = body.to_string().into_bytes();
    }

    /// Shows a pool with the ledger that was kept from it.
    async fn with_ledger(&self, path: &str, answer: Response<Said>) -> Response<Said> {
        let kept = self.remembered.lock().unwrap().get(path).cloned();
        let Some((_, kept)) = kept.filter(|_| answer.status().is_success()) else { return answer };
        let (parts, said) = answer.into_parts();
        let mut object: Value = serde_json::from_slice(&whole(said).await).unwrap_or_default();
        object["metadata"]["annotations"][LEDGER] = json!(String::from_utf8_lossy(&kept));
        Response::from_parts(parts, Said::instead(object.to_string().into()))
    }

    async fn send(self, request: Request<Body>) -> Answered {
        let (parts, body) = request.into_parts();
        let content = parts.headers.get("content-type").and_then(|content| content.to_str().ok());
        let mut packet = Packet {
            path: parts.uri.to_string(),
            content: content.unwrap_or_default().to_owned(),
            body: body.collect_bytes().await.unwrap_or_default().to_vec(),
            method: parts.method,
            held: self.stage.weather.held_up(),
            insistence: 0,
        };
        (self.bend)(&mut packet);
        if self.ears == Ears::Secretive {
            self.keep_ledger(&mut packet);
        } else {
            let path = parts.uri.path();
            self.remembered.lock().unwrap().remove(path.trim_end_matches("/status"));
        }
        loop {
            // On a task of its own: whoever asked may be gone before it arrives.
            let travelling = tokio::spawn(self.clone().travel(packet.request(), packet.held));
            let Ok(answer) = travelling.await else { return std::future::pending().await };
            let unknown = answer.as_ref().map_or(true, |answer| answer.status().is_server_error());
            if packet.insistence == 0 || !unknown {
                return answer;
            }
            packet.insistence -= 1;
        }
    }

    async fn travel(self, request: Request<Body>, held: Duration) -> Answered {
        let sent = self.stage.now();
        let Self { stage, mut service, sender, .. } = self;
        let found = Kind::found(request.uri().path());
        let found = found.map(|(kind, name)| (kind, name.to_owned()));
        let is_mark = request.uri().query().is_some_and(|query| query.contains("tidegate-rollout"));
        let created = if request.method() == Method::POST { request.uri().path() } else { "" };
        let created = created.to_owned();
        if let (true, Some((_, node))) = (is_mark, &found) {
            stage.checker().sent(sent, sender, node);
        }
        if !held.is_zero() {
            tokio::time::sleep(held).await;
        }
        let (parts, body) = request.into_parts();
        let bytes = body.collect_bytes().await.unwrap_or_default();
        let name = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
        let name = name["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let path = parts.uri.path().to_owned();
        let answer = service.call(Request::from_parts(parts, Body::from(bytes.to_vec()))).await;
        let answer = answer.map(|answer| answer.map(Said::by_server));
        // From here to the end of the notary's work nothing is awaited: this is the step of the commit.
        let code = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
        if let Some((kind, found)) = &found {
            let name = if created.is_empty() { found } else { &name };
            if is_mark {
                stage.checker().answered(sender, name, code);
            }
            if code == 0 || code < 300 {
                stage.note(By::Operator(sender, sent), *kind, name);
                if stage.weather.is_last(sender) {
                    stage.moved.notify_one();
                    return std::future::pending().await;
                }
            }
        }
        if let Some(pod) = path.strip_suffix("/eviction")
            && (code == 0 || code < 300)
        {
            let pod = pod.rsplit('/').next().unwrap_or_default();
            stage.checker().evicted((stage.now(), sent), pod);
        }
        answer
    }
}

/// The version and the kind that a collection holds, as far as anybody here watches one.
fn named(path: &str) -> (String, String) {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (version, plural) = match parts[..] {
        ["api", version, plural] => (version.to_owned(), plural),
        ["apis", group, version, plural] => (format!("{group}/{version}"), plural),
        _ => (String::new(), ""),
    };
    let known = [
        ("changemanagementpolicies", "ChangeManagementPolicy"),
        ("hostedchangemanagementpolicies", "HostedChangeManagementPolicy"),
        ("machineconfigpools", "MachineConfigPool"),
        ("machineconfigs", "MachineConfig"),
        ("machineconfigurations", "MachineConfiguration"),
        ("nodes", "Node"),
        ("clusterversions", "ClusterVersion"),
        ("hostedclusters", "HostedCluster"),
        ("nodepools", "NodePool"),
    ];
    let kind = known.iter().find(|(name, _)| *name == plural).map_or("", |(_, kind)| kind);
    (version, kind.to_owned())
}
