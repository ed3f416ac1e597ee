//! What is different between two rendered configurations, as a node sees it?

use std::collections::BTreeMap;

use api::machine::{
    MachineConfigSpec,
    ignition::{File, Passwd, Unit},
};

/// What changes on a node that goes from one rendered configuration to another. Lists are in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes<'a> {
    /// Files that are new, gone, or not the same in content, mode or owner.
    pub files: Vec<Difference<'a, File>>,
    /// Units that are new, gone, or not the same in text, drop-ins, enabled or mask.
    pub units: Vec<Difference<'a, Unit>>,
    /// Whether the keys and the password of users differ.
    pub passwd: bool,
    /// What no policy can make harmless: the fields of the specification that differ.
    pub system: Vec<SystemChange>,
}

/// Something that is new, gone or not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'a, T> {
    /// What it is called: the path of a file, the name of a unit.
    pub name: &'a str,
    /// What it was; none if it is new.
    pub before: Option<&'a T>,
    /// What it becomes; none if it goes.
    pub after: Option<&'a T>,
}

/// A difference in what a node boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemChange {
    /// The image of the operating system.
    OsImage,
    /// The arguments of the kernel.
    KernelArguments,
    /// Which kernel.
    KernelType,
    /// Additional parts of the operating system, and the image they come from.
    Extensions,
    /// Whether cryptography follows FIPS 140. No node can change it; rendering refuses it.
    Fips,
}

impl SystemChange {
    /// The field of `spec` that differs.
    pub fn field(self) -> &'static str {
        match self {
            Self::OsImage => "osImageURL",
            Self::KernelArguments => "kernelArguments",
            Self::KernelType => "kernelType",
            Self::Extensions => "extensions",
            Self::Fips => "fips",
        }
    }
}

/// The differences between two rendered configurations.
pub fn diff<'a>(before: &'a MachineConfigSpec, after: &'a MachineConfigSpec) -> Changes<'a> {
    static NOBODY: Passwd = Passwd { users: Vec::new() };
    let (old, new) = (before.config.as_ref(), after.config.as_ref());
    let files = |config: Option<&'a api::machine::ignition::Ignition>| {
        config.map_or(&[][..], |config| &config.storage.files)
    };
    let units = |config: Option<&'a api::machine::ignition::Ignition>| {
        config.map_or(&[][..], |config| &config.systemd.units)
    };
    let passwd = |config: Option<&'a api::machine::ignition::Ignition>| {
        config.map_or(&NOBODY, |config| &config.passwd)
    };
    Changes {
        files: changes(files(old), files(new), |file| &file.path),
        units: changes(units(old), units(new), |unit| &unit.name),
        passwd: passwd(old) != passwd(new),
        system: system(before, after),
    }
}

fn changes<'a, T: PartialEq>(
    before: &'a [T],
    after: &'a [T],
    name: impl Fn(&'a T) -> &'a str,
) -> Vec<Difference<'a, T>> {
    let mut sides: BTreeMap<&str, (Option<&T>, Option<&T>)> = BTreeMap::new();
    for entry in before {
        sides.entry(name(entry)).or_default().0 = Some(entry);
    }
    for entry in after {
        sides.entry(name(entry)).or_default().1 = Some(entry);
    }
    let different = sides.into_iter().filter(|(_, (before, after))| before != after);
    different.map(|(name, (before, after))| Difference { name, before, after }).collect()
}

fn system(before: &MachineConfigSpec, after: &MachineConfigSpec) -> Vec<SystemChange> {
    let MachineConfigSpec {
        os_image_url,
        extensions_image,
        config: _,
        kernel_arguments,
        extensions,
        fips,
        kernel_type,
    } = after;
    let more = before.extensions != *extensions || before.extensions_image != *extensions_image;
    let found = [
        (before.os_image_url != *os_image_url, SystemChange::OsImage),
        (before.kernel_arguments != *kernel_arguments, SystemChange::KernelArguments),
        (before.kernel_type != *kernel_type, SystemChange::KernelType),
        (more, SystemChange::Extensions),
        (before.fips != *fips, SystemChange::Fips),
    ];
    found.into_iter().filter_map(|(differs, change)| differs.then_some(change)).collect()
}

impl Changes<'_> {
    /// What differs, for people: fields of the specification, files by path, units by name.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let system = self.system.iter().map(|change| change.field().to_owned());
        let files = self.files.iter().map(|change| format!("file {}", change.name));
        let units = self.units.iter().map(|change| format!("unit {}", change.name));
        let passwd = self.passwd.then(|| "the keys and password of core".to_owned());
        system.chain(files).chain(units).chain(passwd)
    }
}
