//! Who is told what happened, and how?
//!
//! A watch is a cursor into its shelf's history; nothing is queued for it, so a client that does not read costs nothing and
//! learns with 410 that it fell behind. Timers exist only where the request asked for them and the settings allow them.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Sleep, sleep};

use crate::{
    body::Cut,
    registry::Resolved,
    render::Render,
    selector::Selector,
    server::Inner,
    status::Refusal,
    store::{Event, Happening, parse},
};

/// What a fault does to a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ailment {
    /// The connection breaks after so many events.
    CutAfter(u32),
    /// The connection stays open and says nothing any more.
    SilentAfter(u32),
}

/// A running watch.
pub(crate) struct Watch {
    server: Arc<Inner>,
    id: u64,
    kind: Resolved,
    namespace: Option<String>,
    selector: Selector,
    render: Render,
    cursor: u64,
    ready: VecDeque<Bytes>,
    deadline: Option<Pin<Box<Sleep>>>,
    bookmarks: Option<(Duration, Pin<Box<Sleep>>)>,
    ailment: Option<Ailment>,
    finished: bool,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("shelf", &self.kind.ty.shelf)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

/// What a watch request asked for.
pub(crate) struct Request {
    pub(crate) kind: Resolved,
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    pub(crate) render: Render,
    pub(crate) from: u64,
    /// What is told before the first event: existing objects, bookmarks, errors.
    pub(crate) opening: VecDeque<Bytes>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) bookmarks: Option<Duration>,
    pub(crate) ailment: Option<Ailment>,
}

impl Watch {
    pub(crate) fn new(server: Arc<Inner>, id: u64, request: Request) -> Self {
        Self {
            server,
            id,
            kind: request.kind,
            namespace: request.namespace,
            selector: request.selector,
            render: request.render,
            cursor: request.from,
            ready: request.opening,
            deadline: request.timeout.map(|t| Box::pin(sleep(t))),
            bookmarks: request.bookmarks.map(|every| (every, Box::pin(sleep(every)))),
            ailment: request.ailment,
            finished: false,
        }
    }

    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Cut>>> {
        loop {
            match &mut self.ailment {
                // Nothing wakes it again: not an event, not its own end.
                Some(Ailment::SilentAfter(0)) => return Poll::Pending,
                Some(Ailment::CutAfter(0)) if !self.finished => {
                    self.ready.clear();
                    self.finished = true;
                    return Poll::Ready(Some(Err(Cut)));
                }
                _ => {}
            }
            if let Some(bytes) = self.ready.pop_front() {
                if let Some(Ailment::CutAfter(left) | Ailment::SilentAfter(left)) =
                    &mut self.ailment
                {
                    *left -= 1;
                }
                return Poll::Ready(Some(Ok(bytes)));
            }
            if self.finished {
                return Poll::Ready(None);
            }
            if self.deadline.as_mut().is_some_and(|d| d.as_mut().poll(context).is_ready()) {
                self.finished = true;
                continue;
            }
            if self.collect(context) {
                continue;
            }
            if let Some((every, timer)) = &mut self.bookmarks
                && timer.as_mut().poll(context).is_ready()
            {
                let again = sleep(*every);
                timer.set(again);
                let bookmark = self.render.bookmark(&self.kind, self.cursor, false);
                self.ready.push_back(bookmark);
                continue;
            }
            return Poll::Pending;
        }
    }

    /// Takes what happened since the cursor; returns whether there is anything to say.
    fn collect(&mut self, context: &Context<'_>) -> bool {
        let server = Arc::clone(&self.server);
        let mut state = server.lock();
        let now = server.now();
        let latest = state.store.version();
        let shelf = state.store.shelf_mut(&self.kind.ty.shelf);
        let Some(events) = shelf.events_after(self.cursor) else {
            self.ready.push_back(gone(self.cursor, shelf.floor()));
            self.finished = true;
            return true;
        };
        for event in events {
            if let Some(line) = translate(
                event,
                self.namespace.as_deref(),
                &self.selector,
                &self.kind,
                &mut self.render,
                now,
            ) {
                self.ready.push_back(line);
            }
            self.cursor = event.version;
        }
        if !self.ready.is_empty() {
            return true;
        }
        // Bookmarks tell the latest version of the whole store, unless the cursor is ahead of it (a rewound store).
        self.cursor = self.cursor.max(latest);
        shelf.wake_later(self.id, context.waker());
        false
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.server.lock().store.shelf_mut(&self.kind.ty.shelf).forget(self.id);
    }
}

/// What an event means to one watcher: leaving the selection is a deletion, entering it an addition.
fn translate(
    event: &Event,
    namespace: Option<&str>,
    selector: &Selector,
    kind: &Resolved,
    render: &mut Render,
    now: jiff::Timestamp,
) -> Option<Bytes> {
    if namespace.is_some_and(|ns| ns != event.key.0)
        || selector.fields.name().is_some_and(|n| n != event.key.1)
    {
        return None;
    }
    if selector.is_everything() {
        return Some(render.event(event.happening, kind, &event.object, now));
    }
    let seen = |bytes: &Bytes| selector.matches(&crate::render::presented(kind, parse(bytes)));
    let before = event.before.as_ref().filter(|bytes| seen(bytes));
    let after = event.happening != Happening::Deleted && seen(&event.object);
    let happening = match (before, after) {
        (None, true) => Happening::Added,
        (Some(_), true) => Happening::Modified,
        // Who left the selection is shown as it was last seen in it, with the version of its leaving.
        (Some(bytes), false) => {
            let mut last = parse(bytes);
            crate::meta::set(&mut last, "resourceVersion", event.version.to_string());
            last.sort_all_objects();
            let bytes = Bytes::from(last.to_string());
            return Some(render.event(Happening::Deleted, kind, &bytes, now));
        }
        (None, false) => return None,
    };
    Some(render.event(happening, kind, &event.object, now))
}

/// The in-stream error that tells a client to list again.
pub(crate) fn gone(asked: u64, floor: u64) -> Bytes {
    let refusal = Refusal::expired(format!("too old resource version: {asked} ({floor})"));
    line("ERROR", &refusal.to_value())
}

/// One line of a watch stream.
pub(crate) fn line(kind: &str, object: &Value) -> Bytes {
    let mut text = json!({"type": kind, "object": object}).to_string();
    text.push('\n');
    Bytes::from(text)
}
