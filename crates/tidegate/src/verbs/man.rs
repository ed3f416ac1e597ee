//! `tidegate man`: the manual, for those who package the command.

use std::{fmt::Write as _, fs, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, Command, FromArgMatches as _};

use super::{Listed, Verb, command};
use crate::output::Output;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "man",
        about: "Write the man pages into a folder",
        more: "Example:\n  tidegate man /usr/local/share/man/man1",
        listed: Listed::No,
        args: Man::augment_args,
        run: |matches, _| run(&Man::from_arg_matches(matches)?),
    }
}

#[derive(Args, Debug)]
struct Man {
    /// The folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

fn run(args: &Man) -> anyhow::Result<Output> {
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let root = command().disable_help_subcommand(true);
    let mut written = String::new();
    let verbs = root.get_subcommands().filter(|verb| !verb.is_hide_set());
    let pages: Vec<(String, Command)> = verbs
        .map(|verb| {
            let name = format!("tidegate-{}", verb.get_name());
            let page = verb
                .clone()
                .display_name(name.clone())
                .bin_name(format!("tidegate {}", verb.get_name()));
            (name, page)
        })
        .collect();
    for (name, page) in [("tidegate".to_owned(), root.clone())].into_iter().chain(pages) {
        let path = folder.join(format!("{name}.1"));
        let mut text = Vec::new();
        clap_mangen::Man::new(page)
            .title(name.to_uppercase())
            .date("")
            .source(format!("tidegate {}", env!("CARGO_PKG_VERSION")))
            .manual("Tidegate")
            .render(&mut text)
            .context("cannot render a man page")?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        let _ = writeln!(written, "{}", path.display());
    }
    Ok(Output::done(written))
}
