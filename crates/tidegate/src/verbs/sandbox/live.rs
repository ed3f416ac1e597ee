//! What does somebody see who looks at a sandbox? The clock, the pools and their nodes, the gates, and the keys that move time.

mod frame;

use std::time::Duration;

use crossterm::{
    cursor,
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    execute, queue,
    style::Print,
    terminal,
};
use schedule::Instant;
use sim::dial::Turn;
use views::{pool, status::Rows};

use self::frame::Frame;
use super::Open;
use crate::{
    cluster::{Cluster, Extent, Reach},
    edge::Edge,
};

/// How long a picture stands without a key.
const REFRESH: Duration = Duration::from_millis(250);

/// The speeds that keys go through.
const SPEEDS: &[u32] = &[1, 10, 60, 600, 3600];

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    StandOrGo,
    Faster,
    Slower,
    Step(i64),
    NextEdge,
    Console,
    End,
}

/// Shows the sandbox until somebody ends it.
pub(super) fn show(open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    let cluster = Reach::of(&open.kubeconfig).connect()?;
    terminal::enable_raw_mode()?;
    let shown = (|| {
        execute!(edge.stdout, terminal::EnterAlternateScreen, cursor::Hide)?;
        watch(&cluster, open, edge)
    })();
    // The terminal is given back whatever happened.
    let restored = execute!(edge.stdout, cursor::Show, terminal::LeaveAlternateScreen);
    terminal::disable_raw_mode()?;
    restored?;
    shown
}

fn watch(cluster: &Cluster, open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    let dial = &open.dial;
    let mut console = open.console.link()?;
    loop {
        let frame = look(cluster, open, &console, edge)?;
        let (width, height) = terminal::size()?;
        queue!(edge.stdout, cursor::MoveTo(0, 0))?;
        for line in frame.draw(width.into(), height.into(), edge.colour) {
            queue!(
                edge.stdout,
                Print(line),
                terminal::Clear(terminal::ClearType::UntilNewLine),
                Print("\r\n")
            )?;
        }
        queue!(edge.stdout, terminal::Clear(terminal::ClearType::FromCursorDown))?;
        edge.stdout.flush()?;
        if !event::poll(REFRESH)? {
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        match wish(key) {
            Wish::Nothing => {}
            Wish::End => return Ok(()),
            Wish::StandOrGo if frame.speed == 0 => dial.turn(Turn::Resume),
            Wish::StandOrGo => dial.turn(Turn::Speed(0)),
            Wish::Faster => dial.turn(Turn::Speed(faster(frame.speed))),
            Wish::Slower => dial.turn(Turn::Speed(slower(frame.speed))),
            Wish::Step(seconds) => dial.turn(Turn::Step(seconds)),
            Wish::Console => console = open.console.link()?,
            Wish::NextEdge => {
                if let Some(edge) = frame.next_edge() {
                    dial.turn(Turn::Set(edge));
                }
            }
        }
    }
}

fn look(cluster: &Cluster, open: &Open, console: &str, edge: &Edge) -> anyhow::Result<Frame> {
    let now: Instant = cluster.now(edge);
    let world = cluster.snapshot(Extent::Rollouts)?;
    let pools = pool::all(&world, now).collect();
    let rows = Rows::new(&world, now);
    let look = super::look(&open.guests);
    let mut ways = vec![format!("kubectl --kubeconfig {} get {look}", open.kubeconfig.display())];
    let inside = |guest: &super::Inside| {
        format!("tidegate status --kubeconfig {}", guest.kubeconfig.display())
    };
    ways.extend(open.guests.iter().map(inside));
    ways.extend([
        format!("http://{}/metrics", open.metrics),
        // An address lets one in, once: c makes another.
        console.to_owned(),
    ]);
    let nodes = open.guests.iter().map(|guest| {
        let mut releases = std::collections::BTreeMap::<String, usize>::new();
        for (_, release) in guest.nodes() {
            *releases.entry(release).or_default() += 1;
        }
        (format!("{}/{}", guest.namespace, guest.name), releases.into_iter().collect())
    });
    let inside = nodes.collect();
    Ok(Frame { now, speed: open.dial.speed(), ways, pools, rows, inside })
}

/// What a key asks for.
pub(super) fn wish(key: KeyEvent) -> Wish {
    if key.kind == KeyEventKind::Release {
        return Wish::Nothing;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Wish::End,
        KeyCode::Char('q') => Wish::End,
        KeyCode::Char(' ') => Wish::StandOrGo,
        KeyCode::Char('+' | '=') => Wish::Faster,
        KeyCode::Char('-') => Wish::Slower,
        KeyCode::Char('m') => Wish::Step(60),
        KeyCode::Char('h') => Wish::Step(3600),
        KeyCode::Char('d') => Wish::Step(86_400),
        KeyCode::Char('n') => Wish::NextEdge,
        KeyCode::Char('c') => Wish::Console,
        _ => Wish::Nothing,
    }
}

fn faster(speed: u32) -> u32 {
    SPEEDS.iter().copied().find(|known| *known > speed).unwrap_or(speed)
}

fn slower(speed: u32) -> u32 {
    SPEEDS.iter().rev().copied().find(|known| *known < speed).unwrap_or(speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_time() {
        let check = |code: KeyCode, expected: Wish| {
            assert_eq!(wish(KeyEvent::new(code, KeyModifiers::NONE)), expected, "{code:?}");
        };
        check(KeyCode::Char(' '), Wish::StandOrGo);
        check(KeyCode::Char('+'), Wish::Faster);
        check(KeyCode::Char('h'), Wish::Step(3600));
        check(KeyCode::Char('n'), Wish::NextEdge);
        check(KeyCode::Char('q'), Wish::End);
        check(KeyCode::Char('c'), Wish::Console);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(wish(interrupt), Wish::End);
    }

    #[test]
    fn speeds_have_ends() {
        assert_eq!((faster(1), faster(600), faster(3600)), (10, 3600, 3600));
        assert_eq!((slower(3600), slower(60), slower(1)), (600, 10, 1));
        assert_eq!((faster(0), slower(0)), (1, 0));
        assert_eq!((faster(300), slower(300)), (600, 60));
    }
}
