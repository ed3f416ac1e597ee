//! Which object is looked at next, and when? Policies first, then in the order they came.
//!
//! An object is in the hand of one worker at most: what happens to it meanwhile is looked at afterwards. Edges are instants of the
//! clock, delays after failures are lengths of time: setting the clock moves the one and not the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use schedule::Instant;

use tidegate_core::document::key::Key;

/// Objects that wait, are worked on, or sleep.
#[derive(Debug, Default)]
pub struct Queue {
    /// Policies have the lower class, so they come first.
    ready: BTreeMap<(bool, u64), Key>,
    places: BTreeMap<Key, u64>,
    next: u64,
    held: BTreeSet<Key>,
    again: BTreeSet<Key>,
    edges: Sleepers<Instant>,
    delays: Sleepers<tokio::time::Instant>,
}

/// Who sleeps until when.
#[derive(Debug)]
struct Sleepers<T> {
    by_time: BTreeSet<(T, Key)>,
    by_key: BTreeMap<Key, T>,
}

impl<T> Default for Sleepers<T> {
    fn default() -> Self {
        Self { by_time: BTreeSet::new(), by_key: BTreeMap::new() }
    }
}

impl<T: Copy + Ord> Sleepers<T> {
    fn set(&mut self, key: &Key, until: Option<T>) {
        if let Some(before) = self.by_key.remove(key) {
            self.by_time.remove(&(before, key.clone()));
        }
        if let Some(until) = until {
            self.by_key.insert(key.clone(), until);
            self.by_time.insert((until, key.clone()));
        }
    }

    fn first(&self) -> Option<T> {
        self.by_time.first().map(|(until, _)| *until)
    }

    fn pop_due(&mut self, now: T) -> Option<(T, Key)> {
        let (until, _) = self.by_time.first().filter(|(until, _)| *until <= now)?;
        let until = *until;
        let (_, key) = self.by_time.pop_first()?;
        self.by_key.remove(&key);
        Some((until, key))
    }
}

impl Queue {
    /// An object is to be looked at. One that waits out a delay is not hurried.
    pub fn add(&mut self, key: Key) {
        if self.delays.by_key.contains_key(&key) {
            return;
        }
        self.enqueue(key);
    }

    /// An object is to be looked at, whatever delay it has.
    pub fn hurry(&mut self, key: Key) {
        self.delays.set(&key, None);
        self.enqueue(key);
    }

    fn enqueue(&mut self, key: Key) {
        if self.held.contains(&key) {
            self.again.insert(key);
        } else if !self.places.contains_key(&key) {
            self.places.insert(key.clone(), self.next);
            self.ready.insert((!key.is_policy(), self.next), key);
            self.next += 1;
        }
    }

    /// Takes the next object into the hand.
    pub fn take(&mut self) -> Option<Key> {
        let (_, key) = self.ready.pop_first()?;
        self.places.remove(&key);
        self.held.insert(key.clone());
        Some(key)
    }

    /// Lets go of an object, and looks at it again if something happened meanwhile.
    pub fn release(&mut self, key: &Key) {
        self.held.remove(key);
        if self.again.remove(key) {
            self.add(key.clone());
        }
    }

    /// The answer about an object changes by itself then.
    pub fn wake_at(&mut self, key: &Key, edge: Option<Instant>) {
        self.edges.set(key, edge);
    }

    /// An object is left alone for so long.
    pub fn delay(&mut self, key: &Key, length: Duration) {
        if let Some(place) = self.places.remove(key) {
            self.ready.remove(&(!key.is_policy(), place));
        }
        self.again.remove(key);
        self.delays.set(key, Some(tokio::time::Instant::now() + length));
    }

    /// An object is gone.
    pub fn forget(&mut self, key: &Key) {
        if let Some(place) = self.places.remove(key) {
            self.ready.remove(&(!key.is_policy(), place));
        }
        self.again.remove(key);
        self.edges.set(key, None);
        self.delays.set(key, None);
    }

    /// Everything waits no longer.
    pub fn clear(&mut self) {
        let held = std::mem::take(&mut self.held);
        *self = Self { held, next: self.next, ..Self::default() };
    }

    /// Wakes one object whose edge has come, and says which edge that was.
    pub fn wake_edge(&mut self, now: Instant) -> Option<Instant> {
        let (edge, key) = self.edges.pop_due(now)?;
        self.add(key);
        Some(edge)
    }

    /// Wakes everybody whose delay is over.
    pub fn wake_delayed(&mut self) {
        let now = tokio::time::Instant::now();
        while let Some((_, key)) = self.delays.pop_due(now) {
            self.enqueue(key);
        }
    }

    /// The first edge.
    pub fn next_edge(&self) -> Option<Instant> {
        self.edges.first()
    }

    /// The end of the first delay.
    pub fn next_delay(&self) -> Option<tokio::time::Instant> {
        self.delays.first()
    }

    /// Whether an object waits to be looked at or is being looked at.
    pub fn is_pending(&self, key: &Key) -> bool {
        self.places.contains_key(key) || self.held.contains(key)
    }

    /// How many objects wait to be looked at.
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    /// Whether nothing waits to be looked at.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }
}

#[cfg(test)]
mod tests;
