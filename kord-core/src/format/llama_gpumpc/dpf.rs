//! GPU-MPC's DPF.

use super::super::engine::{Engine, RootControl};
use super::super::llama::LlamaConvert;
use super::super::wire::Reader;
use super::super::words::{StoredKey, StoredKeyMut};
use super::super::{Internals, KeyFormat, Keys, ReusableKeys, llama};
use super::comparison::Comparison;
use super::{SENTINEL_BYTES, check_sentinel, decode_dpf, dpf_roots, encode_dpf, put_sentinel};
use crate::block::Block;
use crate::error::{DecodeError, SpecError};
use crate::group::Group;
use crate::prg::SeedKeyedAes;
use crate::tree::Tree;

/// GPU-MPC's DPF (`keyGenDPF`, BGI16): beta at alpha, one element modulo 2^bout.
///
/// # Security
/// **A key tells beta modulo 2.** The final word is ±(beta − s_0 + s_1) over the low 64 bits of
/// leaf seeds whose lowest bit is always cleared, so its lowest bit is beta's. That is harmless
/// only where beta is public, as in a look-up table with beta = 1. For a secret beta use the
/// native DPF ([`crate::KeySpec::dpf`]), whose payloads never touch a cleared bit. With bout not
/// 8, 16, 32 or 64 the wire also carries bits of the unreduced word, which are pseudorandom.
///
/// # Encoding
/// What `send_dpf_keypack` writes, little-endian. c bytes hold bout bits and c' hold n bits, each
/// 1, 2, 4 or 8.
///
/// | part | bytes |
/// |---|---|
/// | s\[0\]: root seed, bit 0 clear | 16 |
/// | s\[1..=n\]: correction seeds, bit 0 clear | 16 each |
/// | tLcw, tRcw: the control-bit corrections of level i in bit n − 1 − i | c' each |
/// | payload: final word modulo 2^64, truncated | c |
/// | sentinel | 8 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DpfSpec {
    domain_bits: u8,
    group: Group,
}

impl DpfSpec {
    /// Keys over `domain_bits` bits (bin) that pay one element of `output_bits` bits (bout).
    ///
    /// # Errors
    /// [`SpecError`] unless 1 ≤ bin ≤ 64 and 1 ≤ bout ≤ 64.
    pub const fn new(domain_bits: u8, output_bits: u8) -> Result<Self, SpecError> {
        if let Err(error) = llama::check_domain(domain_bits, 1) {
            return Err(error);
        }
        match llama::output_group("GPU-MPC DPF", output_bits) {
            Ok(group) => Ok(Self { domain_bits, group }),
            Err(error) => Err(error),
        }
    }

    fn engine(&self, group: Group) -> Engine {
        Engine {
            prg: Box::new(SeedKeyedAes),
            convert: Box::new(LlamaConvert::new(self.group.bits(), 1, group)),
            tree: |prg| Tree::clamped_at_bit_0(prg),
            root_control: RootControl::Party,
            domain_bits: usize::from(self.domain_bits),
            levels: usize::from(self.domain_bits),
            predicate: None,
        }
    }
}

impl KeyFormat for DpfSpec {
    fn name(&self) -> &'static str {
        "GPU-MPC DPF"
    }

    fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    fn group(&self) -> Group {
        self.group
    }

    fn arity(&self) -> u32 {
        1
    }

    fn key_bytes(&self) -> usize {
        let controls = 2 * llama::container(self.domain_bits);
        let payload = llama::container(self.group.bits());
        16 * (usize::from(self.domain_bits) + 1) + controls + payload + SENTINEL_BYTES
    }
}

impl Internals for DpfSpec {
    fn generator(&self) -> Engine {
        self.engine(Group::WORD)
    }

    fn evaluator(&self) -> Engine {
        self.engine(self.group)
    }

    fn roots(&self, drawn: [Block; 2]) -> [Block; 2] {
        dpf_roots(drawn)
    }

    fn encode(&self, key: &StoredKey<'_>, out: &mut Vec<u8>) {
        encode_dpf(key, self.domain_bits, out);
        llama::put_integer(out, key.last[0] as u64, self.group.bits());
        put_sentinel(out);
    }

    fn decode(&self, bytes: &mut Reader<'_>, key: &mut StoredKeyMut<'_>) -> Result<(), DecodeError> {
        decode_dpf(bytes, self.domain_bits, key)?;
        key.last[0] = u128::from(bytes.integer(llama::container(self.group.bits()))?);
        check_sentinel(bytes)
    }
}

impl Keys<DpfSpec> {
    /// XOR shares (0 or 1) of \[x = alpha\], whatever beta; points as in [`Keys::evaluate`].
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_eq(self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.into_reusable().evaluate_eq(points)
    }

    /// XOR shares (0 or 1) of \[x > alpha\], whatever beta; points as in [`Keys::evaluate`].
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_gt(self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.into_reusable().evaluate_gt(points)
    }

    /// XOR shares (0 or 1) of \[x < alpha\], whatever beta; points as in [`Keys::evaluate`].
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_lt(self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.into_reusable().evaluate_lt(points)
    }

    /// As [`Keys::evaluate_all`] with every share moved up by `shift` (< 2^n), cyclically:
    /// `visit` gets the share of x at position (x + shift) mod 2^n. Positions come in at most two
    /// ascending runs.
    ///
    /// # Errors
    /// [`SpecError::OutOfDomain`] for a shift of more than the domain bits.
    pub fn evaluate_all_shifted(
        self,
        shift: u64,
        visit: impl FnMut(usize, u64, &[u128]),
    ) -> Result<(), SpecError> {
        self.into_reusable().evaluate_all_shifted(shift, visit)
    }
}

impl ReusableKeys<DpfSpec> {
    /// As [`Keys::evaluate_eq`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_eq(&self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.check(points)?;
        let keys = self.keys();
        let mut out = vec![0; points.len()];
        let engine = keys.format().evaluator();
        engine.walk_only(
            keys.party(),
            keys.words(),
            points,
            |_, _, _| (),
            |i, _, _, control| {
                out[i] = control & 1;
            },
        );
        Ok(out)
    }

    /// As [`Keys::evaluate_gt`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_gt(&self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.compare(Comparison::Above, points)
    }

    /// As [`Keys::evaluate_lt`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_lt(&self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.compare(Comparison::Below, points)
    }

    fn compare(&self, comparison: Comparison, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.check(points)?;
        let keys = self.keys();
        let engine = keys.format().evaluator();
        let end = |last, _, _, control| control & comparison.counts_end(last);
        Ok(comparison.evaluate(&engine, keys.party(), keys.words(), points, end))
    }

    /// As [`Keys::evaluate_all_shifted`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate_all_shifted`].
    pub fn evaluate_all_shifted(
        &self,
        shift: u64,
        mut visit: impl FnMut(usize, u64, &[u128]),
    ) -> Result<(), SpecError> {
        let max = self.keys().format().max_alpha();
        if u128::from(shift) > max {
            return Err(SpecError::OutOfDomain { what: "shift", index: 0 });
        }
        self.evaluate_all(|key, first, shares| {
            let position = u128::from(first) + u128::from(shift);
            // The share whose position is 2^n starts the second run.
            let before = (max + 1).saturating_sub(position).min(shares.len() as u128) as usize;
            for (offset, run) in [(0, &shares[..before]), (before, &shares[before..])] {
                if !run.is_empty() {
                    visit(key, ((position + offset as u128) & max) as u64, run);
                }
            }
        })
    }
}
