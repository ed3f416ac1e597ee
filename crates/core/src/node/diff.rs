//! What is different between two rendered configurations, as a machine sees it?

use std::collections::BTreeMap;

use api::machine::{
    MachineConfigSpec,
    ignition::{File, Passwd, Unit},
};

/// What changes on a machine that goes from one rendered configuration to another. Lists are in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes<'a> {
    /// Files that are new, gone, or not the same in content, mode or owner.
    pub files: Vec<Change<'a, File>>,
    /// Units that are new, gone, or not the same in text, drop-ins, enabled or mask.
    pub units: Vec<Change<'a, Unit>>,
    /// The keys and the password of users, if they are not the same.
    pub passwd: Option<Pair<&'a Passwd>>,
    /// What no policy can make harmless: the fields of the specification that differ.
    pub system: Vec<SystemChange<'a>>,
}

/// Something that is new, gone or not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a, T> {
    /// What it is called: the path of a file, the name of a unit.
    pub name: &'a str,
    /// What it was; none if it is new.
    pub before: Option<&'a T>,
    /// What it becomes; none if it goes.
    pub after: Option<&'a T>,
}

/// Two values that are not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<T> {
    /// What it was.
    pub before: T,
    /// What it becomes.
    pub after: T,
}

/// A difference in what a machine boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemChange<'a> {
    /// The image of the operating system.
    OsImage(Pair<&'a str>),
    /// The arguments of the kernel.
    KernelArguments(Pair<&'a [String]>),
    /// Which kernel.
    KernelType(Pair<&'a str>),
    /// Additional parts of the operating system, and the image they come from.
    Extensions(Pair<&'a [String]>),
    /// Whether cryptography follows FIPS 140. No machine can change it; rendering refuses it.
    Fips,
}

impl SystemChange<'_> {
    /// The field of `spec` that differs.
    pub fn field(&self) -> &'static str {
        match self {
            Self::OsImage(_) => "osImageURL",
            Self::KernelArguments(_) => "kernelArguments",
            Self::KernelType(_) => "kernelType",
            Self::Extensions(_) => "extensions",
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
        passwd: pair(passwd(old), passwd(new)),
        system: system(before, after),
    }
}

fn changes<'a, T: PartialEq>(
    before: &'a [T],
    after: &'a [T],
    name: impl Fn(&'a T) -> &'a str,
) -> Vec<Change<'a, T>> {
    let mut sides: BTreeMap<&str, (Option<&T>, Option<&T>)> = BTreeMap::new();
    for entry in before {
        sides.entry(name(entry)).or_default().0 = Some(entry);
    }
    for entry in after {
        sides.entry(name(entry)).or_default().1 = Some(entry);
    }
    let different = sides.into_iter().filter(|(_, (before, after))| before != after);
    different.map(|(name, (before, after))| Change { name, before, after }).collect()
}

fn system<'a>(
    before: &'a MachineConfigSpec,
    after: &'a MachineConfigSpec,
) -> Vec<SystemChange<'a>> {
    let MachineConfigSpec {
        os_image_url,
        extensions_image,
        config: _,
        kernel_arguments,
        extensions,
        fips,
        kernel_type,
    } = after;
    let mut found = Vec::new();
    found.extend(
        pair(before.os_image_url.as_str(), os_image_url.as_str()).map(SystemChange::OsImage),
    );
    let arguments = pair(&before.kernel_arguments[..], &kernel_arguments[..]);
    found.extend(arguments.map(SystemChange::KernelArguments));
    found.extend(
        pair(before.kernel_type.as_str(), kernel_type.as_str()).map(SystemChange::KernelType),
    );
    let sides = Pair { before: &before.extensions[..], after: &extensions[..] };
    if sides.before != sides.after || before.extensions_image != *extensions_image {
        found.push(SystemChange::Extensions(sides));
    }
    if before.fips != *fips {
        found.push(SystemChange::Fips);
    }
    found
}

fn pair<T: PartialEq>(before: T, after: T) -> Option<Pair<T>> {
    (before != after).then_some(Pair { before, after })
}

impl Changes<'_> {
    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        let Self { files, units, passwd, system } = self;
        files.is_empty() && units.is_empty() && passwd.is_none() && system.is_empty()
    }

    /// What differs, for people: fields of the specification, files by path, units by name.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let system = self.system.iter().map(|change| change.field().to_owned());
        let files = self.files.iter().map(|change| format!("file {}", change.name));
        let units = self.units.iter().map(|change| format!("unit {}", change.name));
        let passwd = self.passwd.iter().map(|_| "the keys and password of core".to_owned());
        system.chain(files).chain(units).chain(passwd)
    }
}
