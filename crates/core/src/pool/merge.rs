//! What do several configurations come to? One after the other, the later over the earlier, as Ignition merges.
//!
//! Files, units, drop-ins and users are known by path or name; within one of them each field that the later one gives wins. What is
//! new goes to the end, so the order of the first mention is kept. Kernel arguments and extensions are joined; they are lists on
//! purpose, and the same argument may be wanted twice.

use std::collections::BTreeMap;

use api::machine::{
    MachineConfigSpec,
    ignition::{Contents, Dropin, File, Ignition, Owner, Unit, User, Version},
};

use super::{ignition::VERSION, source::Source};

/// What a release brings, before any configuration says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// The operating system of the release.
    pub os_image_url: String,
    /// The image that its extensions come from.
    pub extensions_image: String,
    /// The version of the controller that renders; generated sources must be of the same.
    pub controller_version: String,
    /// The version of the release.
    pub release_version: String,
}

/// Merges sources in the order they are given.
pub(crate) fn merge(sources: &[&Source], base: &Base) -> MachineConfigSpec {
    let mut merged = Merged::default();
    let mut spec = MachineConfigSpec {
        os_image_url: base.os_image_url.clone(),
        extensions_image: base.extensions_image.clone(),
        kernel_type: "default".into(),
        ..MachineConfigSpec::default()
    };
    for source in sources {
        let MachineConfigSpec {
            os_image_url,
            extensions_image,
            config,
            kernel_arguments,
            extensions,
            fips,
            kernel_type,
        } = &source.spec;
        // The image of a generated source is the release's own, of whichever release it was generated for.
        if source.generated_by.is_none() {
            over_text(&mut spec.os_image_url, os_image_url);
            over_text(&mut spec.extensions_image, extensions_image);
        }
        if kernel_type != "default" {
            over_text(&mut spec.kernel_type, kernel_type);
        }
        spec.kernel_arguments.extend_from_slice(kernel_arguments);
        spec.extensions.extend_from_slice(extensions);
        spec.fips |= fips;
        if let Some(config) = config {
            merged.add(config);
        }
    }
    spec.config = Some(merged.finish());
    spec
}

/// Lists with the places of what is in them.
#[derive(Default)]
struct Merged<'a> {
    files: Keyed<'a, File>,
    units: Keyed<'a, Unit>,
    users: Keyed<'a, User>,
}

struct Keyed<'a, T> {
    entries: Vec<T>,
    places: BTreeMap<&'a str, usize>,
}

impl<T> Default for Keyed<'_, T> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: BTreeMap::new() }
    }
}

impl<'a, T: Clone> Keyed<'a, T> {
    fn add(&mut self, key: &'a str, later: &T, over: impl Fn(&mut T, &T)) {
        let known = self.places.get(key).and_then(|place| self.entries.get_mut(*place));
        if let Some(earlier) = known {
            over(earlier, later);
        } else {
            self.places.insert(key, self.entries.len());
            self.entries.push(later.clone());
        }
    }
}

impl<'a> Merged<'a> {
    fn add(&mut self, config: &'a Ignition) {
        let Ignition { ignition: _, passwd, storage, systemd } = config;
        for file in &storage.files {
            self.files.add(&file.path, file, over_file);
        }
        for unit in &systemd.units {
            self.units.add(&unit.name, unit, over_unit);
        }
        for user in &passwd.users {
            self.users.add(&user.name, user, over_user);
        }
    }

    fn finish(self) -> Ignition {
        let mut ignition =
            Ignition { ignition: Version { version: VERSION.into() }, ..Ignition::default() };
        ignition.storage.files = self.files.entries;
        for file in &mut ignition.storage.files {
            // A file that is there already is what a change of configuration means.
            file.overwrite.get_or_insert(true);
        }
        ignition.systemd.units = self.units.entries;
        ignition.passwd.users = self.users.entries;
        ignition
    }
}

fn over_file(earlier: &mut File, later: &File) {
    let File { path: _, user, group, overwrite, contents, mode } = later;
    over_owner(&mut earlier.user, user);
    over_owner(&mut earlier.group, group);
    over(&mut earlier.overwrite, overwrite.as_ref());
    let Contents { source } = contents;
    over(&mut earlier.contents.source, source.as_ref());
    over(&mut earlier.mode, mode.as_ref());
}

fn over_owner(earlier: &mut Owner, later: &Owner) {
    let Owner { id, name } = later;
    over(&mut earlier.id, id.as_ref());
    over(&mut earlier.name, name.as_ref());
}

fn over_unit(earlier: &mut Unit, later: &Unit) {
    let Unit { name: _, enabled, mask, contents, dropins } = later;
    over(&mut earlier.enabled, enabled.as_ref());
    over(&mut earlier.mask, mask.as_ref());
    over(&mut earlier.contents, contents.as_ref());
    for dropin in dropins {
        let Dropin { name, contents } = dropin;
        match earlier.dropins.iter_mut().find(|known| known.name == *name) {
            Some(known) => over(&mut known.contents, contents.as_ref()),
            None => earlier.dropins.push(dropin.clone()),
        }
    }
}

fn over_user(earlier: &mut User, later: &User) {
    let User { name: _, password_hash, ssh_authorized_keys } = later;
    over(&mut earlier.password_hash, password_hash.as_ref());
    for key in ssh_authorized_keys {
        if !earlier.ssh_authorized_keys.contains(key) {
            earlier.ssh_authorized_keys.push(key.clone());
        }
    }
}

fn over<T: Clone>(earlier: &mut Option<T>, later: Option<&T>) {
    if let Some(later) = later {
        *earlier = Some(later.clone());
    }
}

fn over_text(earlier: &mut String, later: &str) {
    if !later.is_empty() {
        later.clone_into(earlier);
    }
}
