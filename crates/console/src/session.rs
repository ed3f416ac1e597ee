//! Who is in? Whoever came with a code that this process printed, once.
//!
//! Other users of a machine can reach a loopback port, so the port alone lets nobody in. A code leads to a session, and a session to a cookie;
//! both are kept as digests and in memory only, so that nothing of them is left when the process ends.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use schedule::Zone;
use sha2::{Digest as _, Sha256};
use tokio::{sync::Semaphore, time::Instant};

use crate::guest::Guest;

/// Fills a place with what nobody can guess.
pub type Chance = fn(&mut [u8]) -> io::Result<()>;

/// How long a code can be used. It is printed to a terminal and clicked from there: a minute is too short for somebody who reads what stands
/// beside it, an hour long enough for somebody else to read the terminal.
const CODE: Duration = Duration::from_mins(10);

/// After how long without a request a session is over.
const IDLE: Duration = Duration::from_hours(12);

/// How many sessions there are at most; the one that was idle longest goes.
const SESSIONS: usize = 16;

/// What sessions last in a cluster, where many come: so long without a request, and so long in all. Whose token ends before is out then.
const IDLE_IN_CLUSTER: Duration = Duration::from_mins(30);
const LONGEST_IN_CLUSTER: Duration = Duration::from_hours(12);
const SESSIONS_IN_CLUSTER: usize = 1_000;

/// How many pages of one session are told what happens at once.
const STREAMS: usize = 8;

pub(crate) type Print = [u8; 32];

/// Codes and sessions. Clones are one.
#[derive(Clone, Debug)]
pub struct Doors {
    chance: Chance,
    bounds: Bounds,
    inner: Arc<Mutex<Inner>>,
}

/// What sessions last, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    idle: Duration,
    longest: Duration,
    most: usize,
}

#[derive(Debug, Default)]
struct Inner {
    codes: BTreeMap<Print, Instant>,
    sessions: BTreeMap<Print, Session>,
}

/// Somebody who is in.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// What their forms show.
    pub(crate) token: String,
    /// The zone in which they read times.
    pub(crate) zone: Zone,
    /// The pages that are told what happens.
    pub(crate) streams: Arc<Semaphore>,
    /// Whose token it is, where people come with one.
    pub(crate) guest: Option<Arc<Guest>>,
    begun: Instant,
    used: Instant,
}

impl Session {
    fn is_over(&self, bounds: Bounds) -> bool {
        self.used.elapsed() >= bounds.idle || self.begun.elapsed() >= bounds.longest
    }
}

impl Doors {
    /// With nobody in.
    pub fn new(chance: Chance) -> Self {
        let bounds = Bounds { idle: IDLE, longest: Duration::MAX, most: SESSIONS };
        Self { chance, bounds, inner: Arc::default() }
    }

    /// The same where people come with tokens of the cluster.
    pub fn in_cluster(chance: Chance) -> Self {
        let (idle, longest, most) = (IDLE_IN_CLUSTER, LONGEST_IN_CLUSTER, SESSIONS_IN_CLUSTER);
        Self { chance, bounds: Bounds { idle, longest, most }, inner: Arc::default() }
    }

    /// A new code, which lets one in, once.
    pub fn code(&self) -> io::Result<String> {
        let code = self.drawn()?;
        let mut inner = self.inner();
        inner.codes.retain(|_, made| made.elapsed() < CODE);
        inner.codes.insert(print(&code), Instant::now());
        Ok(code)
    }

    /// Lets somebody in who has a code; the value of their cookie.
    pub(crate) fn enter(&self, code: &str) -> io::Result<Option<String>> {
        let made = self.inner().codes.remove(&print(code));
        if made.is_none_or(|made| made.elapsed() >= CODE) {
            return Ok(None);
        }
        self.admit(None).map(Some)
    }

    /// Lets somebody in who has shown who they are; the value of their cookie.
    pub(crate) fn admit(&self, guest: Option<Arc<Guest>>) -> io::Result<String> {
        let (cookie, token) = (self.drawn()?, self.drawn()?);
        let mut inner = self.inner();
        let used = Instant::now();
        inner.sessions.retain(|_, session| !session.is_over(self.bounds));
        if inner.sessions.len() >= self.bounds.most {
            let oldest = inner.sessions.iter().min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(print, _)| *print) {
                inner.sessions.remove(&oldest);
            }
        }
        let streams = Arc::new(Semaphore::new(STREAMS));
        let session = Session { token, zone: Zone::utc(), streams, guest, begun: used, used };
        inner.sessions.insert(print(&cookie), session);
        Ok(cookie)
    }

    /// Whose cookie it is.
    pub(crate) fn session(&self, cookie: &str) -> Option<Session> {
        let mut inner = self.inner();
        let session = inner.sessions.get_mut(&print(cookie))?;
        if session.is_over(self.bounds) {
            return None;
        }
        session.used = Instant::now();
        Some(session.clone())
    }

    /// The same person shows a newer token.
    pub(crate) fn renew(&self, cookie: &str, guest: Arc<Guest>) {
        if let Some(session) = self.inner().sessions.get_mut(&print(cookie)) {
            session.guest = Some(guest);
        }
    }

    /// Reads times in another zone from now on.
    pub(crate) fn set_zone(&self, cookie: &str, zone: Zone) {
        if let Some(session) = self.inner().sessions.get_mut(&print(cookie)) {
            session.zone = zone;
        }
    }

    /// Ends a session.
    pub(crate) fn leave(&self, cookie: &str) {
        self.inner().sessions.remove(&print(cookie));
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// 128 bits that nobody can guess.
    fn drawn(&self) -> io::Result<String> {
        let mut place = [0_u8; 16];
        (self.chance)(&mut place)?;
        Ok(digits(&place))
    }
}

/// Bytes as digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn print(secret: &str) -> Print {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    /// Another value each time.
    #[expect(clippy::unnecessary_wraps, reason = "chance may fail")]
    fn counted(place: &mut [u8]) -> io::Result<()> {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        place.fill(NEXT.fetch_add(1, Ordering::SeqCst));
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_code_lets_one_in_once_and_not_for_ever() {
        let doors = Doors::new(counted);
        let code = doors.code().unwrap();
        assert_eq!(doors.enter("guessed").unwrap(), None);
        let cookie = doors.enter(&code).unwrap().unwrap();
        assert_eq!(doors.enter(&code).unwrap(), None, "once");
        let late = doors.code().unwrap();
        tokio::time::advance(CODE).await;
        assert_eq!(doors.enter(&late).unwrap(), None, "too late");
        let session = doors.session(&cookie).unwrap();
        assert_ne!(session.token, cookie, "a form does not show the cookie");
        assert!(doors.session("guessed").is_none());
        doors.leave(&cookie);
        assert!(doors.session(&cookie).is_none());
    }

    /// In a cluster a session is over after half a day, however busy, and a page that was left open does not keep it for ever.
    #[tokio::test(start_paused = true)]
    async fn sessions_in_a_cluster_are_short() {
        let doors = Doors::in_cluster(counted);
        let left = doors.admit(None).unwrap();
        tokio::time::advance(IDLE_IN_CLUSTER).await;
        assert!(doors.session(&left).is_none(), "idle for too long");
        let busy = doors.admit(None).unwrap();
        for _ in 0..24 {
            assert!(doors.session(&busy).is_some());
            tokio::time::advance(Duration::from_secs(30 * 60 - 1)).await;
        }
        tokio::time::advance(Duration::from_mins(1)).await;
        assert!(doors.session(&busy).is_none(), "half a day is enough");
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_end_and_are_few() {
        let doors = Doors::new(counted);
        let enter = || doors.enter(&doors.code().unwrap()).unwrap().unwrap();
        let idle = enter();
        tokio::time::advance(IDLE).await;
        assert!(doors.session(&idle).is_none(), "idle for too long");
        let first = enter();
        tokio::time::advance(Duration::from_secs(1)).await;
        let others: Vec<String> = (0..SESSIONS).map(|_| enter()).collect();
        assert!(doors.session(&first).is_none(), "the oldest made room");
        assert!(others.iter().all(|cookie| doors.session(cookie).is_some()));
    }
}
