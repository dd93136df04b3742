//! DPF Gen: the walk of one tile.

use super::REGS;
use super::lanes::Lanes;
use super::path::{Inputs, Path, PathKeys};
use super::slots::Slots;

/// Groups in a tile: while one's level is worked out, the AES rounds of the other fill the unit.
pub(super) const GROUPS: usize = 2;

/// Keys in a tile.
pub(super) const fn tile<L: Lanes>() -> usize {
    GROUPS * REGS * L::BLOCKS
}

/// Walks a full tile and writes its correction seeds. Returns the leaves.
#[inline(always)]
pub(super) fn walk<L: Lanes>(
    cpu: L::Cpu,
    keys: &PathKeys<L>,
    inputs: &Inputs<'_>,
    slots: &mut Slots<'_>,
) -> [Path<L>; GROUPS] {
    slots.check(tile::<L>(), inputs.levels);
    let second = REGS * L::BLOCKS;
    let mut a = Path::new(cpu, keys, inputs, 0);
    let mut b = Path::new(cpu, keys, inputs, second);
    for level in 0..inputs.levels {
        // SAFETY: the tile's shape is checked above, and both groups lie in it.
        unsafe {
            advance(keys, &mut a, 0, level, slots);
            advance(keys, &mut b, second, level, slots);
        }
    }
    [a, b]
}

/// One level of one group, whose first key is `first`.
///
/// # Safety
/// The group's keys lie in `slots` and have more than `level` correction seeds.
#[inline(always)]
unsafe fn advance<L: Lanes>(
    keys: &PathKeys<L>,
    path: &mut Path<L>,
    first: usize,
    level: usize,
    slots: &mut Slots<'_>,
) {
    let mut e = path.whiten(keys);
    L::encrypt(&keys.left, &keys.right, &mut e);
    for r in 0..REGS {
        let a = path.next_alpha(r);
        let word = path.step(keys, r, a, &e);
        // SAFETY: as the caller vouches.
        unsafe { slots.put(first + r * L::BLOCKS, level.wrapping_mul(16).wrapping_add(16), word) }
    }
}
