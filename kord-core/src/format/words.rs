//! The correction words of many keys in memory, the same for every format.

use zeroize::Zeroizing;

use crate::block::Block;
use crate::tree::{CorrectionWord, CorrectionWords};

/// How many words of each kind a key has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dims {
    pub(crate) levels: usize,
    /// Elements of a value word or final word.
    pub(crate) arity: usize,
    /// Whether every level has a value word.
    pub(crate) values: bool,
}

impl Dims {
    const fn value_elements(self) -> usize {
        if self.values { self.levels * self.arity } else { 0 }
    }
}

/// Keys of one party, part by part. All of it is secret and zeroized on drop.
#[derive(Clone)]
pub(crate) struct Words {
    dims: Dims,
    /// As the format publishes them, control bits included.
    pub(crate) roots: Zeroizing<Vec<Block>>,
    seeds: Zeroizing<Vec<Block>>,
    /// Each level's t_L in bit 1 and t_R in bit 0.
    controls: Zeroizing<Vec<u8>>,
    values: Zeroizing<Vec<u128>>,
    /// Final words.
    pub(crate) finals: Zeroizing<Vec<u128>>,
}

impl Words {
    pub(crate) fn zeroed(dims: Dims, count: usize) -> Self {
        Self {
            dims,
            roots: Zeroizing::new(vec![Block::ZERO; count]),
            seeds: Zeroizing::new(vec![Block::ZERO; count * dims.levels]),
            controls: Zeroizing::new(vec![0; count * dims.levels]),
            values: Zeroizing::new(vec![0; count * dims.value_elements()]),
            finals: Zeroizing::new(vec![0; count * dims.arity]),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.roots.len()
    }

    pub(crate) fn key(&self, j: usize) -> StoredKey<'_> {
        let Dims { levels, arity, .. } = self.dims;
        let values = self.dims.value_elements();
        StoredKey {
            root: self.roots[j],
            seeds: &self.seeds[j * levels..][..levels],
            controls: &self.controls[j * levels..][..levels],
            values: &self.values[j * values..][..values],
            last: &self.finals[j * arity..][..arity],
        }
    }

    pub(crate) fn key_mut(&mut self, j: usize) -> StoredKeyMut<'_> {
        let Dims { levels, arity, .. } = self.dims;
        let values = self.dims.value_elements();
        StoredKeyMut {
            root: &mut self.roots[j],
            seeds: &mut self.seeds[j * levels..][..levels],
            controls: &mut self.controls[j * levels..][..levels],
            values: &mut self.values[j * values..][..values],
            last: &mut self.finals[j * arity..][..arity],
        }
    }

    /// Writes what one level of a walk emits; `value` is empty in a DPF.
    pub(crate) fn put(&mut self, j: usize, level: usize, word: &CorrectionWord, value: &[u128]) {
        let mut key = self.key_mut(j);
        key.put_word(level, word);
        key.values[level * value.len()..][..value.len()].copy_from_slice(value);
    }
}

/// One key, read in place.
#[derive(Clone, Copy)]
pub struct StoredKey<'a> {
    pub(crate) root: Block,
    pub(crate) seeds: &'a [Block],
    pub(crate) controls: &'a [u8],
    pub(crate) values: &'a [u128],
    pub(crate) last: &'a [u128],
}

impl CorrectionWords for StoredKey<'_> {
    fn word(&self, level: usize) -> CorrectionWord {
        let controls = self.controls[level];
        CorrectionWord { seed: self.seeds[level], left: controls >> 1, right: controls & 1 }
    }

    fn value(&self, level: usize, out: &mut [u128]) {
        out.copy_from_slice(&self.values[level * out.len()..][..out.len()]);
    }

    fn final_word(&self, out: &mut [u128]) {
        out.copy_from_slice(self.last);
    }
}

/// One key, written in place.
pub struct StoredKeyMut<'a> {
    pub(crate) root: &'a mut Block,
    pub(crate) seeds: &'a mut [Block],
    pub(crate) controls: &'a mut [u8],
    pub(crate) values: &'a mut [u128],
    pub(crate) last: &'a mut [u128],
}

impl StoredKeyMut<'_> {
    pub(crate) fn put_word(&mut self, level: usize, word: &CorrectionWord) {
        self.seeds[level] = word.seed;
        self.controls[level] = word.left << 1 | word.right;
    }
}
