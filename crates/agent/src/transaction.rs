//! How does a host come from one configuration to another, whatever happens on the way? (NODE-1)
//!
//! [`begin`] writes down what is meant and what stood there. From then on whoever finds the journal calls [`go_on`], which takes the
//! step of its phase. Every step may be cut off anywhere and taken again. One that fails before the node is started anew sends
//! everything back, and so does a node that comes up with another operating system than it was given; a loss of power sends
//! nothing anywhere.

use runtime::chain::chain;

use crate::{
    accounts::{self, Accounts},
    change::{Deed, Edit, HostChange, NO_PASSWORD, Remembered, is_of_unit},
    drift,
    host::{Entry, Host, HostError, UnitState, UnitVerb},
    journal::{Journal, Kept, Phase, System},
    layout::{CORE, Layout, Outline, Starting, UNITS},
    path::HostPath,
    store::{self, Record, Rejected, StoreError},
};

/// Why a change stands still.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The memory of the agent, or the host under it, fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A configuration cannot be laid out on this host.
    #[error("{name} cannot be laid out: {}", .faults.join("; "))]
    Layout {
        /// Which configuration.
        name: String,
        /// Everything that is wrong with it.
        faults: Vec<String>,
    },
    /// What was written is not what is there.
    #[error("the host does not hold what was written: {0}")]
    NotKept(String),
    /// The host came up with another operating system than was asked for.
    #[error("the host came up with {found}, not with {wanted}")]
    OtherImage {
        /// What runs.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// A unit that is to start by itself does not.
    #[error("{0} cannot start by itself: it has no [Install] section that says what starts it")]
    NoInstall(String),
    /// The node does not start anew.
    #[error(
        "the node was told to start anew {0} times, and its boot id says that it never did\n  hint: start it anew by hand, and the agent goes on"
    )]
    StillUp(u32),
    /// The journal speaks of a configuration that is not there.
    #[error("the journal speaks of {0}, and the agent does not have it")]
    Missing(String),
}

impl From<HostError> for ChangeError {
    fn from(error: HostError) -> Self {
        Self::Store(error.into())
    }
}

impl ChangeError {
    /// Whether this is the end of everything until the next start.
    pub fn is_power_loss(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_power_loss())
    }
}

type Result<T> = std::result::Result<T, ChangeError>;

/// The layout of a configuration on this host.
pub fn layout(host: &impl Host, record: &Record) -> Result<Layout> {
    let accounts = Accounts::of(host)?;
    Layout::of(&record.spec, &accounts)
        .map_err(|faults| ChangeError::Layout { name: record.name.clone(), faults })
}

/// Writes down what is meant and what stood there. Nothing has changed when it returns, and whoever finds the journal can go on.
pub fn begin(
    host: &mut impl Host,
    current: Record,
    mut coming: Record,
    mut deeds: Vec<Deed>,
) -> Result<Journal> {
    let old = layout(host, &current)?.outline();
    let Record { name: from, spec, originals, units: remembered, folders: made } = current;
    drop(spec);
    let new = layout(host, &coming)?;
    let still = |kept: &Kept| new.entries.contains_key(&kept.path);
    coming.originals = originals.into_iter().filter(still).collect();
    coming.units = units_before(host, &old, &new, &remembered)?;
    let mut folders = Vec::new();
    for path in new.folders.keys() {
        if made.contains(path) {
            coming.folders.push(path.clone());
        } else if !host.has_folder(path)? {
            folders.push(path.clone());
        }
    }
    coming.folders.extend(folders.iter().cloned());
    let remembered = Remembered { units: &remembered, folders: &made };
    let change = HostChange::between(&old, new, remembered);
    if change.needs_reboot() && !deeds.contains(&Deed::Reboot) {
        deeds.push(Deed::Reboot);
    }
    let mut before = Vec::new();
    for Edit { path, entry: _ } in &change.edits {
        let found = host.read(path)?;
        let kept = store::keep(host, path, &found)?;
        if !old.entries.contains_key(path) && found != Entry::Absent {
            coming.originals.push(kept.clone());
        }
        before.push(kept);
    }
    let mut units = Vec::new();
    for name in change.unit_names() {
        let known = coming.units.iter().find(|(known, _)| known == name);
        let known = known.filter(|_| !old.units.contains_key(name)).map(|(_, state)| *state);
        units.push((name.clone(), known.map_or_else(|| host.unit_state(name), Ok)?));
    }
    let password = match &change.password {
        Some(_) => accounts::password(host, CORE)?.or_else(|| Some(NO_PASSWORD.to_owned())),
        None => None,
    };
    let system = if change.needs_reboot() { System::Changes } else { System::Stays };
    drop((old, change));
    store::set_coming(host, &coming)?;
    let (to, phase) = (coming.name, Phase::Applying);
    let journal = Journal { from, to, deeds, phase, before, units, system, password, folders };
    store::set_journal(host, &journal)?;
    Ok(journal)
}

/// Whether the units of which a configuration says something started by themselves before any configuration did. What is remembered
/// stays; what no configuration spoke of until now is asked of the host; the rest came with the host, and nobody knows.
fn units_before(
    host: &impl Host,
    old: &Outline,
    new: &Layout,
    remembered: &[(String, UnitState)],
) -> Result<Vec<(String, UnitState)>> {
    let mut units = Vec::new();
    for (name, _) in new.units.iter().filter(|(_, said)| **said != Starting::Unsaid) {
        if let Some(known) = remembered.iter().find(|(known, _)| known == name) {
            units.push(known.clone());
        } else if matches!(old.units.get(name), None | Some(Starting::Unsaid)) {
            units.push((name.clone(), host.unit_state(name)?));
        }
    }
    Ok(units)
}

/// What came of one step of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// It is further, and not at its end.
    Further(Journal),
    /// The host is at the new configuration.
    AtNew(Record),
    /// The host is at the old configuration again.
    AtOld {
        /// Which step failed.
        why: String,
    },
    /// The node is about to be started anew.
    Restarting,
}

/// Takes the step that the phase of a change asks for. Only a loss of power, a memory that fails, and a way back that is blocked
/// are errors; a step that fails on the way forward turns the change round.
pub fn go_on(host: &mut impl Host, journal: &Journal) -> Result<Progress> {
    let stepped = match &journal.phase {
        _ if is_settled(host, journal)? => return finish(host, journal).map(Progress::AtNew),
        Phase::Applying => apply(host, journal).map(Progress::Further),
        Phase::Acting => act(host, journal),
        Phase::Rebooting { boot, asked } if *boot == host.boot_id()? => {
            return restart(host, journal, boot, *asked);
        }
        Phase::Rebooting { .. } => match finish(host, journal) {
            Err(error @ ChangeError::OtherImage { .. }) => {
                let (to, why) = (journal.to.clone(), chain(&error));
                store::set_rejected(host, &Rejected { to, why })?;
                Err(error)
            }
            // Whatever else fails now passes by itself, and the host is new already.
            finished => return finished.map(Progress::AtNew),
        },
        Phase::RollingBack { why } => {
            roll_back(host, journal)?;
            return Ok(Progress::AtOld { why: why.clone() });
        }
    };
    match stepped {
        Err(error) if !error.is_power_loss() => {
            turn(host, journal, Phase::RollingBack { why: chain(&error) }).map(Progress::Further)
        }
        stepped => stepped,
    }
}

/// Whether power was lost between the last two steps: the new configuration is in place, and the journal is still there.
fn is_settled(host: &impl Host, journal: &Journal) -> Result<bool> {
    Ok(store::current(host)?.is_some_and(|record| record.name == journal.to))
}

/// How often a node is told to start anew for one change. It is asked again because a request can get lost; but a node that says
/// after five of them that it is still in the same start will say so after the sixth, or it starts anew for ever and cannot tell.
const MOST_RESTARTS: u32 = 5;

fn restart(host: &mut impl Host, journal: &Journal, boot: &str, asked: u32) -> Result<Progress> {
    if asked >= MOST_RESTARTS {
        return Err(ChangeError::StillUp(asked));
    }
    if let Some(warrant) = journal.warrant() {
        turn(host, journal, Phase::Rebooting { boot: boot.to_owned(), asked: asked + 1 })?;
        host.reboot(&warrant)?;
    }
    Ok(Progress::Restarting)
}

/// Puts everything in its place; afterwards the journal says so.
fn apply(host: &mut impl Host, journal: &Journal) -> Result<Journal> {
    let (change, originals) = derived(host, journal)?;
    for name in &change.leaving {
        if host.unit_state(name)? == UnitState::Enabled {
            host.unit(UnitVerb::Disable, name)?;
        }
    }
    for (path, folder) in &change.folders {
        host.make_folder(path, *folder)?;
    }
    for Edit { path, entry } in &change.edits {
        if let Some(entry) = entry {
            place(host, path, entry)?;
        } else {
            let original = originals.iter().find(|kept| kept.path == *path);
            let original = original.map(|kept| store::kept(host, kept)).transpose()?;
            place(host, path, &original.unwrap_or(Entry::Absent))?;
        }
    }
    for path in &change.stale_folders {
        host.remove_folder(path)?;
    }
    if change.touches_units() {
        host.reload_units()?;
    }
    for (verb, name) in &change.units {
        host.unit(*verb, name)?;
        // systemd says of such a unit that it has no installation configuration, and calls it a success.
        if *verb != UnitVerb::Disable && host.unit_state(name)? == UnitState::Static {
            return Err(ChangeError::NoInstall(name.clone()));
        }
    }
    for (verb, name) in &change.returning {
        // One that the distribution has taken away meanwhile cannot be as it was.
        if host.unit_state(name)? != UnitState::Neither {
            host.unit(*verb, name)?;
        }
    }
    if let Some(hash) = &change.password {
        host.set_password(CORE, hash)?;
    }
    if let Some(image) = &change.image {
        host.os_image(image)?;
    }
    if !change.kernel_arguments.is_empty() {
        host.kernel_arguments(&change.kernel_arguments)?;
    }
    let wanted = change.edits.iter().filter_map(|edit| Some((&edit.path, edit.entry.as_ref()?)));
    let differing = drift::drift(host, wanted);
    if !differing.is_empty() {
        let places: Vec<String> = differing.iter().map(ToString::to_string).collect();
        return Err(ChangeError::NotKept(places.join("; ")));
    }
    turn(host, journal, Phase::Acting)
}

/// Does what follows from the change; the new start of the node is left to the next phase.
fn act(host: &mut impl Host, journal: &Journal) -> Result<Progress> {
    for deed in &journal.deeds {
        match deed {
            Deed::ReloadUnits => host.reload_units()?,
            Deed::Reload(name) => host.unit(UnitVerb::Reload, name)?,
            Deed::Restart(name) => host.unit(UnitVerb::Restart, name)?,
            Deed::Reboot => {}
        }
    }
    if journal.ends_in_reboot() {
        let boot = host.boot_id()?;
        return turn(host, journal, Phase::Rebooting { boot, asked: 0 }).map(Progress::Further);
    }
    finish(host, journal).map(Progress::AtNew)
}

/// Puts everything back as it was, and forgets the change.
fn roll_back(host: &mut impl Host, journal: &Journal) -> Result<()> {
    // While their files are still there: afterwards nobody would know what was linked for them.
    for (name, was) in &journal.units {
        if *was != UnitState::Enabled && host.unit_state(name)? == UnitState::Enabled {
            host.unit(UnitVerb::Disable, name)?;
        }
    }
    // A folder of a user that went is made anew as it was, and not as root makes folders.
    if let Some(record) = store::current(host)?.filter(|record| !record.folders.is_empty())
        && let Ok(old) = layout(host, &record)
    {
        for (path, folder) in old.folders.iter().filter(|(path, _)| record.folders.contains(path)) {
            host.make_folder(path, *folder)?;
        }
    }
    for kept in &journal.before {
        let entry = store::kept(host, kept)?;
        place(host, &kept.path, &entry)?;
        host.unstage(&kept.path)?;
    }
    for path in journal.folders.iter().rev() {
        host.remove_folder(path)?;
    }
    if journal.before.iter().any(|kept| kept.path.is_beneath(UNITS)) || !journal.units.is_empty() {
        host.reload_units()?;
    }
    for (name, _) in journal.units.iter().filter(|(_, was)| *was == UnitState::Enabled) {
        if journal.before.iter().any(|kept| is_of_unit(&kept.path, name)) {
            host.unit(UnitVerb::Reenable, name)?;
        } else if host.unit_state(name)? != UnitState::Enabled {
            host.unit(UnitVerb::Enable, name)?;
        }
    }
    if let Some(hash) = &journal.password {
        host.set_password(CORE, hash)?;
    }
    if journal.system == System::Changes {
        host.forget_os_changes()?;
    }
    // Services that have seen the new files see the old ones again. Whether they like them is reported by nobody but themselves:
    // the step that failed may have been just this one.
    for deed in &journal.deeds {
        let tried = match deed {
            Deed::Reload(name) => host.unit(UnitVerb::Reload, name),
            Deed::Restart(name) => host.unit(UnitVerb::Restart, name),
            Deed::ReloadUnits | Deed::Reboot => Ok(()),
        };
        if let Err(lost) = tried
            && lost.is_power_loss()
        {
            return Err(lost.into());
        }
    }
    Ok(store::forget_change(host)?)
}

/// Takes note that the host is at the new configuration, and forgets the change.
fn finish(host: &mut impl Host, journal: &Journal) -> Result<Record> {
    let Some(coming) = store::coming(host)?.filter(|record| record.name == journal.to) else {
        return Err(ChangeError::Missing(journal.to.clone()));
    };
    if journal.ends_in_reboot()
        && !coming.spec.os_image_url.is_empty()
        && let Some(found) = host.booted_image()?
        && found != coming.spec.os_image_url
    {
        return Err(ChangeError::OtherImage { found, wanted: coming.spec.os_image_url });
    }
    store::clear_rejected(host)?;
    store::set_current(host, &coming)?;
    store::forget_change(host)?;
    Ok(coming)
}

/// The change that a journal is about, and what stood at places before any configuration did. Nothing else of the two
/// configurations is kept in memory.
fn derived(host: &impl Host, journal: &Journal) -> Result<(HostChange, Vec<Kept>)> {
    let named = |record: Option<Record>, name: &str| {
        record
            .filter(|record| record.name == name)
            .ok_or_else(|| ChangeError::Missing(name.to_owned()))
    };
    let current = named(store::current(host)?, &journal.from)?;
    let old = layout(host, &current)?.outline();
    let Record { name: _, spec, originals, units, folders } = current;
    drop(spec);
    let new = layout(host, &named(store::coming(host)?, &journal.to)?)?;
    let remembered = Remembered { units: &units, folders: &folders };
    Ok((HostChange::between(&old, new, remembered), originals))
}

/// Makes an entry stand at a place. What is there already is left alone.
fn place(host: &mut impl Host, path: &HostPath, entry: &Entry) -> Result<()> {
    if entry == &Entry::Absent {
        return Ok(host.remove(path)?);
    }
    if host.read(path)? == *entry {
        return Ok(());
    }
    host.stage(path, entry)?;
    Ok(host.publish(path)?)
}

fn turn(host: &mut impl Host, journal: &Journal, phase: Phase) -> Result<Journal> {
    let journal = Journal { phase, ..journal.clone() };
    store::set_journal(host, &journal)?;
    Ok(journal)
}

#[cfg(test)]
mod tests;
