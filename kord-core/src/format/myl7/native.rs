//! Conversion between myl7/fss keys and native keys.

use zeroize::Zeroizing;

use super::{Output, Prg, Spec};
use crate::error::SpecError;
use crate::format::words::Words;
use crate::format::{Internals, Keys};
use crate::group::GroupKind;
use crate::key_batch::KeyBatch;
use crate::layout::{Layout, NativeKey};
use crate::prg::PrgKeys;
use crate::secret_bytes::SecretBytes;
use crate::spec::{KeySpec, Scheme};
use crate::tree::CorrectionWords;

/// The widest element whose bytes both formats read alike from a block.
const MAX_SHARED_BITS: u8 = 64;

impl Spec {
    /// The description under which [`Keys::from_native`] gives native keys: `Uint<T, 2^k>` with the
    /// smallest T, and K_0, K_1 = S_L, S_R for a DPF (K_2, K_3 = V_L, V_R are not used);
    /// K_0 … K_3 = S_L, V_L, S_R, V_R for a DCF.
    ///
    /// # Errors
    /// [`SpecError::Unrepresentable`] unless payloads are one element of Z_2^k, k ≤ 64.
    pub fn of_native(native: &KeySpec) -> Result<Self, SpecError> {
        let refuse = |what| Err(SpecError::Unrepresentable { format: "myl7/fss", what });
        let group = native.group();
        if native.arity() != 1 {
            return refuse("payloads of several native elements");
        }
        if group.kind() != GroupKind::Ring {
            return refuse("native elements other than integers modulo 2^k");
        }
        if group.bits() > MAX_SHARED_BITS {
            return refuse("native elements of more than 64 bits");
        }
        let PrgKeys { seed_left, seed_right, value_left, value_right, .. } = *native.prg_keys();
        let keys = match native.scheme() {
            Scheme::Dpf => [seed_left, seed_right, value_left, value_right],
            Scheme::Dcf(_) => [seed_left, value_left, seed_right, value_right],
        };
        let output = Output::ring(group.bits())?;
        Self::new(native.scheme(), native.domain_bits(), output, Prg::Aes128Mmo(keys))
    }

    /// The native description of the same keys. `keys` are the native PRG keys, of which a myl7
    /// key knows only a part.
    ///
    /// # Errors
    /// [`SpecError::Unrepresentable`] unless the PRG is AES-128 MMO under the seed keys (DCF: and
    /// value keys) of `keys`, and the output is an integer modulo 2^k, k ≤ 64;
    /// [`SpecError::DomainBits`] for more than 64 domain bits.
    pub fn to_native(&self, keys: &PrgKeys) -> Result<KeySpec, SpecError> {
        let refuse = |what| Err(SpecError::Unrepresentable { format: "the native format", what });
        let Prg::Aes128Mmo(own) = self.prg else {
            return refuse("keys of another PRG than AES-128 MMO");
        };
        let own = super::prg_keys(self.scheme, &own);
        let seeds = (own.seed_left, own.seed_right) == (keys.seed_left, keys.seed_right);
        let values = (own.value_left, own.value_right) == (keys.value_left, keys.value_right);
        if !seeds || (self.scheme.has_value_words() && !values) {
            return refuse("keys made under other PRG keys than those given");
        }
        let group = self.output.group();
        if group.kind() != GroupKind::Ring || group.bits() > MAX_SHARED_BITS {
            return refuse("myl7/fss outputs other than integers modulo 2^k, k at most 64");
        }
        Ok(KeySpec::new(self.scheme, self.domain_bits, group)?.with_prg_keys(*keys))
    }
}

impl Keys<Spec> {
    /// Native keys in the myl7/fss format: same values, other packing.
    ///
    /// # Errors
    /// As [`Spec::of_native`], which tells beforehand.
    pub fn from_native(native: KeyBatch) -> Result<Self, SpecError> {
        let spec = Spec::of_native(native.spec())?;
        let (group, layout) = (native.spec().group(), Layout::new(native.spec()));
        let mut words = Words::zeroed(spec.generator().dims(), native.len());
        for (j, bytes) in native.as_bytes().chunks_exact(layout.key_bytes).enumerate() {
            let source = NativeKey { layout, group, bytes };
            let mut key = words.key_mut(j);
            *key.root = source.root();
            for level in 0..layout.domain_bits {
                key.put_word(level, &source.word(level));
                if spec.scheme.has_value_words() {
                    source.value(level, &mut key.values[level..=level]);
                }
            }
            source.final_word(key.last);
        }
        Ok(Self::from_parts(spec, native.party(), words))
    }

    /// The native keys with the same values; see [`Spec::to_native`] for `keys`. The clamp bit of
    /// a root seed, which means nothing in either format, becomes zero.
    ///
    /// # Errors
    /// As [`Spec::to_native`], which tells beforehand.
    pub fn into_native(self, keys: &PrgKeys) -> Result<KeyBatch, SpecError> {
        let spec = self.format().to_native(keys)?;
        let (group, layout) = (spec.group(), Layout::new(&spec));
        let engine = self.format().generator();
        let tree = engine.tree();
        let mut bytes = Zeroizing::new(vec![0; self.len() * layout.key_bytes]);
        for (j, key) in bytes.chunks_exact_mut(layout.key_bytes).enumerate() {
            let source = self.words().key(j);
            key[..16].copy_from_slice(&tree.seed(source.root).to_bytes());
            for level in 0..layout.domain_bits {
                layout.put_word(key, &tree, level, &source.word(level));
                if let Some(value) = source.values.get(level) {
                    layout.put_value(key, level, group, core::slice::from_ref(value));
                }
            }
            layout.put_final(key, group, source.last);
        }
        Ok(KeyBatch::from_parts(spec, self.party(), SecretBytes::copy_of(&bytes)))
    }
}
