//! What travels between the operator and the server? The answers bear the time of the script, and whoever sets the clock knows whether
//! anything is still on its way.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use http::Request;
use http_body::Frame;
use kube::{Client, client::Body};
use runtime::clock::{Clock as _, SetClock};

/// Counts the requests that have no whole answer yet. Watches never have one, and are not counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    travelling: Arc<AtomicUsize>,
}

impl Wire {
    pub(crate) fn is_quiet(&self) -> bool {
        self.travelling.load(Ordering::Relaxed) == 0
    }

    /// A client whose requests are counted, and whose answers bear the time of the script. The servers answer in their own, and an
    /// operator whose clock is off by years initiates nothing (GATE-11).
    pub(crate) fn between(&self, client: Client, clock: SetClock) -> Client {
        let wire = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, clock, wire) = (client.clone(), clock.clone(), wire.clone());
            async move {
                let query = request.uri().query().unwrap_or_default();
                let is_watch = query.split('&').any(|pair| pair.starts_with("watch="));
                let on_its_way = (!is_watch).then(|| wire.departs());
                let mut answer = client.send(request).await?;
                let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
                let date = printer.timestamp_to_rfc9110_string(&clock.exact()).unwrap();
                answer.headers_mut().insert(http::header::DATE, date.parse().unwrap());
                Ok::<_, kube::Error>(answer.map(|body| Counted { body, _on_its_way: on_its_way }))
            }
        });
        Client::new(service, "default")
    }

    fn departs(&self) -> OnItsWay {
        self.travelling.fetch_add(1, Ordering::Relaxed);
        OnItsWay(self.clone())
    }
}

/// A request without its whole answer. One that is given up counts no more.
struct OnItsWay(Wire);

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.travelling.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An answer that is on its way until it was read or thrown away.
struct Counted {
    body: Body,
    _on_its_way: Option<OnItsWay>,
}

impl http_body::Body for Counted {
    type Data = bytes::Bytes;
    type Error = kube::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
