//! What is in the picture? Lines that fit the terminal, made from values alone.

use api::kinds;
use schedule::Instant;
use tidegate_core::{
    cluster::{overview::Row, phase::Phase},
    gate::words::joined,
    policy::verdict::Verdict,
};
use views::{
    drawing::{Colour, Style},
    pool::PoolProgress,
    safe::printable,
    status::{Rows, end},
    text,
};

/// What a picture shows.
pub(super) struct Frame {
    /// What time it is there.
    pub(super) now: Instant,
    /// How many seconds pass there in one.
    pub(super) speed: u32,
    /// How else to look, a line each.
    pub(super) ways: Vec<String>,
    /// Every pool and its nodes.
    pub(super) pools: Vec<PoolProgress>,
    /// Every resource under change management, and every policy.
    pub(super) rows: Rows,
    /// Every hosted cluster, with how many nodes have joined it of each release.
    pub(super) inside: Vec<(String, Vec<(String, usize)>)>,
}

const KEYS: &str = "space stop/go   + - speed   m h d step a minute, an hour, a day   n to the next edge   c console   q end";

impl Frame {
    /// The next instant at which something opens or closes.
    pub(super) fn next_edge(&self) -> Option<Instant> {
        self.rows.next_edge(self.now)
    }

    /// The lines of the picture, none longer than the terminal is wide and no more than it is high.
    pub(super) fn draw(&self, width: usize, height: usize, colour: Colour) -> Vec<String> {
        let mut lines = vec![vec![(Style::Strong, self.head())], Vec::new()];
        if self.inside.is_empty() {
            lines.push(vec![(Style::Strong, columns("POOL", "PROGRESS", "STATE", "PENDING"))]);
        }
        for pool in &self.pools {
            lines.push(self.pool(pool));
        }
        if !self.pools.is_empty() {
            lines.push(Vec::new());
        }
        for pool in &self.pools {
            lines.extend(machines(pool));
        }
        for (name, releases) in &self.inside {
            let told = releases.iter().map(|(release, nodes)| format!("{nodes} at {release}"));
            let told = format!("{name:<30} nodes: {}", told.collect::<Vec<_>>().join(", "));
            lines.push(vec![(Style::Plain, printable(&told))]);
        }
        lines.push(Vec::new());
        let of_pools = |row: &&Row| *row.object.kind() != kinds::MACHINE_CONFIG_POOL;
        for row in self.rows.iter().filter(of_pools) {
            let name = printable(&row.object.to_string());
            let (style, state) = self.state(row);
            let waits = printable(&joined(&row.pending.waiting));
            let begun = row.pending.begun.iter().map(|one| format!("under way: {}", one.change));
            let told = begun.chain(Some(waits).filter(|waits| !waits.is_empty()));
            let told = told.collect::<Vec<_>>().join("; ");
            let mut line = vec![(Style::Plain, format!("{name:<47} "))];
            if told.is_empty() {
                line.push((style, state));
            } else {
                line.push((style, format!("{state:<34} ")));
                line.push((Style::Plain, printable(&told)));
            }
            lines.push(line);
        }
        // The keys are at the bottom, whatever has no room above them; a terminal too small even for that shows the head alone.
        lines.truncate(height.saturating_sub(self.ways.len() + 3));
        lines.push(Vec::new());
        lines.extend(self.ways.iter().map(|way| vec![(Style::Faint, way.clone())]));
        lines.push(vec![(Style::Faint, KEYS.to_owned())]);
        lines.into_iter().map(|line| fitted(line, width.saturating_sub(1), colour)).collect()
    }

    fn head(&self) -> String {
        let speed = match self.speed {
            0 => "stands still".to_owned(),
            1 => "runs".to_owned(),
            speed => format!("runs {speed} times as fast"),
        };
        let day = text::weekday(self.now);
        format!("tidegate sandbox   {day} {}   {speed}", self.now)
    }

    fn pool(&self, pool: &PoolProgress) -> Vec<(Style, String)> {
        let progress = pool.bar();
        let name = printable(&pool.name);
        let mut line = vec![(Style::Plain, format!("{name:<10} {progress:<28} "))];
        if let Some(row) = &pool.row {
            let (style, state) = self.state(row);
            line.push((style, format!("{state:<34} ")));
            line.push((Style::Plain, printable(&joined(&row.pending.waiting))));
        }
        line
    }

    fn state(&self, row: &Row) -> (Style, String) {
        let (style, then) = match row.verdict {
            Verdict::Permitted => (Style::Open, "closes"),
            Verdict::Held => (Style::Paused, "opens"),
            Verdict::CannotTell => (Style::Paused, "known"),
        };
        let word = row.verdict.state();
        match end(row) {
            Some(end) => (style, format!("{word}, {then} {}", text::relative(end, self.now))),
            None => (style, word.to_owned()),
        }
    }
}

fn columns(pool: &str, progress: &str, state: &str, pending: &str) -> String {
    format!("{pool:<10} {progress:<28} {state:<34} {pending}")
}

/// A line of signs for the nodes of a pool, and a line for each that is on its way or stuck.
fn machines(pool: &PoolProgress) -> Vec<Vec<(Style, String)>> {
    let mut signs = vec![(Style::Plain, format!("{:<10} ", printable(&pool.name)))];
    let mut lines = Vec::new();
    for node in &pool.nodes {
        let (style, sign) = match &node.phase {
            Phase::Done => (Style::Open, "●"),
            Phase::Waiting => (Style::Plain, "○"),
            Phase::Draining(_) => (Style::Excluded, "◔"),
            Phase::Applying => (Style::Excluded, "◑"),
            Phase::Failing(_) => (Style::Paused, "✗"),
            Phase::Silent => (Style::Faint, "?"),
        };
        signs.push((style, format!("{sign} ")));
        if !matches!(node.phase, Phase::Done | Phase::Waiting) {
            let detail = node.phase.detail().unwrap_or_default();
            let told = format!("{:<12} {:<9} {}", node.name, node.phase.as_str(), detail);
            lines.push(vec![(style, format!("{:11}{}", "", printable(told.trim_end())))]);
        }
    }
    lines.insert(0, signs);
    lines
}

/// A line in its colours, cut where the terminal ends.
fn fitted(parts: Vec<(Style, String)>, width: usize, colour: Colour) -> String {
    let mut left = width;
    let mut line = String::new();
    for (style, part) in parts {
        let part: String = part.chars().take(left).collect();
        left -= part.chars().count();
        line.push_str(&colour.paint(style, &part));
    }
    line
}

#[cfg(test)]
mod tests;
