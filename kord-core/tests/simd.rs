//! Every back end of this CPU makes the portable engine's bytes and evaluates to its outputs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kord_core::keygen::deterministic::generate_into_with;
use kord_core::{Backend, Block, Group, KeyBatch, KeySpec, Party, Predicate, PrgKeys, Scheme};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

const SCHEMES: [Scheme; 3] = [Scheme::Dpf, Scheme::Dcf(Predicate::Lt), Scheme::Dcf(Predicate::Gt)];
/// Around every back end's tile size, and beyond.
const COUNTS: [usize; 11] = [0, 1, 2, 3, 7, 8, 9, 16, 31, 33, 100];

fn fast() -> Vec<Backend> {
    Backend::available().filter(|b| *b != Backend::Portable).collect()
}

/// A random batch: alphas with both edges, canonical betas, roots with any clamp bit.
struct Batch {
    spec: KeySpec,
    alphas: Vec<u64>,
    betas: Vec<u128>,
    roots: [Vec<Block>; 2],
}

impl Batch {
    fn random(rng: &mut StdRng, spec: KeySpec, count: usize) -> Self {
        let alpha = |rng: &mut StdRng| match rng.random_range(0..8) {
            0 => 0,
            1 => spec.max_alpha(),
            _ => rng.random::<u64>() & spec.max_alpha(),
        };
        let roots = |rng: &mut StdRng| (0..count).map(|_| Block::from_u128(rng.random())).collect();
        Self {
            spec,
            alphas: (0..count).map(|_| alpha(rng)).collect(),
            betas: (0..count * spec.arity() as usize).map(|_| spec.group().reduce(rng.random())).collect(),
            roots: [roots(rng), roots(rng)],
        }
    }

    /// Into a buffer that held something else before.
    fn generate(&self, rng: &mut StdRng, backend: Backend, party: Party) -> Vec<u8> {
        let mut out = vec![0; self.alphas.len() * self.spec.key_bytes()];
        rng.fill_bytes(&mut out);
        let roots = [&self.roots[0][..], &self.roots[1][..]];
        generate_into_with(backend, &self.spec, &self.alphas, &self.betas, roots, party, &mut out).unwrap();
        out
    }
}

fn assert_same_keys(rng: &mut StdRng, spec: KeySpec, count: usize) {
    let batch = Batch::random(rng, spec, count);
    for party in Party::BOTH {
        let want = batch.generate(rng, Backend::Portable, party);
        for backend in fast() {
            let have = batch.generate(rng, backend, party);
            let key =
                have.chunks(spec.key_bytes()).zip(want.chunks(spec.key_bytes())).position(|(a, b)| a != b);
            assert_eq!(key, None, "{backend}, {spec}, {count} keys, {party}: first different key");
        }
    }
}

/// Element widths around bytes and words, and everything that the kernels leave to portable code.
fn payloads() -> Vec<(Group, u32)> {
    let mut all = Vec::new();
    for bits in [1, 2, 7, 8, 9, 16, 24, 31, 32, 33, 40, 48, 56, 57, 63, 64, 65, 96, 97, 128] {
        all.push((Group::ring(bits).unwrap(), 1));
        all.push((Group::xor(bits).unwrap(), 1));
    }
    all.push((Group::ring(16).unwrap(), 3));
    all.push((Group::ring(64).unwrap(), 2));
    all.push((Group::xor(8).unwrap(), 40));
    all.push((Group::modular(3).unwrap(), 1));
    all.push((Group::modular((1 << 61) - 1).unwrap(), 2));
    all
}

#[test]
fn every_domain_width() {
    let mut rng = StdRng::seed_from_u64(1);
    for n in 1..=64 {
        for scheme in SCHEMES {
            for group in [Group::ring(64), Group::ring(1), Group::xor(20), Group::ring(40)] {
                let count = COUNTS[rng.random_range(0..COUNTS.len())];
                assert_same_keys(&mut rng, KeySpec::new(scheme, n, group.unwrap()).unwrap(), count);
            }
        }
    }
}

#[test]
fn every_payload_and_batch_length() {
    let mut rng = StdRng::seed_from_u64(2);
    for (group, arity) in payloads() {
        for scheme in SCHEMES {
            for count in COUNTS {
                let n = rng.random_range(1..=24);
                let spec = KeySpec::new(scheme, n, group).unwrap().with_arity(arity).unwrap();
                assert_same_keys(&mut rng, spec, count);
            }
        }
    }
}

#[test]
fn other_prg_keys() {
    let mut rng = StdRng::seed_from_u64(3);
    for scheme in SCHEMES {
        let keys = PrgKeys {
            seed_left: rng.random(),
            seed_right: rng.random(),
            value_left: rng.random(),
            value_right: rng.random(),
            expand: rng.random(),
        };
        let spec = KeySpec::new(scheme, 33, Group::ring(64).unwrap()).unwrap().with_prg_keys(keys);
        assert_same_keys(&mut rng, spec, 37);
    }
}

#[test]
fn detection_is_consistent() {
    let available: Vec<Backend> = Backend::available().collect();
    assert_eq!(available[0], Backend::Portable);
    assert_eq!(available.last(), Some(&Backend::detect()));
    println!("back ends tested on this CPU: {available:?}");
}

fn assert_same_outputs(rng: &mut StdRng, spec: KeySpec, count: usize, points_per_key: usize) {
    let batch = Batch::random(rng, spec, count);
    let near = |rng: &mut StdRng, alpha: u64| match rng.random_range(0..4) {
        0 => alpha,
        1 => alpha ^ (1 << rng.random_range(0..spec.domain_bits())),
        _ => rng.random::<u64>() & spec.max_alpha(),
    };
    let points: Vec<u64> =
        batch.alphas.iter().flat_map(|a| vec![*a; points_per_key]).map(|a| near(rng, a)).collect();
    for party in Party::BOTH {
        let bytes = batch.generate(rng, Backend::Portable, party);
        let keys = KeyBatch::from_bytes(spec, party, bytes).unwrap().into_reusable();
        let want = keys.evaluate_with(Backend::Portable, &points).unwrap();
        for backend in fast() {
            let have = keys.evaluate_with(backend, &points).unwrap();
            assert_eq!(have, want, "{backend}, {spec}, {count} keys of {points_per_key} points, {party}");
        }
    }
}

#[test]
fn outputs_of_every_domain_width() {
    let mut rng = StdRng::seed_from_u64(4);
    for n in 1..=64 {
        for scheme in SCHEMES {
            for group in [Group::ring(64), Group::ring(1), Group::xor(20), Group::ring(40)] {
                let count = COUNTS[rng.random_range(0..COUNTS.len())];
                let points = rng.random_range(1..4);
                assert_same_outputs(
                    &mut rng,
                    KeySpec::new(scheme, n, group.unwrap()).unwrap(),
                    count,
                    points,
                );
            }
        }
    }
}

#[test]
fn outputs_of_every_payload_and_batch_length() {
    let mut rng = StdRng::seed_from_u64(5);
    for (group, arity) in payloads() {
        for scheme in SCHEMES {
            for count in COUNTS {
                let spec = KeySpec::new(scheme, rng.random_range(1..=24), group).unwrap();
                let points = rng.random_range(1..4);
                assert_same_outputs(&mut rng, spec.with_arity(arity).unwrap(), count, points);
            }
        }
    }
}
