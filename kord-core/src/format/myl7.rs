//! myl7/fss v1.2.0 (C++20/CUDA), commit c1ebc87: DPF and DCF.
//!
//! With its AES-128 MMO PRG this is the format whose values KORD's native keys share: seeds,
//! control bits and words are equal, the packing differs. [`Keys::from_native`] and
//! [`Keys::into_native`] convert where payloads are read alike, which is Z_2^k of at most 64 bits,
//! one element.

mod native;
mod output;

pub use output::Output;

#[cfg(doc)]
use super::Keys;
use super::engine::{Engine, RootControl};
use super::wire::Reader;
use super::words::{StoredKey, StoredKeyMut};
use super::{Internals, KeyFormat};
use crate::block::Block;
use crate::convert::Convert;
use crate::error::{DecodeError, SpecError};
use crate::group::Group;
use crate::prg::{self, ChaChaXor, FixedKeyMmo, PrgKeys};
use crate::spec::Scheme;
use crate::tree::{CorrectionWord, CorrectionWords, Tree};

/// The library's PRGs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prg {
    /// `Aes128Mmo` (`Aes128MmoRaw` and `Aes128Soft` are bit-identical): output j is
    /// `AES_{K_j}(s) ⊕ s` under public keys K_0, …. A DPF uses K_0, K_1 for (s_L, s_R); a DCF uses
    /// all four for (s_L, v_L, s_R, v_R).
    Aes128Mmo([[u8; 16]; 4]),
    /// `ChaCha` with 20 rounds and a public nonce, fed forward by XOR.
    ChaCha20([u8; 8]),
}

/// myl7/fss's DPF (BGI16) or DCF (BGI21, `kLt` or `kGt`) over 1 to 128 domain bits.
///
/// # Encoding
/// The party's seed, then the memory image of its n + 1 `Cw` structs, 32 bytes each.
///
/// | scheme | words 0 … n − 1 | word n |
/// |---|---|---|
/// | DPF | correction seed with t_L in bit 96 (16), t_R (1), zero (15) | final word (16), zero (16) |
/// | DCF | correction seed with t_L in bit 96 (16), value word with t_R in bit 96 (16) | zero (16), final word (16) |
///
/// The C++ DPF does not write the last 15 bytes of word n. Zero them before decoding a key
/// that it made: decoding refuses anything else there.
///
/// # Security
/// Elements modulo an m that is no power of two are one block modulo m, which is biased by up to
/// m/2^(bits of the block read). The native format draws 64 bits more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    scheme: Scheme,
    domain_bits: u8,
    output: Output,
    prg: Prg,
}

const CW_BYTES: usize = 32;
const CLAMP: u128 = 1 << 96;

impl Spec {
    /// Most domain bits.
    pub const MAX_DOMAIN_BITS: u8 = 128;

    /// Keys of `scheme` over `domain_bits` bits.
    ///
    /// # Errors
    /// [`SpecError::DomainBits`] unless 1 ≤ `domain_bits` ≤ 128.
    pub const fn new(scheme: Scheme, domain_bits: u8, output: Output, prg: Prg) -> Result<Self, SpecError> {
        if domain_bits == 0 || domain_bits > Self::MAX_DOMAIN_BITS {
            let (bits, max) = (domain_bits as u32, Self::MAX_DOMAIN_BITS as u32);
            return Err(SpecError::DomainBits { bits, min: 1, max });
        }
        Ok(Self { scheme, domain_bits, output, prg })
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The output group, as the library names it.
    #[must_use]
    pub const fn output(&self) -> Output {
        self.output
    }

    /// The PRG.
    #[must_use]
    pub const fn prg(&self) -> Prg {
        self.prg
    }
}

impl KeyFormat for Spec {
    fn name(&self) -> &'static str {
        match self.scheme {
            Scheme::Dpf => "myl7/fss DPF",
            Scheme::Dcf(_) => "myl7/fss DCF",
        }
    }

    fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    fn group(&self) -> Group {
        self.output.group()
    }

    fn arity(&self) -> u32 {
        1
    }

    fn key_bytes(&self) -> usize {
        16 + CW_BYTES * (usize::from(self.domain_bits) + 1)
    }
}

struct OutputConvert(Output);

impl Convert for OutputConvert {
    fn group(&self) -> Group {
        self.0.group()
    }

    fn arity(&self) -> usize {
        1
    }

    fn convert(&self, block: Block, out: &mut [u128]) {
        out.fill(self.0.element(block));
    }
}

impl Internals for Spec {
    fn generator(&self) -> Engine {
        let prg: Box<dyn prg::Prg> = match self.prg {
            Prg::Aes128Mmo(keys) => Box::new(FixedKeyMmo::new(&prg_keys(self.scheme, &keys))),
            Prg::ChaCha20(nonce) => Box::new(ChaChaXor::new(nonce)),
        };
        let predicate = match self.scheme {
            Scheme::Dpf => None,
            Scheme::Dcf(predicate) => Some(predicate),
        };
        Engine {
            prg,
            convert: Box::new(OutputConvert(self.output)),
            tree: |prg| Tree::clamped_at_bit_96(prg),
            root_control: RootControl::Party,
            domain_bits: usize::from(self.domain_bits),
            levels: usize::from(self.domain_bits),
            predicate,
        }
    }

    /// As given: the library clamps a seed when it uses it, not when it stores it.
    fn roots(&self, drawn: [Block; 2]) -> [Block; 2] {
        drawn
    }

    fn accepts(&self, beta: u128) -> bool {
        self.output.contains(beta)
    }

    fn encode(&self, key: &StoredKey<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&key.root.to_bytes());
        for level in 0..key.seeds.len() {
            for block in self.level_blocks(key, level) {
                out.extend_from_slice(&block.to_bytes());
            }
        }
        for block in self.final_blocks(key) {
            out.extend_from_slice(&block.to_bytes());
        }
    }

    fn decode(&self, bytes: &mut Reader<'_>, key: &mut StoredKeyMut<'_>) -> Result<(), DecodeError> {
        *key.root = bytes.block()?;
        let dpf = self.scheme == Scheme::Dpf;
        for level in 0..key.seeds.len() {
            let [first, second] = [bytes.block()?.to_u128(), bytes.block()?.to_u128()];
            let right = if dpf { second } else { second >> 96 & 1 };
            if right > 1 {
                return Err(DecodeError::Field { field: "tr", problem: "neither 0 nor 1, or padding set" });
            }
            let seed = Block::from_u128(first & !CLAMP);
            let word = CorrectionWord { seed, left: (first >> 96 & 1) as u8, right: right as u8 };
            key.put_word(level, &word);
            if !dpf {
                key.values[level] = self.decode_element("v", Block::from_u128(second & !CLAMP))?;
            }
        }
        let [first, second] = [bytes.block()?, bytes.block()?];
        let (last, zero) = if dpf { (first, second) } else { (second, first) };
        if zero.to_u128() != 0 {
            return Err(DecodeError::Field { field: "last cw", problem: "unused half is not zero" });
        }
        key.last[0] = self.decode_element("last cw", last)?;
        Ok(())
    }
}

impl Spec {
    fn decode_element(&self, field: &'static str, block: Block) -> Result<u128, DecodeError> {
        let element = self.output.element(block);
        if self.output.block(element).to_u128() == block.to_u128() {
            return Ok(element);
        }
        Err(DecodeError::Field { field, problem: "not the block of a group element" })
    }

    /// The two halves of a level's `Cw`.
    pub(crate) fn level_blocks(&self, key: &StoredKey<'_>, level: usize) -> [Block; 2] {
        let word = key.word(level);
        let with = |block: Block, at: u32, bit: u8| Block::from_u128(block.to_u128() | u128::from(bit) << at);
        let second = match self.scheme {
            Scheme::Dpf => with(Block::ZERO, 0, word.right),
            Scheme::Dcf(_) => with(self.output.block(key.values[level]), 96, word.right),
        };
        [with(word.seed, 96, word.left), second]
    }

    /// The two halves of the last `Cw`.
    pub(crate) fn final_blocks(&self, key: &StoredKey<'_>) -> [Block; 2] {
        let word = self.output.block(key.last[0]);
        match self.scheme {
            Scheme::Dpf => [word, Block::ZERO],
            Scheme::Dcf(_) => [Block::ZERO, word],
        }
    }
}

/// K_0, … by what the native profile calls them. Payloads never expand here.
fn prg_keys(scheme: Scheme, keys: &[[u8; 16]; 4]) -> PrgKeys {
    let [k0, k1, k2, k3] = *keys;
    let (seed_left, seed_right, value_left, value_right) = match scheme {
        Scheme::Dpf => (k0, k1, k2, k3),
        Scheme::Dcf(_) => (k0, k2, k1, k3),
    };
    PrgKeys { seed_left, seed_right, value_left, value_right, expand: [0; 16] }
}
