//! What would the agent do on this host? The whole change, on a double that writes it down; neither host nor cluster is touched.

use crate::{
    change::Deed,
    host::{linux::Linux, recording::Recording},
    run::{Agent, AgentError},
    store::{self, Record},
    supply::Supply,
    transaction::{self, Progress},
};

/// What would be done, in order; none if nothing would.
pub async fn rehearse(
    host: Linux,
    cluster: runtime::call::Cluster,
    supply: Supply,
    node: &str,
) -> Result<Vec<String>, AgentError> {
    let mut agent = Agent::new(Recording::over(host), cluster, node).supplied_by(supply);
    let seen = agent.look().await?;
    let current = match (store::current(agent.host())?, &seen.current) {
        (Some(record), _) => record,
        (None, Some(name)) => agent.config(name).await?,
        (None, None) => Record::nothing(),
    };
    let Some(desired) = seen.desired.clone().filter(|desired| *desired != current.name) else {
        return Ok(Vec::new());
    };
    store::set_current(agent.host(), &current)?;
    let way = agent.find_way(&desired).await?;
    let (coming, plan) = way.map_err(|why| AgentError::Config { name: desired, why })?;
    // What would be done is of interest before the order is given, too.
    let mut lines: Vec<String> = seen.unrecorded(&coming.name).into_iter().collect();
    if plan.needs_drain() && !seen.is_single() {
        lines.push("drain".to_owned());
    }
    let host = agent.host();
    host.take_performed();
    let mut journal = transaction::begin(host, current, coming, plan.deeds)?;
    loop {
        match transaction::go_on(host, &journal)? {
            Progress::Further(further) => journal = further,
            Progress::AtNew(_) | Progress::Restarting => break,
            Progress::AtOld { why } => {
                lines.push(format!("failure: {why}"));
                break;
            }
        }
    }
    lines.extend(host.take_performed());
    if journal.deeds.contains(&Deed::Reboot) && lines.iter().any(|line| line == "drain") {
        lines.push("uncordon, once the node is back".to_owned());
    }
    Ok(lines)
}
