//! What can a stranger make a front do? Over real sockets, and by a clock that waits for nobody.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use front::{Answer, Limits, Protection, plain, serve};
use http::{Request, StatusCode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::Instant,
};

/// A front that says the path it was asked for; `/wait` is answered once somebody says so.
struct Front {
    address: SocketAddr,
    asked: Arc<Notify>,
    go_on: Arc<Notify>,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

async fn front(limits: Limits) -> Front {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (noted, told) = (Arc::clone(&asked), Arc::clone(&go_on));
    let answer =
        move |request: Request<_>| -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send>> {
            let path = request.uri().path().to_owned();
            let _: &Request<hyper::body::Incoming> = &request;
            let (noted, told) = (Arc::clone(&noted), Arc::clone(&told));
            Box::pin(async move {
                if path == "/wait" {
                    noted.notify_one();
                    told.notified().await;
                }
                plain(StatusCode::OK, path)
            })
        };
    let (end, ended) = oneshot::channel();
    let ended = async move { drop(ended.await) };
    let serving = tokio::spawn(serve(listener, Protection::Clear, limits, answer, ended));
    Front { address, asked, go_on, end, serving }
}

async fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

async fn ask(address: SocketAddr, path: &str) -> TcpStream {
    send(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await
}

/// All that comes until the connection ends; nothing if it was cut.
async fn heard(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text).await;
    text
}

#[tokio::test]
async fn a_connection_is_one_question_and_one_answer() {
    let front = front(Limits::default()).await;
    let stream = ask(front.address, "/a").await;
    let answer = heard(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n/a"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_ask_is_let_go() {
    let front = front(Limits::default()).await;
    for half in ["", "GET / HTTP/1.1\r\nHost:"] {
        let began = Instant::now();
        let answer = heard(send(front.address, half).await).await;
        assert!(!answer.contains("200"), "{answer}");
        assert!(began.elapsed() >= Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_never_ends_is_ended() {
    let front = front(Limits::default()).await;
    let began = Instant::now();
    let answer = heard(ask(front.address, "/wait").await).await;
    assert_eq!(answer, "");
    assert!(began.elapsed() >= Duration::from_mins(2), "{:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_mins(3), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let front = front(Limits::default()).await;
    let long =
        |length: usize| format!("GET /a HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(length));
    let answer = heard(send(front.address, &long(20_000)).await).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let answer = heard(send(front.address, &long(200_000)).await).await;
    assert!(!answer.contains("200 OK"), "{answer}");
}

#[tokio::test]
async fn who_finds_no_room_waits_and_one_address_does_not_take_it_all() {
    let front = front(Limits { at_once: 2, from_one_address: 2, ..Limits::default() }).await;
    let first = ask(front.address, "/wait").await;
    front.asked.notified().await;
    let second = ask(front.address, "/wait").await;
    front.asked.notified().await;
    let third = ask(front.address, "/c").await;
    front.go_on.notify_one();
    assert!(heard(third).await.ends_with("/c"), "it waited for room");
    front.go_on.notify_one();
    assert!(heard(first).await.ends_with("/wait") && heard(second).await.ends_with("/wait"));

    let front = self::front(Limits { at_once: 3, from_one_address: 1, ..Limits::default() }).await;
    let first = ask(front.address, "/wait").await;
    front.asked.notified().await;
    assert_eq!(
        heard(ask(front.address, "/b").await).await,
        "",
        "there is room, and not for this one"
    );
    front.go_on.notify_one();
    assert!(heard(first).await.ends_with("/wait"));
}

/// Probes come by the same door: whoever takes all the room has the program killed.
#[tokio::test]
async fn one_address_leaves_room_for_others_unless_told_otherwise() {
    let front = front(Limits::default()).await;
    let mut silent = Vec::new();
    for _ in 0..Limits::default().at_once {
        silent.push(TcpStream::connect(front.address).await.unwrap());
    }
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(front.address).await.unwrap();
    other.write_all(b"GET /b HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(heard(other).await.ends_with("/b"));
    // It did not wait until they were let go.
    let mut first = silent.swap_remove(0);
    first.write_all(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(heard(first).await.ends_with("/a"));
}

#[tokio::test]
async fn an_answer_under_way_is_finished_when_the_front_ends() {
    let front = front(Limits::default()).await;
    let silent = send(front.address, "").await;
    let stream = ask(front.address, "/wait").await;
    front.asked.notified().await;
    front.end.send(()).unwrap();
    assert_eq!(heard(silent).await, "", "who has not asked is let go at once");
    assert!(TcpStream::connect(front.address).await.is_err(), "nobody new is let in");
    front.go_on.notify_one();
    assert!(heard(stream).await.ends_with("/wait"));
    front.serving.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_end_waits_for_nobody_for_long() {
    let front = front(Limits::default()).await;
    let _stream = ask(front.address, "/wait").await;
    front.asked.notified().await;
    let began = Instant::now();
    front.end.send(()).unwrap();
    front.serving.await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
}
