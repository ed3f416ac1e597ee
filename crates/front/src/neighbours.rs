//! Who is there, and from where? No address may take all the room.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

/// How many connections there are from each address. Clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours {
    at_most: usize,
    count: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// One connection; it counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Neighbour {
    all: Neighbours,
    from: IpAddr,
}

impl Neighbours {
    /// So many from each address.
    pub(crate) fn new(at_most: usize) -> Self {
        Self { at_most, count: Arc::default() }
    }

    /// Lets a connection in, unless there are too many from where it comes.
    pub(crate) fn let_in(&self, from: IpAddr) -> Option<Neighbour> {
        let from = household(from);
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let here = count.entry(from).or_default();
        if *here >= self.at_most {
            return None;
        }
        *here += 1;
        drop(count);
        Some(Neighbour { all: self.clone(), from })
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let mut count = self.all.count.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(here) = count.get_mut(&self.from) {
            *here -= 1;
            if *here == 0 {
                count.remove(&self.from);
            }
        }
    }
}

/// Whoever has one address of IPv6 has all that share its first half.
fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM_ONE_ADDRESS: usize = 64;

    #[test]
    fn one_address_takes_a_part_of_the_room_and_gives_it_back() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let neighbours = Neighbours::new(FROM_ONE_ADDRESS);
        let fill = |from: &str| -> Vec<Neighbour> {
            (0..256).map_while(|_| neighbours.let_in(address(from))).collect()
        };
        let stranger = fill("192.0.2.1");
        assert_eq!(stranger.len(), FROM_ONE_ADDRESS);
        assert!(
            neighbours.let_in(address("::ffff:192.0.2.1")).is_none(),
            "the same in other words"
        );
        let other = fill("192.0.2.2");
        assert_eq!(other.len(), FROM_ONE_ADDRESS, "others have room");
        let sixes = fill("2001:db8::1");
        assert_eq!(sixes.len(), FROM_ONE_ADDRESS);
        assert!(neighbours.let_in(address("2001:db8::2")).is_none(), "one household");
        assert!(neighbours.let_in(address("2001:db8:0:1::1")).is_some());
        drop((stranger, other, sixes));
        assert!(neighbours.let_in(address("192.0.2.1")).is_some());
        assert!(neighbours.count.lock().unwrap().is_empty(), "nobody is remembered who is gone");
    }
}
