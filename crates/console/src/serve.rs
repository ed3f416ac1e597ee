//! How is a request answered? It is looked at, then the row of its path says by what.

use std::{io, sync::Arc, time::Duration};

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
    guest::Lost,
    live::{self, Live},
    page::{self, Page, door::By},
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

/// The same in a cluster, where everybody comes through one proxy or one service.
const IN_CLUSTER: Limits = Limits { at_once: 1_024, from_one_address: 1_024, ..LIMITS };

/// Everything that answers need. Clones are one.
#[derive(Clone, Debug)]
struct Office {
    desk: Desk,
    doors: Doors,
    names: Arc<Names>,
    cookie: Arc<str>,
    by: By,
}

/// How people reach a console, and by what they are let in.
#[derive(Clone, Debug)]
pub enum Entrance {
    /// On a machine of their own: by loopback, with a code.
    Loopback,
    /// In a cluster, by these names: each pastes a token.
    Tokens(Vec<String>),
    /// In a cluster, by these names: a proxy beside it hands on the token of whoever signed in there. Listen on loopback only: whoever reaches the
    /// port is believed to be that proxy.
    Proxy(Vec<String>),
}

/// The header in which a proxy hands on a token.
const HANDED_ON: &str = "x-forwarded-access-token";

/// Answers until `ended`.
pub async fn serve(
    listener: TcpListener,
    protection: Protection,
    entrance: Entrance,
    (desk, doors): (Desk, Doors),
    ended: impl Future<Output = ()>,
) {
    let port = listener.local_addr().map_or(0, |address| address.port());
    let (names, by) = match entrance {
        Entrance::Loopback => (Names::on_loopback(port), By::Code),
        Entrance::Tokens(names) => (Names::given(names), By::Token),
        Entrance::Proxy(names) => (Names::given(names), By::Proxy),
    };
    let cookie = match by {
        // Cookies know no ports: two consoles of one machine keep theirs apart by name.
        By::Code => format!("tidegate-{port}").into(),
        // Browsers take a cookie of this name over TLS only, for this host only.
        By::Token | By::Proxy => "__Host-tidegate".into(),
    };
    let limits = match by {
        By::Code => LIMITS,
        By::Token | By::Proxy => IN_CLUSTER,
    };
    let office = Office { desk, doors, names: Arc::new(names), cookie, by };
    let answering = move |request: Request<Incoming>| {
        let office = office.clone();
        async move { office.answer(request).await }
    };
    front::serve(listener, protection, limits, answering, ended).await;
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
        let Visit { cookie, session, fresh } = self.visit(&head.headers).await?;
        let Some(route) = route::find(&head.method, &asked.path) else {
            return Ok(self.nothing(&head.method, session, &asked));
        };
        let writes = *route.method == Method::POST;
        if writes {
            self.names.check_write(&head.method, &head.headers)?;
        }
        let visit = match (route.who, session, cookie) {
            (Who::Session, Some(session), Some(cookie)) => Some((session, cookie)),
            (Who::Session, _, _) => {
                let (code, markup) = page::door::page(self.by, false);
                return Ok(answer::page(code, markup));
            }
            (Who::Anybody, _, _) => None,
        };
        if let Some((session, cookie)) = &visit
            && let Err(lost) = self.desk.renew(session).await
        {
            return Ok(self.lost(&lost, cookie));
        }
        let form = if writes { form(body).await? } else { Fields::default() };
        match visit {
            None => self.anybody(route, &form).await,
            Some((session, cookie)) => {
                let answered = if writes {
                    guard::check_token(form.get("token"), &session.token)?;
                    self.write(route, &session, &cookie, &form).await
                } else {
                    self.read(route, session, cookie.clone(), &asked).await
                };
                answered.map(|mut reply| {
                    if fresh {
                        self.set_cookie(&mut reply, &cookie, "");
                    }
                    reply
                })
            }
        }
    }

    /// Whose request it is. Behind a proxy that is whoever's token it hands on, whatever the cookie says; elsewhere such a header is a lie, and
    /// refused rather than passed over.
    async fn visit(&self, headers: &HeaderMap) -> Result<Visit, Refusal> {
        let cookie = self.cookie_of(headers);
        let session = cookie.as_deref().and_then(|cookie| self.doors.session(cookie));
        let name = header::HeaderName::from_static(HANDED_ON);
        if self.by != By::Proxy {
            if headers.contains_key(&name)
                || (self.by == By::Token && headers.contains_key(header::AUTHORIZATION))
            {
                let why = "no proxy hands tokens on to this console";
                return Err(Refusal { code: StatusCode::FORBIDDEN, why });
            }
            return Ok(Visit { cookie, session, fresh: false });
        }
        let Some(token) = guard::only(headers, &name) else {
            return Ok(Visit { cookie, session: None, fresh: false });
        };
        let guest = session.as_ref().and_then(|session| session.guest.clone());
        if guest.as_ref().is_some_and(|guest| guest.shows(token)) {
            return Ok(Visit { cookie, session, fresh: false });
        }
        let Ok(newer) = self.desk.guest(token).await.map(Arc::new) else {
            return Ok(Visit { cookie, session: None, fresh: false });
        };
        // The same person with a newer token goes on; another begins anew.
        if let (Some(cookie), Some(older)) = (&cookie, guest)
            && older.name == newer.name
        {
            self.doors.renew(cookie, newer);
            let session = self.doors.session(cookie);
            return Ok(Visit { cookie: Some(cookie.clone()), session, fresh: false });
        }
        let cookie = self.doors.admit(Some(newer)).map_err(unlucky)?;
        let session = self.doors.session(&cookie);
        Ok(Visit { cookie: Some(cookie), session, fresh: true })
    }

    /// The cluster does not say any more who somebody is.
    fn lost(&self, lost: &Lost, cookie: &str) -> Reply {
        match lost {
            Lost::Unknown => {
                self.doors.leave(cookie);
                let (code, markup) = page::door::page(self.by, false);
                answer::page(code, markup)
            }
            Lost::Unanswered => {
                let why =
                    "the API server did not say in time what you may see; load the page again";
                answer::page(StatusCode::SERVICE_UNAVAILABLE, page::door::refused(why))
            }
        }
    }

    /// What anybody gets.
    async fn anybody(&self, route: &Route, form: &Fields) -> Result<Reply, Refusal> {
        let plain = |format, text: &'static str| Ok(answer::reply(StatusCode::OK, format, text));
        match route.what {
            What::Style => plain("text/css; charset=utf-8", asset::STYLE),
            What::Script => plain("text/javascript; charset=utf-8", asset::SCRIPT),
            What::Sign => plain("image/svg+xml", asset::SIGN),
            What::Enter => self.enter(form).await,
            _ => Err(Refusal { code: StatusCode::NOT_FOUND, why: "there is nothing here" }),
        }
    }

    async fn enter(&self, form: &Fields) -> Result<Reply, Refusal> {
        let cookie = match self.by {
            By::Code => self.doors.enter(form.get("code").unwrap_or_default()).map_err(unlucky)?,
            By::Token => match self.desk.guest(form.get("bearer").unwrap_or_default()).await {
                Ok(guest) => Some(self.doors.admit(Some(Arc::new(guest))).map_err(unlucky)?),
                Err(_) => None,
            },
            By::Proxy => None,
        };
        let Some(cookie) = cookie else {
            let (code, markup) = page::door::page(self.by, true);
            return Ok(answer::page(code, markup));
        };
        let mut reply = answer::see("/");
        self.set_cookie(&mut reply, &cookie, "");
        Ok(reply)
    }

    fn set_cookie(&self, reply: &mut Reply, value: &str, more: &str) {
        let secure = if self.by == By::Code { "" } else { "; Secure" };
        let cookie =
            format!("{}={value}; HttpOnly; SameSite=Strict; Path=/{secure}{more}", self.cookie);
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
                let outcome = forecast::ask(&self.desk, &session, asked).await;
                let page = |view: &View<'_>| page::what_if::page(view, asked, &outcome);
                Ok(self.desk.look(&session, |view| whole(view, asked, page(view))))
            }
            What::History => {
                self.desk.ask_the_time().await;
                let records = record::read(self.desk.cluster_of(&session)).await;
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
        let lines = match record::read(self.desk.cluster_of(session)).await {
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
    fn nothing(&self, method: &Method, session: Option<Session>, asked: &Asked) -> Reply {
        let known = |other: &Route| Some(other.first) == asked.path.first().map(String::as_str);
        if route::ROUTES.iter().any(known) && *method != Method::GET {
            let why = page::door::refused("this cannot be asked like that");
            return answer::page(StatusCode::METHOD_NOT_ALLOWED, why);
        }
        let Some(session) = session else {
            let (code, markup) = page::door::page(self.by, false);
            return answer::page(code, markup);
        };
        self.desk.look(&session, |view| {
            let path = asked.path();
            whole(view, asked, Page::missing(&format!("no page is called {path}")))
        })
    }
}

/// Whose request it is.
struct Visit {
    cookie: Option<String>,
    session: Option<Session>,
    /// Whether the cookie is to be set.
    fresh: bool,
}

fn unlucky(_: io::Error) -> Refusal {
    Refusal { code: StatusCode::INTERNAL_SERVER_ERROR, why: "the system gives no chance" }
}

/// The fields of a form.
async fn form(body: Incoming) -> Result<Fields, Refusal> {
    let long = Refusal { code: StatusCode::PAYLOAD_TOO_LARGE, why: "the form is too long" };
    let read = tokio::time::timeout(LIMITS.hello, Limited::new(body, LONGEST_FORM).collect());
    let slow = Refusal { code: StatusCode::REQUEST_TIMEOUT, why: "the form took too long" };
    let body = read.await.map_err(|_| slow)?.map_err(|_| long)?.to_bytes();
    Ok(Fields::new(&String::from_utf8_lossy(&body)))
}
