//! What LLAMA's two code bases share: the DCF key, payloads, integer containers.

use zeroize::Zeroize;

use super::engine::{Engine, RootControl};
use super::wire::Reader;
use super::words::{StoredKey, StoredKeyMut};
use crate::block::Block;
use crate::convert::Convert;
use crate::error::{DecodeError, SpecError};
use crate::group::Group;
use crate::prg::SeedKeyedAes;
use crate::spec::Predicate;
use crate::tree::{CorrectionWord, CorrectionWords, Tree};

/// Most bits of a domain or an element: both are `uint64_t` there.
pub(super) const MAX_BITS: u8 = 64;

pub(super) const fn check_domain(bits: u8, min: u32) -> Result<(), SpecError> {
    if (bits as u32) < min || bits > MAX_BITS {
        return Err(SpecError::DomainBits { bits: bits as u32, min, max: MAX_BITS as u32 });
    }
    Ok(())
}

/// Z_2^bout, 1 ≤ bout ≤ 64.
pub(super) const fn output_group(format: &'static str, bits: u8) -> Result<Group, SpecError> {
    if bits > MAX_BITS {
        return Err(SpecError::Unrepresentable { format, what: "elements of more than 64 bits" });
    }
    Group::ring(bits)
}

/// Bytes of the smallest C integer that holds `bits` bits.
pub(super) const fn container(bits: u8) -> usize {
    match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

pub(super) fn put_integer(out: &mut Vec<u8>, value: u64, bits: u8) {
    out.extend_from_slice(&value.to_le_bytes()[..container(bits)]);
}

/// LLAMA's rule: element j is the integer at byte j·⌈bout/8⌉ of the block, or, where the elements
/// need more than 16 bytes, of the stream that AES makes with the block as its key.
pub(crate) struct LlamaConvert {
    group: Group,
    arity: usize,
    element_bytes: usize,
}

impl LlamaConvert {
    /// `bits`: bout, which places the elements. `group`: what they are reduced to.
    pub(crate) fn new(bits: u8, arity: u32, group: Group) -> Self {
        Self { group, arity: arity as usize, element_bytes: usize::from(bits.div_ceil(8)) }
    }

    fn read(&self, bytes: &[u8], out: &mut [u128]) {
        for (j, element) in out.iter_mut().enumerate() {
            let rest = &bytes[j * self.element_bytes..];
            *element = self.group.reduce_bytes(&rest[..rest.len().min(8)]);
        }
    }
}

impl Convert for LlamaConvert {
    fn group(&self) -> Group {
        self.group
    }

    fn arity(&self) -> usize {
        self.arity
    }

    fn convert(&self, block: Block, out: &mut [u128]) {
        let blocks = (self.element_bytes * self.arity).div_ceil(Block::BYTES);
        if blocks == 1 {
            let mut bytes = block.to_bytes();
            self.read(&bytes, out);
            bytes.zeroize();
            return;
        }
        let mut stream = vec![Block::ZERO; blocks];
        SeedKeyedAes::stream(block, 0, &mut stream);
        self.read(bytemuck::cast_slice(&stream), out);
        stream.zeroize();
    }
}

/// Gen or Eval of the DCF; `group` is what its arithmetic is reduced to.
pub(super) fn dcf_engine(domain_bits: u8, bits: u8, arity: u32, group: Group) -> Engine {
    Engine {
        prg: Box::new(SeedKeyedAes),
        convert: Box::new(LlamaConvert::new(bits, arity, group)),
        tree: |prg| Tree::clamped_at_bits_0_and_1(prg),
        root_control: RootControl::Block,
        domain_bits: usize::from(domain_bits),
        levels: usize::from(domain_bits),
        predicate: Some(Predicate::Lt),
    }
}

/// Party 1's root is kept; party 0's lowest bit becomes the other control bit.
pub(super) fn dcf_roots([root0, root1]: [Block; 2]) -> [Block; 2] {
    let control = !root1.to_u128() & 1;
    [Block::from_u128((root0.to_u128() & !1) | control), root1]
}

/// A level's block of a DCF key: the correction seed, t_L in bit 1, t_R in bit 0.
pub(crate) fn dcf_block(word: &CorrectionWord) -> Block {
    Block::from_u128(word.seed.to_u128() | u128::from(word.left << 1 | word.right))
}

/// Root and level blocks, final words, value words; integers in containers for `bits` bits.
pub(super) fn encode_dcf(key: &StoredKey<'_>, bits: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.root.to_bytes());
    for level in 0..key.seeds.len() {
        out.extend_from_slice(&dcf_block(&key.word(level)).to_bytes());
    }
    for element in key.last.iter().chain(key.values) {
        put_integer(out, *element as u64, bits);
    }
}

/// The inverse. `group`, if given, is what every integer must be an element of.
pub(super) fn decode_dcf(
    bytes: &mut Reader<'_>,
    bits: u8,
    group: Option<Group>,
    key: &mut StoredKeyMut<'_>,
) -> Result<(), DecodeError> {
    *key.root = bytes.block()?;
    for level in 0..key.seeds.len() {
        let block = bytes.block()?.to_u128();
        let (left, right) = ((block >> 1 & 1) as u8, (block & 1) as u8);
        key.put_word(level, &CorrectionWord { seed: Block::from_u128(block & !3), left, right });
    }
    for (field, elements) in [("g", &mut *key.last), ("v", &mut *key.values)] {
        for element in elements {
            *element = u128::from(bytes.integer(container(bits))?);
            if group.is_some_and(|g| !g.contains(*element)) {
                return Err(DecodeError::Field { field, problem: "not reduced modulo 2^bout" });
            }
        }
    }
    Ok(())
}
