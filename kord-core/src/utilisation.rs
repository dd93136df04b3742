//! How much of the AES unit key generation uses.
//!
//! **Lane utilisation** is the AES blocks that Gen must compute (4n a DPF key, 8n a DCF key, see
//! [`KeySpec::gen_blocks`]) per second, divided by the bare fixed-key AES blocks per second that
//! the same core reaches in the same run. Bare AES is the faster of
//!
//! * a loop of independent encryptions in registers, with this CPU's widest AES instructions,
//!   which is the AES unit's own limit, and
//! * `encrypt_blocks` of the `aes` crate over a buffer in cache.
//!
//! Keys are made as a chip makes them: batch after batch through one buffer that stays in cache,
//! one party's keys, one thread. Machines are shared and clocks move, so bare AES and the kernel
//! are measured by turns, a millisecond each, and medians are compared. All figures are
//! measured wall time.
//!
//! ```
//! use core::time::Duration;
//! use kord_core::{Group, KeySpec, utilisation};
//!
//! let spec = KeySpec::dpf(32, Group::ring(64)?)?;
//! let measured = utilisation::generation(&spec, Duration::from_millis(50));
//! println!("{:.0} keys/s, {:.2} of the AES unit", measured.keys_per_s, measured.utilisation);
//! # assert!(measured.keys_per_s > 0.0 && measured.aes_blocks_per_s > 0.0);
//! # Ok::<(), kord_core::SpecError>(())
//! ```

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use crate::block::Block;
use crate::key_batch::KeyBatch;
use crate::keygen::deterministic;
use crate::party::Party;
use crate::prg::PrgKeys;
use crate::secret_bytes::SecretBytes;
use crate::simd::{self, Backend};
use crate::spec::KeySpec;

/// Keys of one timed batch.
const BATCH: usize = 512;
/// Time of one measurement among those that are taken by turns.
const SLICE: Duration = Duration::from_millis(1);
/// Fewest measurements of each kind.
const LEAST: usize = 9;
/// Blocks that the `aes` crate encrypts in one call: 16 KiB, in first-level cache.
const CRATE_BLOCKS: usize = 1024;

/// What a measurement found. Every figure is measured.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Generation {
    /// Key pairs walked per second (one party's keys written).
    pub keys_per_s: f64,
    /// Bare fixed-key AES-128 blocks per second of the same core in the same run.
    pub aes_blocks_per_s: f64,
    /// `keys_per_s · spec.gen_blocks() / aes_blocks_per_s`.
    pub utilisation: f64,
}

/// Bare fixed-key AES-128 blocks per second of this core, now: medians of short measurements, the
/// faster way. Takes about 20 ms.
#[must_use]
pub fn bare_aes_blocks_per_s() -> f64 {
    let mut bare = Bare::new();
    for _ in 0..LEAST {
        bare.measure();
    }
    bare.blocks_per_s()
}

/// Measures generation with the fastest back end for about `duration`.
#[must_use]
pub fn generation(spec: &KeySpec, duration: Duration) -> Generation {
    generation_with(Backend::detect(), spec, duration)
}

/// As [`generation`] with a back end of the caller's choice. Bare AES is still the fastest that
/// this core can do.
#[must_use]
pub fn generation_with(backend: Backend, spec: &KeySpec, duration: Duration) -> Generation {
    let mut batch = Batch::new(spec);
    let mut bare = Bare::new();
    let mut keys = Vec::new();
    let start = Instant::now();
    while keys.len() < LEAST || start.elapsed() < duration {
        bare.measure();
        keys.push(batch.keys_per_s(backend));
    }
    let (keys_per_s, aes_blocks_per_s) = (median(keys), bare.blocks_per_s());
    let utilisation = keys_per_s * spec.gen_blocks() as f64 / aes_blocks_per_s;
    Generation { keys_per_s, aes_blocks_per_s, utilisation }
}

/// What a measurement of evaluation found. Every figure is measured.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// Points evaluated per second, each under its own key.
    pub points_per_s: f64,
    /// Bare fixed-key AES-128 blocks per second of the same core in the same run.
    pub aes_blocks_per_s: f64,
    /// n blocks a point for a DPF, 2n for a DCF, over `aes_blocks_per_s`.
    pub utilisation: f64,
}

/// Measures evaluation of independent keys, one random point each, for about `duration`.
#[must_use]
pub fn evaluation(spec: &KeySpec, duration: Duration) -> Evaluation {
    evaluation_with(Backend::detect(), spec, duration)
}

/// As [`evaluation`] with a back end of the caller's choice.
#[must_use]
pub fn evaluation_with(backend: Backend, spec: &KeySpec, duration: Duration) -> Evaluation {
    let mut batch = Batch::new(spec);
    batch.keys_per_s(Backend::detect());
    let keys = KeyBatch::from_parts(*spec, Party::P0, SecretBytes::copy_of(&batch.out)).into_reusable();
    let points: Vec<u64> = batch.alphas.iter().map(|a| a.rotate_left(7) & spec.max_alpha()).collect();
    let mut bare = Bare::new();
    let mut rates = Vec::new();
    let start = Instant::now();
    while rates.len() < LEAST || start.elapsed() < duration {
        bare.measure();
        rates.push(rate(SLICE, || {
            black_box(keys.evaluate_with(backend, black_box(&points))).map_or(0, |y| y.len() as u64)
        }));
    }
    let (points_per_s, aes_blocks_per_s) = (median(rates), bare.blocks_per_s());
    // Gen walks both sides of both parties, Eval one side of one.
    let utilisation = points_per_s * spec.gen_blocks() as f64 / 4.0 / aes_blocks_per_s;
    Evaluation { points_per_s, aes_blocks_per_s, utilisation }
}

/// Bare AES of one back end's own instructions, in registers; 0 where this CPU lacks them. For
/// benchmarks that compare a narrow back end with its own limit.
#[must_use]
pub fn bare_aes_blocks_per_s_with(backend: Backend) -> f64 {
    median((0..LEAST).map(|_| rate(SLICE, || simd::bare_blocks(backend, 500))).collect())
}

/// Runs `work`, which returns how much it did, for `duration`; work per second.
fn rate(duration: Duration, mut work: impl FnMut() -> u64) -> f64 {
    let (mut done, start) = (0, Instant::now());
    loop {
        done += work();
        let elapsed = start.elapsed();
        if elapsed >= duration {
            return done as f64 / elapsed.as_secs_f64();
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Bare AES, measured both ways each time.
struct Bare {
    aes: aes::Aes128,
    buffer: Vec<Array<u8, aes::cipher::consts::U16>>,
    in_registers: Vec<f64>,
    in_cache: Vec<f64>,
}

impl Bare {
    fn new() -> Self {
        let aes = aes::Aes128::new(&Array(PrgKeys::KORD_V1.seed_left));
        let buffer = vec![Array([0; 16]); CRATE_BLOCKS];
        Self { aes, buffer, in_registers: Vec::new(), in_cache: Vec::new() }
    }

    fn measure(&mut self) {
        let backend = Backend::detect();
        self.in_registers.push(rate(SLICE, || simd::bare_blocks(backend, 500)));
        self.in_cache.push(rate(SLICE, || {
            self.aes.encrypt_blocks(black_box(&mut self.buffer));
            CRATE_BLOCKS as u64
        }));
    }

    /// The faster way's median.
    fn blocks_per_s(self) -> f64 {
        median(self.in_registers).max(median(self.in_cache))
    }
}

/// A batch that is generated again and again into the same buffer. Its inputs are a fixed
/// pattern: the time does not depend on them.
struct Batch<'a> {
    spec: &'a KeySpec,
    alphas: Vec<u64>,
    betas: Vec<u128>,
    roots: [Vec<Block>; 2],
    out: Vec<u8>,
}

impl<'a> Batch<'a> {
    fn new(spec: &'a KeySpec) -> Self {
        let pattern = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let root = |i: usize| Block::from_u128(u128::from(pattern(i)) * u128::from(pattern(i + 7)));
        Self {
            spec,
            alphas: (0..BATCH).map(|i| pattern(i) & spec.max_alpha()).collect(),
            betas: vec![1; BATCH * spec.arity() as usize],
            roots: [(0..BATCH).map(root).collect(), (BATCH..2 * BATCH).map(root).collect()],
            out: vec![0; BATCH * spec.key_bytes()],
        }
    }

    fn keys_per_s(&mut self, backend: Backend) -> f64 {
        rate(SLICE, || {
            let roots = [&self.roots[0][..], &self.roots[1][..]];
            let made = deterministic::generate_into_with(
                backend,
                self.spec,
                &self.alphas,
                &self.betas,
                roots,
                Party::P0,
                &mut self.out,
            );
            black_box(&mut self.out);
            if made.is_ok() { BATCH as u64 } else { 0 }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::group::Group;

    #[test]
    fn figures_are_consistent() {
        let spec = KeySpec::dpf(8, Group::ring(32).unwrap()).unwrap();
        for backend in Backend::available() {
            let made = generation_with(backend, &spec, Duration::ZERO);
            let want = made.keys_per_s * 32.0 / made.aes_blocks_per_s;
            assert!(made.keys_per_s > 0.0 && (made.utilisation - want).abs() < 1e-9);
            let eval = evaluation_with(backend, &spec, Duration::ZERO);
            let want = eval.points_per_s * 8.0 / eval.aes_blocks_per_s;
            assert!(eval.points_per_s > 0.0 && (eval.utilisation - want).abs() < 1e-9);
            let own = bare_aes_blocks_per_s_with(backend);
            assert_eq!(own > 0.0, backend != Backend::Portable);
        }
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
