//! How is a script read and played? Line by line; what a command shows replaces the lines below it that begin with `|`.

use super::{commands, control_plane, hosted, live::Live};

/// What a script is played for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Its transcript must come out again.
    Compare,
    /// Its transcript is written anew.
    Record,
}

/// Plays a script and gives it back with what it showed.
pub(crate) async fn play(name: &str, written: &str, intent: Intent, live: &mut Live) -> String {
    let mut played = String::new();
    let mut lines = written.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line.starts_with('|') {
            continue;
        }
        played.push_str(line);
        played.push('\n');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut block = String::new();
        while let Some((_, inner)) = lines.next_if(|(_, inner)| inner.starts_with("  ")) {
            played.push_str(inner);
            played.push('\n');
            block.push_str(inner.strip_prefix("  ").unwrap_or(inner));
            block.push('\n');
        }
        let mut expected = String::new();
        while let Some((_, said)) = lines.next_if(|(_, said)| said.starts_with('|')) {
            expected.push_str(said.strip_prefix("| ").unwrap_or_default());
            expected.push('\n');
        }
        let letters = live.letters();
        let (said, block) = (letters.lengthen(line), letters.lengthen(&block));
        // Who writes a transcript anew waits for what comes, and not for what was written before.
        let expected = match intent {
            Intent::Compare => letters.lengthen(&expected),
            Intent::Record => String::new(),
        };
        let shown = commands::run(&said, &block, &expected, live).await;
        let shown = shown.unwrap_or_else(|wrong| panic!("{name}:{}: {line}: {wrong}", number + 1));
        control_plane::turn(live).await;
        hosted::turn(live).await;
        let shown = live.letters().shorten(&shown);
        for line in shown.lines() {
            played.push_str(format!("| {line}").trim_end());
            played.push('\n');
        }
    }
    played
}
