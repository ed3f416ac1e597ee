//! How can a clock go fast and nothing come too late? It moves while the operator has nothing under way.
//!
//! GATE-7: a permit is good for five minutes of the clock, and at an hour a second that is a twelfth of a second, in which a busy computer
//! does not even get its turn. So at such speeds the clock does not run: it leaps, some seconds at a time, and only after the operator
//! has asked for nothing for a while. Between the decision that gives a permit and the write that uses it, no time passes. What that
//! costs is speed: the clock goes as fast as it was told to, or as fast as the operator can work, whichever is slower.
//!
//! An operator that waits for an answer for long does not stop the clock: then it leaps once a second, which leaves a permit some
//! seconds of the node's own time.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::Request;
use runtime::changes::Changes;
use tokio::{task::yield_now, time::timeout};
use tower::Service;

/// How often the clock leaps. Often enough to look like a clock, seldom enough not to keep the node busy.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// How many seconds it leaps at most: a fifth of a permit, so that one leap that comes at a bad time costs nobody theirs.
pub(crate) const LEAP: u64 = 60;

/// So many turns of the loop pass from one request of a plan to the next, and then some.
const TURNS: u32 = 16;

/// How long the clock waits for an operator that waits for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the operator has under way. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    begun: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
    changes: Changes,
}

impl Work {
    /// The same service, whose requests are known here. Watches are not: they never end.
    pub(crate) fn attend<S>(&self, service: S) -> Attended<S> {
        Attended { service, work: self.clone() }
    }

    /// Waits until nothing has been under way for some turns of the loop, but not for ever.
    pub(crate) async fn rest(&self) {
        let quiet = async {
            let (mut turns, mut changes) = (0, self.changes.follow());
            let mut known = self.begun.load(Ordering::SeqCst);
            while turns < TURNS {
                changes.mark_seen();
                let begun = self.begun.load(Ordering::SeqCst);
                turns = if begun == known { turns + 1 } else { 0 };
                known = begun;
                if begun == self.ended.load(Ordering::SeqCst) {
                    yield_now().await;
                } else {
                    changes.changed().await;
                }
            }
        };
        // If it takes too long, time passes all the same.
        let _ = timeout(PATIENCE, quiet).await;
    }
}

/// A request that is under way.
struct UnderWay(Work);

impl UnderWay {
    fn begin(work: &Work) -> Self {
        work.begun.fetch_add(1, Ordering::SeqCst);
        Self(work.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
        self.0.changes.tell();
    }
}

/// A service whose requests are known.
#[derive(Clone, Debug)]
pub(crate) struct Attended<S> {
    service: S,
    work: Work,
}

type Answering<S, B> = Pin<
    Box<
        dyn Future<
                Output = Result<
                    <S as Service<Request<B>>>::Response,
                    <S as Service<Request<B>>>::Error,
                >,
            > + Send,
    >,
>;

impl<S, B> Service<Request<B>> for Attended<S>
where
    S: Service<Request<B>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Answering<S, B>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let query = request.uri().query().unwrap_or_default();
        let watches = query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"));
        let under_way = (!watches).then(|| UnderWay::begin(&self.work));
        let answering = self.service.call(request);
        Box::pin(async move {
            let answer = answering.await;
            drop(under_way);
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn request(path: &str) -> Request<()> {
        Request::get(path).body(()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn time_waits_for_what_is_under_way_but_not_for_watches_nor_for_ever() {
        let work = Work::default();
        let slow = |length: u64| {
            tower::service_fn(move |_: Request<()>| async move {
                tokio::time::sleep(Duration::from_millis(length)).await;
                Ok::<(), Infallible>(())
            })
        };
        for (path, length, expected) in [
            ("/api/v1/nodes/n", 300, 300),
            ("/api/v1/nodes?watch=true&resourceVersion=4", 300, 0),
            ("/api/v1/nodes/n?fieldManager=watch", 300, 300),
            ("/api/v1/nodes/n", 60_000, 1_000),
        ] {
            let answering = work.attend(slow(length)).call(request(path));
            let began = tokio::time::Instant::now();
            let asking = tokio::spawn(answering);
            work.rest().await;
            assert_eq!(began.elapsed().as_millis(), expected, "{path} {length}");
            asking.await.unwrap().unwrap();
        }
    }

    /// A plan is several requests, one after the other, with a few turns of the loop between them.
    #[tokio::test(start_paused = true)]
    async fn time_waits_for_the_whole_of_a_plan() {
        let work = Work::default();
        let mut asked = work.attend(tower::service_fn(|_: Request<()>| async {
            yield_now().await;
            Ok::<(), Infallible>(())
        }));
        let plan = tokio::spawn(async move {
            for _ in 0..50 {
                asked.call(request("/api/v1/nodes/n")).await.unwrap();
                for _ in 0..4 {
                    yield_now().await;
                }
            }
        });
        yield_now().await;
        work.rest().await;
        assert!(plan.is_finished());
    }
}
