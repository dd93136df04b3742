//! The PRGs that grow a GGM tree.
//!
//! | PRG | definition | used by |
//! |---|---|---|
//! | [`FixedKeyMmo`] | `AES_K(s) ⊕ s` under 2 or 4 public fixed keys | KORD native, myl7/fss `Aes128Mmo` |
//! | [`SeedKeyedAes`] | `AES_s(i)`: the seed is the key | LLAMA (EzPC FSS and GPU-MPC) |
//! | [`ChaChaXor`] | ChaCha block, feed-forward by XOR | myl7/fss `ChaCha` |
//!
//! All take many seeds at once, because a GGM walk is serial and only independent walks fill
//! the AES unit. Seeds reach a PRG already clamped.

mod chacha;
mod fixed_key;
mod seed_keyed;

pub use chacha::ChaChaXor;
pub(crate) use fixed_key::mmo;
pub use fixed_key::{FixedKeyMmo, PrgKeys};
pub use seed_keyed::SeedKeyedAes;

use crate::block::Block;

/// A length-doubling (DPF) or length-quadrupling (DCF) PRG over many seeds at once.
///
/// # Panics
/// Every method panics if the slices it is given differ in length; callers are inside the crate
/// and size them together.
pub trait Prg: Send + Sync {
    /// Left and right child seeds: 2 blocks a seed.
    fn expand2(&self, seeds: &[Block], left: &mut [Block], right: &mut [Block]);

    /// `[s_L, v_L, s_R, v_R]`: child seeds and value blocks, 4 blocks a seed.
    fn expand4(&self, seeds: &[Block], out: [&mut [Block]; 4]);

    /// The child on side `right[j]` of `seeds[j]` in a two-output tree. `right` is public.
    fn child2(&self, seeds: &[Block], right: &[bool], child: &mut [Block]);

    /// Child and value block on side `right[j]` in a four-output tree. `right` is public.
    fn child4(&self, seeds: &[Block], right: &[bool], child: &mut [Block], value: &mut [Block]);
}
