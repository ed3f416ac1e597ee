//! What becomes of a mark that arrives after its window? The operator sends it in time, and stalls: nothing that it writes reaches the server before that (GATE-7).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Method, Request, Response};
use jiff::{Timestamp, ToSpan as _};
use kube::{Client, client::Body};

use super::{VERSION, ahead, mark, shown, start, until, window, wish};
use crate::rollout::writers::Writers;

/// What the server said to each mark that came late.
type Ledger = Arc<Mutex<Vec<(u16, String)>>>;

/// Scenario 5 of the design: two seconds after the end the server refuses the mark, and nothing has begun.
pub(super) async fn is_refused(Writers { admin, operator, .. }: &Writers) {
    let release = wish(admin).await;
    let opens = ahead(15);
    let shuts = opens + 4.seconds();
    let ledger = Ledger::default();
    let slow = holding(operator.client(), shuts + 2.seconds(), Arc::clone(&ledger));
    let running = start(slow);
    window(admin, opens, shuts).await;
    until("the mark arrives", async || !ledger.lock().unwrap().is_empty()).await;
    assert!(Timestamp::now() >= shuts + 2.seconds());
    let (code, said) = ledger.lock().unwrap()[0].clone();
    assert_eq!(code, 403, "{said}");
    assert!(said.contains(&format!("the permit ended at {}", shown(shuts))), "{said}");
    // The operator has noticed that the window is over, and tries no more.
    until("it waits", async || {
        let version = admin.get(VERSION).await;
        super::says(&version, "ChangesPending").starts_with("True held")
    })
    .await;
    assert_eq!(mark(&admin.get(VERSION).await, &release), None);
    assert_eq!(ledger.lock().unwrap().len(), 1, "and nothing was sent again");
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
}

/// How long it is until then.
fn left(until: Timestamp) -> Duration {
    Duration::try_from(Timestamp::now().duration_until(until)).unwrap_or_default()
}

/// A client whose marks of the control plane travel until an instant, whatever becomes of whoever sent them. What is written after the first one arrives
/// later still: a status would change the version that the mark is made from, and then the server would not even look at its permit.
fn holding(client: Client, arrives: Timestamp, ledger: Ledger) -> Client {
    let stalled = Arc::new(AtomicBool::new(false));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, ledger, stalled) = (client.clone(), Arc::clone(&ledger), Arc::clone(&stalled));
        async move {
            let query = request.uri().query().unwrap_or_default();
            let marks = request.method() == Method::PATCH
                && request.uri().path() == VERSION
                && query.contains("fieldManager=tidegate-rollout")
                && !query.contains("dryRun");
            if !marks {
                if stalled.load(Ordering::Relaxed) && request.method() != Method::GET {
                    tokio::time::sleep(left(arrives + 2.seconds())).await;
                }
                return client.send(request).await;
            }
            stalled.store(true, Ordering::Relaxed);
            let travelling = tokio::spawn(async move {
                tokio::time::sleep(left(arrives)).await;
                let (head, body) = client.send(request).await?.into_parts();
                let body = body.collect_bytes().await?;
                let said = String::from_utf8_lossy(&body).into_owned();
                ledger.lock().unwrap().push((head.status.as_u16(), said));
                Ok(Response::from_parts(head, Body::from(body.to_vec())))
            });
            travelling.await.unwrap()
        }
    });
    Client::new(service, "default")
}
