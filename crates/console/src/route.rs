//! What can be asked for? One row for each path: how it is asked, who may, and what answers.

use http::Method;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// How it is asked. Whatever changes something is a POST.
    pub(crate) method: &'static Method,
    /// The first part of the path; empty for the root.
    pub(crate) first: &'static str,
    /// Whether more parts may follow.
    pub(crate) more: bool,
    /// Who may ask.
    pub(crate) who: Who,
    /// What answers.
    pub(crate) what: What,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Anybody: it says nothing of a cluster and changes nothing in it.
    Anybody,
    /// Whoever came in by a code.
    Session,
}

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Now,
    Calendar,
    Resources,
    Resource,
    Pools,
    Policies,
    Edit,
    Forecast,
    Gates,
    History,
    Lines,
    Freeze,
    Override,
    End,
    Live,
    Style,
    Script,
    Sign,
    Enter,
    Leave,
    Zone,
    Clock,
}

const fn get(first: &'static str, what: What) -> Route {
    Route { method: &Method::GET, first, more: false, who: Who::Session, what }
}

const fn post(first: &'static str, what: What) -> Route {
    Route { method: &Method::POST, first, more: false, who: Who::Session, what }
}

const fn open(route: Route) -> Route {
    Route { who: Who::Anybody, ..route }
}

/// Everything that can be asked for.
pub(crate) const ROUTES: &[Route] = &[
    get("", What::Now),
    get("calendar", What::Calendar),
    get("resources", What::Resources),
    Route { more: true, ..get("r", What::Resource) },
    Route { more: true, ..get("pools", What::Pools) },
    get("policies", What::Policies),
    get("edit", What::Edit),
    get("what-if", What::Forecast),
    get("gates", What::Gates),
    get("history", What::History),
    get("history.jsonl", What::Lines),
    get("freeze", What::Freeze),
    get("override", What::Override),
    get("end", What::End),
    get("live", What::Live),
    open(get("console.css", What::Style)),
    open(get("console.js", What::Script)),
    open(get("sign.svg", What::Sign)),
    open(post("door", What::Enter)),
    post("leave", What::Leave),
    post("zone", What::Zone),
    post("clock", What::Clock),
    post("edit", What::Edit),
    post("freeze", What::Freeze),
    post("override", What::Override),
    post("end", What::End),
];

/// The row of a request; none if there is nothing there, or nothing that is asked like that.
pub(crate) fn find(method: &Method, path: &[String]) -> Option<&'static Route> {
    let first = path.first().map_or("", String::as_str);
    let leads = |route: &&Route| {
        route.first == first && route.method == method && (route.more || path.len() <= 1)
    };
    ROUTES.iter().find(leads)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever is not in sees a stylesheet, a script, a sign and a door.
    #[test]
    fn strangers_reach_nothing_of_a_cluster() {
        let open: Vec<&str> = ROUTES
            .iter()
            .filter(|route| route.who == Who::Anybody)
            .map(|route| route.first)
            .collect();
        assert_eq!(open, ["console.css", "console.js", "sign.svg", "door"]);
    }

    #[test]
    fn paths_lead_to_one_row_each() {
        let found = |method: &Method, path: &[&str]| {
            let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
            find(method, &path).map(|route| route.what)
        };
        assert_eq!(found(&Method::GET, &[]), Some(What::Now));
        assert_eq!(found(&Method::GET, &["r", "mcp", "worker"]), Some(What::Resource));
        assert_eq!(found(&Method::GET, &["calendar", "x"]), None);
        assert_eq!(found(&Method::GET, &["clock"]), None, "a GET turns no clock");
        assert_eq!(found(&Method::POST, &["clock"]), Some(What::Clock));
        assert_eq!(found(&Method::DELETE, &["end"]), None);
        for (place, route) in ROUTES.iter().enumerate() {
            let same = |other: &&Route| (other.first, other.method) == (route.first, route.method);
            assert_eq!(
                ROUTES.iter().position(|other| same(&other)),
                Some(place),
                "{}",
                route.first
            );
        }
    }
}
