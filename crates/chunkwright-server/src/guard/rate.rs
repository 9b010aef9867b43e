//! Limits the request rate of each client.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use super::refusal::Refusal;

/// After this many requests, clients that have their full rate again are forgotten.
const FORGET_AFTER: u32 = 10_000;

/// Identifies a client for the rate limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// The holder of a key.
    Key(Arc<str>),
    /// An address. For IPv6 its network, since one machine has any number of addresses there.
    Address(IpAddr),
}

impl Client {
    pub(crate) fn address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

/// A limit of requests per second for each client. A client that was quiet may send that many at once.
pub(crate) struct Rate {
    limiter: RateLimiter<Client, HashMapStateStore<Client>, DefaultClock>,
    clock: DefaultClock,
    asked: AtomicU32,
}

impl Rate {
    pub(crate) fn new(per_second: NonZeroU32) -> Self {
        let limiter = RateLimiter::hashmap(Quota::per_second(per_second));
        Self { limiter, clock: DefaultClock::default(), asked: AtomicU32::new(0) }
    }

    /// Counts a request; fails if the client exceeds the limit.
    pub(crate) fn check(&self, client: &Client) -> Result<(), Refusal> {
        if self.asked.fetch_add(1, Ordering::Relaxed) % FORGET_AFTER == FORGET_AFTER - 1 {
            self.limiter.retain_recent();
        }
        self.limiter
            .check_key(client)
            .map_err(|refused| Refusal::Rate { wait: refused.wait_time_from(self.clock.now()) })
    }
}
