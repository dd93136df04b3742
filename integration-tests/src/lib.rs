//! Helpers that the integration tests share: a pair of chips over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::thread;
use std::time::Duration;

use kord_chip::SoftChip;
use kord_chip::host::{self, ChipHost, HostConfig, Link};
use kord_core::request::{Request, Shares};
use kord_core::source::{Collected, SourceError};
use kord_core::{Group, KeySource, Label};
use rand::RngExt;
use rand::rngs::StdRng;

/// Runs one closure a party, each on its own thread, party 0 first.
pub fn both<A: Send, R: Send>(args: [A; 2], run: impl Fn(A) -> R + Sync) -> [R; 2] {
    let [a, b] = args;
    let run = &run;
    thread::scope(|scope| {
        let peer = scope.spawn(move || run(b));
        let own = run(a);
        [own, peer.join().expect("party 1 panicked")]
    })
}

/// Configurations of both ends of a loopback link, with time-outs fit for tests.
pub fn loopback() -> [HostConfig; 2] {
    Link::loopback().unwrap().map(|link| HostConfig {
        connect_timeout: Duration::from_secs(10),
        reply_timeout: Duration::from_secs(10),
        ..HostConfig::new(link)
    })
}

/// Two paired software chips with memory stores.
pub fn paired_chips() -> [SoftChip; 2] {
    let ends: Vec<_> = SoftChip::development_pair().unwrap().into_iter().zip(loopback()).collect();
    let ends: [_; 2] = ends.try_into().ok().unwrap();
    both(ends, |(mut chip, config)| {
        host::pair(&mut chip, &config).unwrap();
        chip
    })
}

/// Two connected hosts over paired software chips.
pub fn connected_hosts() -> [ChipHost<SoftChip>; 2] {
    let [chip0, chip1] = paired_chips();
    let [config0, config1] = loopback();
    both([(chip0, config0), (chip1, config1)], |(chip, config)| ChipHost::connect(chip, config).unwrap())
}

/// Additive (or XOR) shares of values in a group.
pub fn split(rng: &mut StdRng, group: Group, values: &[u128]) -> [Vec<u128>; 2] {
    let share0: Vec<u128> = values.iter().map(|_| group.reduce(rng.random())).collect();
    let share1 = values.iter().zip(&share0).map(|(v, s)| group.sub(*v, *s)).collect();
    [share0, share1]
}

/// One end, and what it gives to a batch.
pub struct End<'a, S> {
    /// The source.
    pub source: &'a mut S,
    /// Shares of masks.
    pub masks: Vec<u64>,
    /// Shares of payloads.
    pub payloads: Vec<u128>,
}

/// Makes one batch at both ends.
pub fn generate<S: KeySource>(
    request: &Request,
    ends: [End<'_, S>; 2],
) -> [(Result<Label, SourceError>, Collected); 2] {
    both(ends, |end| {
        let mut sink = Collected::new(request, end.source.party());
        let shares = Shares::Slices { masks: &end.masks, payloads: &end.payloads };
        (end.source.generate(request, shares, &mut sink), sink)
    })
}
