//! DPF Gen: the walk of one tile.

use super::lanes::{Lanes, encrypt};
use super::path::{Path, PathKeys, Tile};
use super::slots::Slots;
use super::{GROUPS, REGS};

/// Walks a full tile, `GROUPS · REGS · BLOCKS` keys, and writes their correction seeds. While one
/// group's level is worked out, the AES rounds of the other fill the unit.
#[inline(always)]
pub(super) fn walk<L: Lanes>(
    cpu: L::Cpu,
    keys: &PathKeys<L>,
    levels: usize,
    tile: &mut Tile,
    slots: &mut Slots<'_>,
) {
    let mut paths: [Path<L>; GROUPS] =
        core::array::from_fn(|g| Path::new(cpu, tile, g * REGS * L::BLOCKS));
    let aes = [&keys.left, &keys.right, &keys.left, &keys.right];
    for level in 0..levels {
        for (g, path) in paths.iter_mut().enumerate() {
            let mut e = path.whiten(keys);
            encrypt(aes, &mut e);
            for r in 0..REGS {
                let a = path.next_alpha(r);
                let word = path.step(keys, r, a, &e);
                slots.put((g * REGS + r) * L::BLOCKS, 16 + 16 * level, word);
            }
        }
    }
    for (g, path) in paths.into_iter().enumerate() {
        path.finish(keys, tile, g * REGS * L::BLOCKS);
    }
}
