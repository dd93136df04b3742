//! Everything a pair derives from its common root key: seeds, masks, payloads, correlations.
//!
//! `K_op = AES-CMAC(K_r, descriptor)`, and every value is a block of
//! `PRF(K_op, …) = AES_{K_op}(counter (8 LE) ‖ zero (4) ‖ purpose ‖ party ‖ index (2 LE))`
//! (arXiv 2608.30379 derives roots from a common key and a counter; this function is the
//! project's own). Chips and dealers share this code; the RTL will share its bytes.
//!
//! | purpose | value | party byte |
//! |---|---|---|
//! | 0 | root seed | whose root |
//! | 1 | share of a derived mask | whose share |
//! | 2 | share of a derived payload | whose share |
//! | 3 | wire part: party 0's share | 0 |
//! | 3 | shared bit: party 0's share | 0 |
//! | 4 | shared bit: the bit itself (bit 0 of the block) | 0 |
//! | 3, 4 | Beaver triple: shares of a, of b | whose share |
//! | 5 | Beaver triple: party 0's share of a·b | 0 |

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use cmac::{Cmac, Mac};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::Block;
use crate::convert::{MAX_SAMPLE_BYTES, sample_bytes};
use crate::descriptor::Descriptor;
use crate::group::Group;
use crate::party::Party;

/// Purpose numbers of the PRF.
pub(crate) mod purpose {
    pub(crate) const ROOT: u8 = 0;
    pub(crate) const MASK_SHARE: u8 = 1;
    pub(crate) const PAYLOAD_SHARE: u8 = 2;
    pub(crate) const WIRE_SHARE: u8 = 3;
    pub(crate) const BIT_SHARE: u8 = 3;
    pub(crate) const BIT: u8 = 4;
    pub(crate) const TRIPLE_A: u8 = 3;
    pub(crate) const TRIPLE_B: u8 = 4;
    pub(crate) const TRIPLE_C: u8 = 5;
}

/// K_r: the root key that a session's chips share. Zeroized on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RootKey([u8; 16]);

impl RootKey {
    /// A root key from 16 secret random bytes.
    #[must_use]
    pub const fn new(key: [u8; 16]) -> Self {
        Self(key)
    }

    /// K_op: the key of everything derived under one descriptor.
    #[must_use]
    pub fn operation_key(&self, descriptor: &Descriptor) -> OperationKey {
        let mut mac = <Cmac<Aes128> as KeyInit>::new(&Array(self.0));
        mac.update(descriptor.as_bytes());
        let mut key = mac.finalize().into_bytes();
        let aes = Aes128::new(&key);
        key.as_mut_slice().zeroize();
        OperationKey { aes }
    }
}

/// K_op, scheduled. Its PRF inputs are unique by construction: a counter is used once, and
/// purpose, party and index name the value.
pub struct OperationKey {
    aes: Aes128,
}

/// PRF calls encrypted together, at least.
const CHUNK: usize = 256;

impl OperationKey {
    /// One value for each of many counters, at index 0: roots of consecutive keys.
    pub(crate) fn per_counter(&self, purpose: u8, party: Party, first: u64, out: &mut [Block]) {
        let inputs = (0..out.len() as u64).map(|i| (first.wrapping_add(i), 0));
        self.fill(purpose, party, inputs, out);
    }

    /// Group elements for each of many counters: `arity` elements a counter, whose blocks start
    /// at index `first_index`.
    pub(crate) fn elements(
        &self,
        (purpose, party): (u8, Party),
        (first, first_index): (u64, usize),
        (group, arity): (Group, usize),
        out: &mut [u128],
    ) {
        let (width, blocks) = (sample_bytes(group), blocks_per_element(group));
        // Many counters to a call of the cipher.
        let per_counter = blocks * arity;
        let counters = (CHUNK / per_counter).clamp(1, (out.len() / arity).max(1));
        let mut buffer = vec![Block::ZERO; per_counter * counters];
        let mut bytes = [0; MAX_SAMPLE_BYTES.next_multiple_of(12)];
        for (i, out) in out.chunks_mut(counters * arity).enumerate() {
            let first = first.wrapping_add((i * counters) as u64);
            let buffer = &mut buffer[..out.len() * blocks];
            // Indices fit 16 bits: `Request::new` refuses what does not.
            let index = |i: usize| (first_index + i % per_counter) as u16;
            let inputs = (0..buffer.len()).map(|i| (first.wrapping_add((i / per_counter) as u64), index(i)));
            self.fill(purpose, party, inputs, buffer);
            for (element, blocks) in out.iter_mut().zip(buffer.chunks_exact(blocks)) {
                for (bytes, block) in bytes.chunks_exact_mut(12).zip(blocks) {
                    bytes.copy_from_slice(&block.to_bytes()[..12]);
                }
                *element = group.reduce_bytes(&bytes[..width]);
            }
        }
        buffer.zeroize();
        bytes.zeroize();
    }

    fn fill(&self, purpose: u8, party: Party, inputs: impl Iterator<Item = (u64, u16)>, out: &mut [Block]) {
        let blocks: &mut [[u8; 16]] = bytemuck::cast_slice_mut(out);
        for (block, (counter, index)) in blocks.iter_mut().zip(inputs) {
            *block = prf_input(counter, purpose, party, index);
        }
        self.aes.encrypt_blocks(Array::cast_slice_from_core_mut(blocks));
        for block in out {
            // From memory image to integer: nothing to do on a little-endian machine.
            *block = Block::from_bytes(bytemuck::cast(*block));
        }
    }
}

fn prf_input(counter: u64, purpose: u8, party: Party, index: u16) -> [u8; 16] {
    let mut input = [0; 16];
    input[..8].copy_from_slice(&counter.to_le_bytes());
    input[12] = purpose;
    input[13] = party.number();
    input[14..].copy_from_slice(&index.to_le_bytes());
    input
}

/// PRF blocks that one sampled element takes: 96 bits of each block are used, and Z_m takes 64
/// bits more than its modulus.
pub(crate) const fn blocks_per_element(group: Group) -> usize {
    sample_bytes(group).div_ceil(12)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn key() -> OperationKey {
        RootKey::new([7; 16]).operation_key(&Descriptor::NONE)
    }

    #[test]
    fn every_part_of_the_input_matters() {
        let inputs = [
            (0, 0, Party::P0, 0),
            (1, 0, Party::P0, 0),
            (1 << 63, 0, Party::P0, 0),
            (0, 1, Party::P0, 0),
            (0, 0, Party::P1, 0),
            (0, 0, Party::P0, 1),
            (0, 0, Party::P0, 256),
        ]
        .map(|(counter, purpose, party, index)| prf_input(counter, purpose, party, index));
        for (i, a) in inputs.iter().enumerate() {
            for b in &inputs[i + 1..] {
                assert_ne!(a, b);
            }
        }
    }

    #[test]
    fn values_do_not_depend_on_how_a_range_is_cut() {
        let mut whole = [Block::ZERO; 200];
        key().per_counter(purpose::ROOT, Party::P1, 5, &mut whole);
        let mut part = [Block::ZERO; 70];
        key().per_counter(purpose::ROOT, Party::P1, 105, &mut part);
        for (a, b) in whole[100..170].iter().zip(&part) {
            assert_eq!(a.to_bytes(), b.to_bytes());
        }
        for group in [Group::ring(128).unwrap(), Group::xor(7).unwrap(), Group::modular(1 << 90).unwrap()] {
            let mut whole = vec![0; 60];
            key().elements((2, Party::P0), (9, 0), (group, 3), &mut whole);
            let mut part = vec![0; 30];
            key().elements((2, Party::P0), (14, 0), (group, 3), &mut part);
            assert_eq!(whole[15..45], part);
            assert!(whole.iter().all(|e| group.contains(*e)));
        }
    }

    #[test]
    fn descriptors_separate_operations() {
        let root = RootKey::new([7; 16]);
        let mut a = [Block::ZERO];
        let mut b = [Block::ZERO];
        root.operation_key(&Descriptor::NONE).per_counter(0, Party::P0, 0, &mut a);
        let other = Descriptor::of_correlation(32, Group::ring(1).unwrap(), 0);
        root.operation_key(&other).per_counter(0, Party::P0, 0, &mut b);
        assert_ne!(a[0].to_bytes(), b[0].to_bytes());
    }
}
