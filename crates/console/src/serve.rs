//! How is a request answered? It is looked at, then the row of its path says by what.

use std::{sync::Arc, time::Duration};

use front::{Limits, Protection};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use schedule::{Instant, Zone};
use tokio::net::TcpListener;

use crate::{
    answer::{self, Reply},
    asked::{Asked, Fields, back},
    asset, deed,
    desk::{Desk, Turned},
    edit, forecast,
    guard::{self, Names, Refusal},
    live::{self, Live},
    page::{self, Page},
    record::{self, Records},
    route::{self, Route, What, Who},
    session::{Doors, Session},
    shown::{shown, whole},
    view::View,
};

/// What a form may be long.
const LONGEST_FORM: usize = 64 * 1024;

/// What everybody together may ask at once, and for how long a page may be kept true; a browser comes back by itself.
const LIMITS: Limits = Limits {
    at_once: 64,
    from_one_address: 64,
    hello: Duration::from_secs(10),
    whole: Duration::from_hours(1),
    longest_request: 32 * 1024,
    farewell: Duration::from_millis(200),
};

/// Everything that answers need. Clones are one.
#[derive(Clone, Debug)]
struct Office {
    desk: Desk,
    doors: Doors,
    names: Arc<Names>,
    cookie: Arc<str>,
}

/// Answers on a loopback address until `ended`.
pub async fn serve(
    listener: TcpListener,
    desk: Desk,
    doors: Doors,
    ended: impl Future<Output = ()>,
) {
    let port = listener.local_addr().map_or(0, |address| address.port());
    // Cookies know no ports: two consoles of one machine keep theirs apart by name.
    let cookie = format!("tidegate-{port}").into();
    let names = Arc::new(Names::on_loopback(port));
    let office = Office { desk, doors, names, cookie };
    let answering = move |request: Request<Incoming>| {
        let office = office.clone();
        async move { office.answer(request).await }
    };
    front::serve(listener, Protection::Clear, LIMITS, answering, ended).await;
}

impl Office {
    async fn answer(&self, request: Request<Incoming>) -> Reply {
        match self.try_answer(request).await {
            Ok(reply) => reply,
            Err(Refusal { code, why }) => answer::page(code, page::door::refused(why)),
        }
    }

    async fn try_answer(&self, request: Request<Incoming>) -> Result<Reply, Refusal> {
        let (head, body) = request.into_parts();
        self.names.check(&head.headers)?;
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let asked = Asked::new(target);
        let Some(route) = route::find(&head.method, &asked.path) else {
            return Ok(self.nothing(&head.method, &head.headers, &asked));
        };
        let cookie = self.cookie_of(&head.headers);
        let session = cookie.as_deref().and_then(|cookie| self.doors.session(cookie));
        let writes = *route.method == Method::POST;
        if writes {
            self.names.check_write(&head.method, &head.headers)?;
        }
        let visit = match (route.who, session, cookie) {
            (Who::Session, Some(session), Some(cookie)) => Some((session, cookie)),
            (Who::Session, _, _) => {
                let (code, markup) = page::door::page(false);
                return Ok(answer::page(code, markup));
            }
            (Who::Anybody, _, _) => None,
        };
        let form = if writes { form(body).await? } else { Fields::default() };
        match visit {
            None => self.anybody(route, &form),
            Some((session, cookie)) => {
                if writes {
                    guard::check_token(form.get("token"), &session.token)?;
                    self.write(route, &session, &cookie, &form).await
                } else {
                    self.read(route, session, cookie, &asked).await
                }
            }
        }
    }

    /// What anybody gets.
    fn anybody(&self, route: &Route, form: &Fields) -> Result<Reply, Refusal> {
        let plain = |format, text: &'static str| Ok(answer::reply(StatusCode::OK, format, text));
        match route.what {
            What::Style => plain("text/css; charset=utf-8", asset::STYLE),
            What::Script => plain("text/javascript; charset=utf-8", asset::SCRIPT),
            What::Sign => plain("image/svg+xml", asset::SIGN),
            What::Enter => self.enter(form.get("code").unwrap_or_default()),
            _ => Err(Refusal { code: StatusCode::NOT_FOUND, why: "there is nothing here" }),
        }
    }

    fn enter(&self, code: &str) -> Result<Reply, Refusal> {
        let unlucky = |_| Refusal {
            code: StatusCode::INTERNAL_SERVER_ERROR,
            why: "the system gives no chance",
        };
        let Some(cookie) = self.doors.enter(code).map_err(unlucky)? else {
            let (code, markup) = page::door::page(true);
            return Ok(answer::page(code, markup));
        };
        let mut reply = answer::see("/");
        self.set_cookie(&mut reply, &cookie, "");
        Ok(reply)
    }

    fn set_cookie(&self, reply: &mut Reply, value: &str, more: &str) {
        let cookie = format!("{}={value}; HttpOnly; SameSite=Strict; Path=/{more}", self.cookie);
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            reply.headers_mut().insert(header::SET_COOKIE, cookie);
        }
    }

    /// The value of our cookie, if a request has it once.
    fn cookie_of(&self, headers: &HeaderMap) -> Option<String> {
        let all = guard::only(headers, &header::COOKIE)?;
        let mut ours = all.split(';').filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == &*self.cookie).then_some(value)
        });
        let first = ours.next()?;
        ours.next().is_none().then(|| first.to_owned())
    }

    async fn read(
        &self,
        route: &Route,
        session: Session,
        cookie: String,
        asked: &Asked,
    ) -> Result<Reply, Refusal> {
        match route.what {
            What::Live => self.live(&session, cookie, asked),
            What::Freeze | What::Override | What::End => {
                Ok(deed::form(&self.desk, &session, route.what, asked).await)
            }
            What::Edit => Ok(edit::form(&self.desk, &session, asked).await),
            What::Forecast => {
                self.desk.ask_the_time().await;
                let outcome = forecast::ask(&self.desk, asked).await;
                let page = |view: &View<'_>| page::what_if::page(view, asked, &outcome);
                Ok(self.desk.look(&session, |view| whole(view, asked, page(view))))
            }
            What::History => {
                self.desk.ask_the_time().await;
                let records = record::read(self.desk.cluster()).await;
                let page = |view: &View<'_>| page::history::page(view, asked, &records);
                Ok(self.desk.look(&session, |view| whole(view, asked, page(view))))
            }
            What::Lines => Ok(self.lines(&session, asked).await),
            _ => {
                self.desk.ask_the_time().await;
                Ok(self.desk.look(&session, |view| whole(view, asked, shown(view, asked))))
            }
        }
    }

    /// The entries of the history that were asked for, as a file.
    async fn lines(&self, session: &Session, asked: &Asked) -> Reply {
        let lines = match record::read(self.desk.cluster()).await {
            Records::Read(record) => {
                self.desk.look(session, |view| page::history::lines(view, asked, &record))
            }
            Records::Off => Err("nothing is recorded: the history is switched off".to_owned()),
            Records::Unread(why) => Err(why),
        };
        match lines {
            Ok(lines) => answer::download("history.jsonl", lines),
            Err(why) => self.desk.look(session, |view| whole(view, asked, Page::missing(&why))),
        }
    }

    fn live(&self, session: &Session, cookie: String, asked: &Asked) -> Result<Reply, Refusal> {
        let many = Refusal {
            code: StatusCode::TOO_MANY_REQUESTS,
            why: "too many pages of this session are open",
        };
        let place = Arc::clone(&session.streams).try_acquire_owned().map_err(|_| many)?;
        let (desk, doors) = (self.desk.clone(), self.doors.clone());
        let mark = asked.query.get("mark").unwrap_or_default().to_owned();
        let asked = Asked::new(&back(asked.query.get("page")));
        Ok(live::stream(Live { desk, doors, cookie, asked, mark, place }))
    }

    async fn write(
        &self,
        route: &Route,
        session: &Session,
        cookie: &str,
        form: &Fields,
    ) -> Result<Reply, Refusal> {
        let there = back(form.get("back"));
        match route.what {
            What::Leave => {
                self.doors.leave(cookie);
                let mut reply = answer::see("/");
                self.set_cookie(&mut reply, "", "; Max-Age=0");
                Ok(reply)
            }
            What::Zone => {
                let zone = form.get("zone").and_then(|zone| Zone::named(zone).ok());
                let unknown =
                    Refusal { code: StatusCode::BAD_REQUEST, why: "there is no such zone" };
                self.doors.set_zone(cookie, zone.ok_or(unknown)?);
                Ok(answer::see(&there))
            }
            What::Clock => {
                self.turn(form.get("turn").unwrap_or_default())?;
                Ok(answer::see(&there))
            }
            What::Freeze | What::Override | What::End => {
                Ok(deed::act(&self.desk, session, route.what, form).await)
            }
            What::Edit => Ok(edit::act(&self.desk, session, form).await),
            _ => Err(Refusal { code: StatusCode::NOT_FOUND, why: "there is nothing here" }),
        }
    }

    /// Turns the clock of a sandbox.
    fn turn(&self, wish: &str) -> Result<(), Refusal> {
        let refused = |why| Refusal { code: StatusCode::BAD_REQUEST, why };
        let Some(dial) = self.desk.dial() else {
            return Err(refused("nobody turns the clock of a cluster"));
        };
        let (word, number) = wish.split_once(' ').unwrap_or((wish, ""));
        let turned = match (word, number.parse::<i64>().ok()) {
            ("pause", _) => Turned::Speed(0),
            ("resume", _) => Turned::Resume,
            ("step", Some(seconds)) => Turned::Step(seconds),
            ("speed", Some(speed)) => Turned::Speed(u32::try_from(speed).unwrap_or(1)),
            ("edge", _) => match self.next_edge() {
                Some(edge) => Turned::Set(edge),
                None => return Err(refused("nothing opens or shuts by itself")),
            },
            _ => return Err(refused("a clock cannot be turned like that")),
        };
        (dial.turn)(turned);
        Ok(())
    }

    fn next_edge(&self) -> Option<Instant> {
        self.desk.next_edge()
    }

    /// A path that leads nowhere: whoever is in is told so on a page, and nobody else learns more than that.
    fn nothing(&self, method: &Method, headers: &HeaderMap, asked: &Asked) -> Reply {
        let known = |other: &Route| Some(other.first) == asked.path.first().map(String::as_str);
        if route::ROUTES.iter().any(known) && *method != Method::GET {
            let why = page::door::refused("this cannot be asked like that");
            return answer::page(StatusCode::METHOD_NOT_ALLOWED, why);
        }
        let session = self.cookie_of(headers).and_then(|cookie| self.doors.session(&cookie));
        let Some(session) = session else {
            let (code, markup) = page::door::page(false);
            return answer::page(code, markup);
        };
        self.desk.look(&session, |view| {
            let path = asked.path();
            whole(view, asked, Page::missing(&format!("no page is called {path}")))
        })
    }
}

/// The fields of a form.
async fn form(body: Incoming) -> Result<Fields, Refusal> {
    let long = Refusal { code: StatusCode::PAYLOAD_TOO_LARGE, why: "the form is too long" };
    let read = tokio::time::timeout(LIMITS.hello, Limited::new(body, LONGEST_FORM).collect());
    let slow = Refusal { code: StatusCode::REQUEST_TIMEOUT, why: "the form took too long" };
    let body = read.await.map_err(|_| slow)?.map_err(|_| long)?.to_bytes();
    Ok(Fields::new(&String::from_utf8_lossy(&body)))
}
