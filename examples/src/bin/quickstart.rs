//! Two software chips in one process: pair them, make comparison keys, use them.
//!
//!     cargo run --release -p kord-examples --bin quickstart

use std::thread;

use anyhow::{Context, Result};
use kord_chip::SoftChip;
use kord_chip::host::{self, ChipHost, HostConfig, Link};
use kord_core::request::{Request, Shares};
use kord_core::source::Collected;
use kord_core::{Group, KeyBatch, KeySource, KeySpec, Predicate};
use rand::RngExt;

const COUNT: usize = 1000;

fn main() -> Result<()> {
    // Keys for "x < alpha" over 32-bit x, with outputs shared modulo 2^64.
    let group = Group::ring(64)?;
    let spec = KeySpec::dcf(32, Predicate::Lt, group)?;

    // Nobody holds alpha: each party draws its own share of it, and of beta = 1.
    let mut rng = rand::rng();
    let mut draw = || -> Vec<u64> { (0..COUNT).map(|_| u64::from(rng.random::<u32>())).collect() };
    let alphas = [draw(), draw()];
    let betas = [vec![1; COUNT], vec![0; COUNT]];

    // Two chips under one throwaway root, and a link between their hosts.
    let chips = SoftChip::development_pair()?;
    let links = Link::loopback()?;

    // Each party runs this, here on a thread each, in real life on a machine each.
    let [keys0, keys1] = thread::scope(|scope| {
        let parties = chips.into_iter().zip(links).zip(alphas.iter().zip(&betas));
        let parties = parties.map(|((chip, link), (alpha, beta))| {
            scope.spawn(move || make_keys(chip, link, spec, alpha, beta))
        });
        let parties: Vec<_> = parties.collect();
        let mut keys = parties.into_iter().map(|p| p.join().map_err(|_| anyhow::anyhow!("a party panicked")));
        Ok::<_, anyhow::Error>([keys.next().context("party 0")???, keys.next().context("party 1")???])
    })?;

    // x is public: evaluate, then add the two shares.
    let points: Vec<u64> = (0..COUNT as u64).map(|i| i << 22).collect();
    let (y0, y1) = (keys0.evaluate(&points)?, keys1.evaluate(&points)?);
    let mut below = 0;
    for (i, x) in points.iter().enumerate() {
        let alpha = alphas[0][i].wrapping_add(alphas[1][i]) & 0xffff_ffff;
        let y = group.add(y0[i], y1[i]);
        anyhow::ensure!(y == u128::from(*x < alpha), "key {i} is wrong");
        below += y;
    }
    println!("{COUNT} keys made in one round and checked; x < alpha held {below} times");
    Ok(())
}

/// One party: pair the chips, start a session, ask for keys.
fn make_keys(
    mut chip: SoftChip,
    link: Link,
    spec: KeySpec,
    masks: &[u64],
    payloads: &[u128],
) -> Result<KeyBatch> {
    let config = HostConfig::new(link);
    host::pair(&mut chip, &config)?;
    let mut source = ChipHost::connect(chip, config)?;
    let request = Request::keys(COUNT as u64, spec)?;
    let mut sink = Collected::new(&request, source.party());
    source.generate(&request, Shares::Slices { masks, payloads }, &mut sink)?;
    sink.take_keys(0).context("the request has a key part")
}
