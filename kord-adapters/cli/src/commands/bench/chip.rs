//! A chip pair against its own engine: what pairing, sealing, sockets and durable counters cost.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use kord_chip::SoftChip;
use kord_chip::host::{self, ChipHost, HostConfig, Link};
use kord_chip::identity::{DevelopmentCa, Validity};
use kord_chip::soft::Provision;
use kord_core::request::{Request, ShareChunk, ShareReader, Shares};
use kord_core::source::{KeyChunk, SourceError};
use kord_core::{KeySource, KeySpec, Party, utilisation};

/// What was measured.
pub(super) struct Measured {
    /// Keys per second of one party, the other making its halves at the same time.
    pub(super) keys_per_s: f64,
    /// That, over what the engine alone makes on one core.
    pub(super) engine_ratio: f64,
}

/// Keys of one batch.
const BATCH: u64 = 1 << 20;

/// Shares that cost next to nothing to give.
struct Counting(u64);

impl ShareReader for Counting {
    fn read(&mut self, count: usize, chunk: &mut ShareChunk) -> Result<(), SourceError> {
        let first = self.0;
        self.0 += count as u64;
        chunk.masks.extend((first..self.0).map(|i| i.wrapping_mul(0x9e37_79b9) & 0xffff_ffff));
        chunk.payloads.extend((first..self.0).map(u128::from));
        Ok(())
    }
}

/// Alternates batches of the pair with the bare engine for about `duration`.
pub(super) fn measure(spec: &KeySpec, duration: Duration) -> Result<Measured> {
    let dir = tempfile::tempdir().context("cannot create a temporary directory for two chips")?;
    let ca = DevelopmentCa::generate(Validity::ROOT)?;
    let [listen, connect] = Link::loopback()?;
    let open = |party: Party, link: Link| -> Result<(SoftChip, HostConfig)> {
        let state = dir.path().join(party.number().to_string());
        Ok((provisioned(&state, &ca, party)?, HostConfig::new(link)))
    };
    let ends = [open(Party::P0, listen)?, open(Party::P1, connect)?];
    let mut hosts = both(ends, |(mut chip, config)| {
        host::pair(&mut chip, &config)?;
        Ok(ChipHost::connect(chip, config)?)
    })?;

    let request = Request::keys(BATCH, *spec)?;
    let (mut rates, mut ratios) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while rates.len() < 3 || start.elapsed() < duration {
        let engine = utilisation::generation(spec, Duration::from_millis(20)).keys_per_s;
        let [a, b] = hosts;
        let began = Instant::now();
        hosts = both([a, b], |mut host| {
            let mut discard = |_: KeyChunk| Ok(());
            host.generate(&request, Shares::Reader(&mut Counting(0)), &mut discard)?;
            Ok(host)
        })?;
        let rate = BATCH as f64 / began.elapsed().as_secs_f64();
        rates.push(rate);
        ratios.push(rate / engine);
    }
    Ok(Measured { keys_per_s: median(rates), engine_ratio: median(ratios) })
}

fn provisioned(state: &Path, ca: &DevelopmentCa, party: Party) -> Result<SoftChip> {
    SoftChip::provision(state, ca, &Provision::new(party))?;
    Ok(SoftChip::open(state)?)
}

/// Runs each party on its own thread.
fn both<A: Send, R: Send>(args: [A; 2], run: impl Fn(A) -> Result<R> + Sync) -> Result<[R; 2]> {
    let [own, peer] = args;
    let run = &run;
    thread::scope(|scope| {
        let peer = scope.spawn(move || run(peer));
        let own = run(own);
        let peer = peer.join().map_err(|_| anyhow!("party 1 of the bench panicked"))?;
        Ok([own?, peer?])
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
