//! How does a page stay true without being asked for again? It is told which of its parts became other.
//!
//! A stream knows the page that its browser shows and what each part of it said last. When something changed, or an edge passed, or somebody
//! turned the clock, the page is made again and the parts that differ are sent; changes that come together are sent together, so that an edge
//! that flips ten thousand gates is one word. What only counts down is counted by the browser.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use schedule::Instant;
use serde_json::{Value, json};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::{sleep, timeout},
};

use crate::{
    answer::{self, Reply},
    asked::Asked,
    desk::Desk,
    page::{Part, frame},
    route::{self, What},
    session::Doors,
    shown::shown,
};

/// For so long changes are gathered before a page is made again.
const GATHER: Duration = Duration::from_millis(250);

/// So often a browser hears that its stream is alive.
const BEAT: Duration = Duration::from_secs(5);

/// After so many seconds of the cluster's time lines of time are drawn again: the line that is now has moved.
const MOVED: i64 = 15 * 60;

/// A page that is kept true.
pub(crate) struct Live {
    pub(crate) desk: Desk,
    pub(crate) doors: Doors,
    pub(crate) cookie: String,
    /// What the browser shows.
    pub(crate) asked: Asked,
    /// The mark of what it shows.
    pub(crate) mark: String,
    /// Its place among the streams of a session.
    pub(crate) place: OwnedSemaphorePermit,
}

impl Live {
    /// Whether the page is one that changes by itself. What somebody fills in does not, nor what was read or worked out for whoever asked.
    fn is_shown(&self) -> bool {
        let route = route::find(&Method::GET, &self.asked.path);
        let asked_for = [
            What::Freeze,
            What::Override,
            What::End,
            What::Edit,
            What::History,
            What::Lines,
            What::Forecast,
        ];
        route.is_some_and(|route| !asked_for.contains(&route.what))
    }
}

/// What a browser is told at once.
type Told = mpsc::Sender<Bytes>;

/// The stream.
pub(crate) fn stream(live: Live) -> Reply {
    let (tell, told) = mpsc::channel::<Bytes>(8);
    tokio::spawn(async move {
        let closed = tell.clone();
        tokio::select! {
            // Whoever is gone needs nothing any more.
            () = closed.closed() => {}
            () = follow(&live, tell) => {}
        }
        drop(live.place);
    });
    let frames = stream::unfold(told, |mut told| async {
        let bytes = told.recv().await?;
        Some((Ok::<_, Infallible>(Frame::data(bytes)), told))
    });
    let body: UnsyncBoxBody<Bytes, Infallible> = StreamBody::new(frames).boxed_unsync();
    let mut reply = answer::dressed(StatusCode::OK, "text/event-stream", body);
    reply.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

/// What the browser has.
#[derive(Default)]
struct Has {
    parts: BTreeMap<&'static str, String>,
    /// The answer in a few words. Whoever listens is told when that changes, and not that time passes.
    title: String,
    drawn: Option<Instant>,
    /// What the clock said, and how fast it went.
    clock: Option<(Instant, u32, tokio::time::Instant)>,
    edge: Option<Instant>,
}

async fn follow(live: &Live, tell: Told) {
    let mut changes = live.desk.changes();
    let mut has = Has::default();
    // First of all whatever became other between the page and its stream.
    let Some((parts, said, title)) = made(live) else { return };
    let same = frame::mark(&parts) == live.mark || !live.is_shown();
    has.title.clone_from(&title);
    for part in &parts {
        has.parts.insert(part.id, if same { part.html.0.clone() } else { String::new() });
    }
    let mut sent = told_parts(&mut has, &parts, &said, &title);
    sent.extend(told_clock(live, &mut has));
    has.drawn = Some(live.desk.now());
    loop {
        has.edge = live.desk.next_edge();
        for event in sent.drain(..) {
            if tell.send(event).await.is_err() {
                return;
            }
        }
        let edge = has.edge.unwrap_or(Instant::MAX);
        let something = async {
            tokio::select! {
                () = changes.changed() => true,
                () = live.desk.clock().wait(edge) => false,
            }
        };
        let heard = timeout(BEAT, something).await;
        if heard.is_ok() {
            sleep(GATHER).await;
            changes.mark_seen();
        }
        if !is_in(live).await {
            let _ = tell.send(event("gone", &json!({}))).await;
            return;
        }
        let now = live.desk.now();
        let moved = has.drawn.is_none_or(|drawn| (now.unix() - drawn.unix()).abs() >= MOVED);
        let passed = has.edge.is_some_and(|edge| edge <= now);
        let jumped = jumped(live, &has, now);
        let Some((parts, said, title)) = made(live) else {
            let _ = tell.send(event("gone", &json!({}))).await;
            return;
        };
        if live.is_shown() && (heard == Ok(true) || moved || passed || jumped) {
            has.drawn = Some(now);
            sent.extend(told_parts(&mut has, &parts, &said, &title));
        } else {
            // Only what tells the time: everything else counts by itself.
            let clocks: Vec<Part> =
                parts.into_iter().filter(|part| matches!(part.id, "bar" | "where")).collect();
            sent.extend(differing(&mut has, &clocks));
        }
        if jumped || sent.is_empty() {
            sent.extend(told_clock(live, &mut has));
        }
        if sent.is_empty() {
            sent.push(event("beat", &json!({})));
        }
    }
}

/// Whether its reader is in, and the cluster still says so.
async fn is_in(live: &Live) -> bool {
    match live.doors.session(&live.cookie) {
        Some(session) => live.desk.renew(&session).await.is_ok(),
        None => false,
    }
}

/// The page as it is now; none if its reader is not in any more.
fn made(live: &Live) -> Option<(Vec<Part>, String, String)> {
    let session = live.doors.session(&live.cookie)?;
    Some(live.desk.look(&session, |view| {
        let page = shown(view, &live.asked);
        let (said, title) = (page.said.clone(), frame::title(&page));
        (frame::parts(view, &live.asked, page), said, title)
    }))
}

/// Whether the clock says something else than it would by itself.
fn jumped(live: &Live, has: &Has, now: Instant) -> bool {
    let Some((at, speed, read)) = has.clock else { return true };
    let passed = i64::try_from(read.elapsed().as_secs()).unwrap_or(0) * i64::from(speed);
    let off = (now.unix() - at.unix() - passed).abs();
    speed != self::speed(live) || off > 2 + i64::from(speed)
}

fn speed(live: &Live) -> u32 {
    live.desk.dial().map_or(1, |dial| (dial.speed)())
}

fn told_clock(live: &Live, has: &mut Has) -> Vec<Bytes> {
    let (at, speed) = (live.desk.now(), speed(live));
    has.clock = Some((at, speed, tokio::time::Instant::now()));
    let exact = live.desk.clock().exact().as_millisecond();
    vec![event("clock", &json!({"at": exact, "speed": speed}))]
}

/// The parts that differ, and what the page as a whole is called now.
fn told_parts(has: &mut Has, parts: &[Part], said: &str, title: &str) -> Vec<Bytes> {
    let mut sent = differing(has, parts);
    if !sent.is_empty() {
        let spoken = (has.title != title).then_some(said);
        let page = json!({"mark": frame::mark(parts), "title": title, "said": spoken});
        sent.push(event("page", &page));
        title.clone_into(&mut has.title);
    }
    sent
}

fn differing(has: &mut Has, parts: &[Part]) -> Vec<Bytes> {
    let mut sent = Vec::new();
    for Part { id, html } in parts {
        let known = has.parts.entry(id).or_default();
        if *known != html.0 {
            sent.push(event("part", &json!({"id": id, "html": html.0})));
            known.clone_from(&html.0);
        }
    }
    sent
}

fn event(name: &str, data: &Value) -> Bytes {
    // JSON has no line ends outside its texts, and none inside them.
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}
