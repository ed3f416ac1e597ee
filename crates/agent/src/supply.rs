//! Where do configurations come from? From the operator, which gives a node its own and no others (NODE-3).
//!
//! An agent that somebody runs by hand, or in a play, reads them at the API server instead, with the rights of whoever runs it.
//!
//! A client is made anew each time: a node asks once for each change, and by then the token and the authority are others.

use std::{path::PathBuf, sync::Arc, time::Duration};

use api::{kinds, machine::MachineConfig};
use runtime::{
    call::{CallError, Cluster},
    client::{self, ConnectError, Place},
    clock::Clock,
    path::{self, Resource},
    telemetry::Telemetry,
};

/// Where configurations come from.
#[derive(Clone, Debug, Default)]
pub enum Supply {
    /// The API server.
    #[default]
    Cluster,
    /// The operator, at this place.
    Operator(Place),
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum SupplyError {
    /// The API server did not answer, or refused.
    #[error(transparent)]
    Cluster(CallError),
    /// It does not exist, is not for this node, or cannot be read.
    #[error("{0}")]
    Unusable(String),
    /// The operator cannot be asked.
    #[error("the operator gives no answer at {url}, and is asked again in a moment")]
    Away {
        /// Where it was asked.
        url: String,
        /// What happened.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// How long the operator may take: it asks the cluster four things before it answers.
const PATIENCE: Duration = Duration::from_secs(20);

impl Supply {
    /// That of a program that was told so by three arguments, or by none.
    pub fn of(
        url: Option<String>,
        authority: Option<PathBuf>,
        token: Option<PathBuf>,
    ) -> Result<Self, &'static str> {
        match (url, authority, token) {
            (None, None, None) => Ok(Self::Cluster),
            (Some(url), authority, Some(token))
                if authority.is_some() || url.starts_with("http://127.0.0.1:") =>
            {
                Ok(Self::Operator(Place { url, authority, token }))
            }
            _ => Err(
                "--config-server, --config-authority and --config-token belong together; only a server at http://127.0.0.1 needs no authority",
            ),
        }
    }

    /// The configuration of a name.
    pub async fn config(
        &self,
        cluster: &Cluster,
        name: &str,
    ) -> Result<MachineConfig, SupplyError> {
        match self {
            Self::Cluster => {
                let path = Resource::of(&kinds::MACHINE_CONFIG).object(None, name);
                let found = cluster.get(&path).await;
                found.map_err(|error| unusable(&error).unwrap_or(SupplyError::Cluster(error)))
            }
            Self::Operator(place) => {
                let away = |source| SupplyError::Away { url: place.url.clone(), source };
                let operator = reached(place, cluster.clock()).await;
                let operator = operator.map_err(|error| away(error.into()))?;
                let found = operator.get(&path::own(name)).await;
                found.map_err(|error| unusable(&error).unwrap_or_else(|| away(error.into())))
            }
        }
    }
}

async fn reached(place: &Place, clock: &Arc<dyn Clock>) -> Result<Cluster, ConnectError> {
    let client = client::connect(client::at(place).await?)?;
    // What is counted here nobody reads, and its time is no business of the cluster's.
    Ok(Cluster::new(client, Arc::clone(clock), Arc::new(Telemetry::default()), PATIENCE))
}

/// What asking again in a moment would not change.
fn unusable(error: &CallError) -> Option<SupplyError> {
    let why = match error {
        CallError::Refused { code: 404, .. } => "does not exist".to_owned(),
        CallError::Refused { code: 401 | 403, message, .. } => {
            format!("is not given to this machine: {message}")
        }
        CallError::Garbled(error) => format!("cannot be read: {error}"),
        CallError::Refused { .. }
        | CallError::Unspeakable { .. }
        | CallError::Lost(_)
        | CallError::Late(_)
        | CallError::Stale { .. }
        | CallError::Unchanged
        | CallError::Diverted => return None,
    };
    Some(SupplyError::Unusable(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_to_nobody_who_is_not_vouched_for() {
        let check =
            |url: Option<&str>, authority: Option<&str>, token: Option<&str>, fine: bool| {
                let url = url.map(str::to_owned);
                let supply =
                    Supply::of(url.clone(), authority.map(Into::into), token.map(Into::into));
                assert_eq!(supply.is_ok(), fine, "{url:?} {authority:?} {token:?}");
            };
        check(None, None, None, true);
        check(Some("https://operator:22623"), Some("/ca.crt"), Some("/token"), true);
        check(Some("http://127.0.0.1:22623"), None, Some("/token"), true);
        check(Some("https://operator:22623"), None, Some("/token"), false);
        check(Some("http://operator:22623"), None, Some("/token"), false);
        check(Some("http://127.0.0.1.example:22623"), None, Some("/token"), false);
        check(Some("https://operator:22623"), Some("/ca.crt"), None, false);
        check(None, Some("/ca.crt"), Some("/token"), false);
        check(None, None, Some("/token"), false);
    }
}
