//! A sandbox with a console, for as long as a test needs it.

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    pin::Pin,
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use console::{Doors, Entrance};
use front::Protection;
use ring::rand::{SecureRandom as _, SystemRandom};
use runtime::call::Cluster;
use schedule::Instant;
use serde_json::Value;
use sim::{Sandbox, Settings, dial::Dial, example, stock::Item};
use tokio::{
    net::TcpListener,
    sync::{mpsc as unbounded, oneshot},
};

/// Something that is asked of the cluster itself.
type Ask = Box<dyn FnOnce(Cluster) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// A sandbox with a console.
pub(crate) struct Stand {
    pub(crate) address: SocketAddr,
    pub(crate) doors: Doors,
    pub(crate) dial: Dial,
    asks: unbounded::UnboundedSender<Ask>,
    end: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// The policies of the examples.
const POLICIES: &[&str] = &[
    include_str!("../../../../examples/berlin-nights.yaml"),
    include_str!("../../../../examples/freeze.yaml"),
    include_str!("../../../../examples/weekend.yaml"),
];

impl Stand {
    /// The example's cluster at an instant, with these objects too; its clock stands still.
    pub(crate) fn start(at: &str, more: Vec<Value>) -> Self {
        Self::changed(at, more, vec![])
    }

    /// The same, and somebody makes these objects, each at its collection, once everything stands.
    pub(crate) fn changed(at: &str, more: Vec<Value>, later: Vec<(&'static str, Value)>) -> Self {
        let at = Instant::parse(at).unwrap();
        let (tell, told) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        let (asks, mut asked) = unbounded::unbounded_channel::<Ask>();
        let serving = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let policies: Vec<Value> =
                    POLICIES.iter().map(|text| serde_saphyr::from_str(text).unwrap()).collect();
                let names: Vec<String> = policies
                    .iter()
                    .map(|policy| policy["metadata"]["name"].as_str().unwrap().to_owned())
                    .collect();
                let ours = policies.into_iter().chain(more);
                let ours = ours.map(|object| Item { origin: "the test".into(), object });
                let items = ours.chain(example::objects(at, &names)).collect();
                let settings = Settings { speed: 0, ..Settings::starting_at(at) };
                let sandbox = Sandbox::start(settings, items).await.unwrap();
                let desk = sim::desk::desk(&sandbox);
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let doors = Doors::new(chance);
                let watching = desk.clone();
                let clock = Arc::new(sandbox.clock().clone());
                let cluster =
                    Cluster::new(sandbox.client(), clock, Arc::default(), Duration::from_secs(20));
                let ready = async {
                    for (collection, object) in &later {
                        cluster.create(collection, object).await.unwrap();
                    }
                    desk.settle(Duration::from_secs(20)).await;
                    tell.send((address, doors.clone(), sandbox.dial().clone())).unwrap();
                    while let Some(ask) = asked.recv().await {
                        ask(cluster.clone()).await;
                    }
                };
                tokio::select! {
                    () = watching.watch() => {}
                    () = console::serve(listener, Protection::Clear, Entrance::Loopback, (desk.clone(), doors.clone()), std::future::pending()) => {}
                    () = ready => {}
                    _ = ended => {}
                }
            });
        });
        let (address, doors, dial) = told.recv().unwrap();
        Self { address, doors, dial, asks, end: Some(end), serving: Some(serving) }
    }

    /// Asks something of the cluster itself, with every right.
    pub(crate) fn run<T, F>(&self, ask: impl FnOnce(Cluster) -> F + Send + 'static) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let (tell, told) = mpsc::channel();
        let ask: Ask = Box::new(move |cluster| {
            Box::pin(async move {
                let _ = tell.send(ask(cluster).await);
            })
        });
        self.asks.send(ask).unwrap();
        told.recv().unwrap()
    }

    /// An address that lets one in.
    pub(crate) fn link(&self) -> String {
        format!("http://{}/#{}", self.address, self.doors.code().unwrap())
    }

    /// The address of a page.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a request as it stands, and reads the answer: its code, its headers, its body.
    pub(crate) fn ask(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        ask(self.address, request, headers, body)
    }

    /// Comes in, and reads a page: the cookie, and the answer.
    pub(crate) fn visit(&self, cookie: &str, path: &str) -> Answer {
        let host = self.address.to_string();
        self.ask(&format!("GET {path}"), &[("Host", &host), ("Cookie", cookie)], "")
    }

    /// Reads what happens until something is said.
    pub(crate) fn hear(&self, cookie: &str, path: &str, until: &str) -> String {
        hear(self.address, &self.address.to_string(), (cookie, path), until)
    }

    /// Comes in by a code, as a form does; the cookie.
    pub(crate) fn enter(&self) -> String {
        let code = format!("code={}", self.doors.code().unwrap());
        let answer = self.post("", "/door", &code);
        assert_eq!(answer.code, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Sends a form as a page of the console does.
    pub(crate) fn post(&self, cookie: &str, path: &str, form: &str) -> Answer {
        let (host, origin) = (self.address.to_string(), format!("http://{}", self.address));
        let headers = [
            ("Host", host.as_str()),
            ("Origin", &origin),
            ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Cookie", cookie),
        ];
        self.ask(&format!("POST {path}"), &headers, form)
    }

    /// What forms of a session show.
    pub(crate) fn token(&self, cookie: &str) -> String {
        let page = self.visit(cookie, "/").body;
        let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

/// Sends a request as it stands, and reads the answer: its code, its headers, its body.
pub(crate) fn ask(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut text = format!("{request} HTTP/1.1\r\n");
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    let length = body.len();
    write!(text, "Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").unwrap();
    let _ = stream.write_all(text.as_bytes());
    let mut answer = Vec::new();
    // Whoever sends too much may be cut off.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let code = head.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
    Answer { code, head: head.to_lowercase(), body: body.to_owned() }
}

/// Reads what happens on a page until something is said.
pub(crate) fn hear(
    address: SocketAddr,
    host: &str,
    (cookie, path): (&str, &str),
    until: &str,
) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut heard = Vec::new();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
    let mut place = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&heard).into_owned();
        if text.contains(until) {
            return text;
        }
        let count = stream.read(&mut place).unwrap();
        assert!(count > 0, "it ended before {until:?}: {text}");
        heard.extend_from_slice(&place[..count]);
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header, in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

/// A value of a form.
pub(crate) fn encoded(text: &str) -> String {
    let mut written = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => written.push(char::from(byte)),
            other => write!(written, "%{other:02X}").unwrap(),
        }
    }
    written
}

pub(crate) fn chance(place: &mut [u8]) -> std::io::Result<()> {
    SystemRandom::new().fill(place).map_err(|_| std::io::Error::other("no chance"))
}
