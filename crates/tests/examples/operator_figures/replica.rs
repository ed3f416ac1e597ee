//! The operator as a process, with a clock that is set through a pipe.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use operator::{Operator, Settings, serve};
use runtime::{
    client::{configuration, connect},
    clock::SetClock,
    telemetry::ReconcileOutcome,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// The process: says its address, then answers commands: `set INSTANT` and `count`.
pub(crate) fn run(kubeconfig: &Path, now: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let clock = SetClock::starting_at(schedule::Instant::parse(now).unwrap());
        clock.speed(0);
        let client = connect(configuration(Some(kubeconfig)).await.unwrap()).unwrap();
        let operator = Operator::new(client, Arc::new(clock.clone()), Settings::alone("figures"));
        let view = operator.view();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut out = tokio::io::stdout();
        out.write_all(format!("{}\n", listener.local_addr().unwrap()).as_bytes()).await.unwrap();
        out.flush().await.unwrap();
        tokio::spawn(serve::serve(listener, view.clone(), std::future::pending()));
        let commands = async {
            let mut lines = tokio::io::BufReader::new(tokio::io::stdin()).lines();
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some(at) = line.strip_prefix("set ") {
                    clock.set(schedule::Instant::parse(at).unwrap());
                    clock.speed(1);
                } else {
                    let count = view.telemetry.reconciles(ReconcileOutcome::Written);
                    out.write_all(format!("{count}\n").as_bytes()).await.unwrap();
                    out.flush().await.unwrap();
                }
            }
        };
        operator.run(commands).await.unwrap();
    });
}

/// A running process.
pub(crate) struct Replica {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    address: String,
    began: Instant,
}

impl Replica {
    pub(crate) fn start(kubeconfig: &Path, now: &str) -> Self {
        let began = Instant::now();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["replica", kubeconfig.to_str().unwrap(), now])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        Self { child, input, output, address: address.trim().to_owned(), began }
    }

    fn ask(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) async fn ready(&self) -> Duration {
        while !self.ask("/readyz").starts_with("HTTP/1.1 200") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.began.elapsed()
    }

    pub(crate) fn set(&mut self, at: &str) {
        writeln!(self.input, "set {at}").unwrap();
    }

    /// How many statuses it has written.
    pub(crate) fn count(&mut self) -> u64 {
        writeln!(self.input, "count").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    /// Waits until it has written so many.
    pub(crate) async fn written(&mut self, wanted: u64) {
        let began = Instant::now();
        while self.count() < wanted {
            assert!(began.elapsed() < Duration::from_mins(5), "{} of {wanted}", self.count());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until it sends nothing any more: events are told after the statuses.
    pub(crate) async fn quiet(&self) {
        let writes = || -> String {
            let page = self.ask("/metrics");
            let writes = page
                .lines()
                .filter(|line| line.contains("verb=\"create\"") || line.contains("verb=\"patch\""));
            writes.collect()
        };
        let mut before = writes();
        let mut same = 0;
        while same < 2 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = writes();
            same = if now == before { same + 1 } else { 0 };
            before = now;
        }
    }

    fn status(&self, field: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    pub(crate) fn peak_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn ticks(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// The share of a core that it takes while nothing happens.
    pub(crate) async fn idle_share(&self, length: Duration) -> f64 {
        let before = self.ticks();
        tokio::time::sleep(length).await;
        // A hundred ticks a second, as Linux tells them.
        (self.ticks() - before) as f64 / 100.0 / length.as_secs_f64()
    }

    /// How long a scrape takes, how much of a core's time, and how long the page is.
    pub(crate) fn scrape(&self) -> (Duration, Duration, usize) {
        const SCRAPES: u32 = 51;
        let before = self.ticks();
        let mut took: Vec<(Duration, usize)> = (0..SCRAPES)
            .map(|_| {
                let began = Instant::now();
                let page = self.ask("/metrics");
                (began.elapsed(), page.len())
            })
            .collect();
        let worked = Duration::from_millis(10 * (self.ticks() - before)) / SCRAPES;
        took.sort();
        let (median, bytes) = took[took.len() / 2];
        (median, worked, bytes)
    }

    /// The bound of the histogram under which 99 of 100 wake-ups lie.
    pub(crate) fn lateness(&self) -> String {
        let page = self.ask("/metrics");
        let value = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        let all =
            page.lines().find(|line| line.starts_with("tidegate_edge_lateness_seconds_count"));
        let wanted = value(all.unwrap()) * 0.99;
        let buckets =
            page.lines().filter(|line| line.starts_with("tidegate_edge_lateness_seconds_bucket"));
        let found = buckets.into_iter().find(|line| value(line) >= wanted).unwrap();
        found.split('"').nth(1).unwrap().to_owned()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
