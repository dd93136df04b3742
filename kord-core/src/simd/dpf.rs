//! DPF Gen: the walk of one tile.

use super::REGS;
use super::lanes::{Lanes, encrypt};
use super::path::{Inputs, Path, PathKeys, Step};
use super::slots::Slots;

/// Groups in a tile: one's level is worked out between the AES rounds of the other.
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
    let (mut a_states, mut b_states) = (a.whiten(keys), b.whiten(keys));
    encrypt(&keys.left, &keys.right, &mut a_states, &mut ());
    for level in 0..inputs.levels - 1 {
        // SAFETY: the tile's shape is checked above, and both groups lie in it.
        let mut step = unsafe { Step::new(keys, &mut a, slots, (0, level), &mut a_states) };
        encrypt(&keys.left, &keys.right, &mut b_states, &mut step);
        // SAFETY: as before.
        let mut step = unsafe { Step::new(keys, &mut b, slots, (second, level), &mut b_states) };
        encrypt(&keys.left, &keys.right, &mut a_states, &mut step);
    }
    let last = inputs.levels - 1;
    // SAFETY: as before.
    let mut step = unsafe { Step::new(keys, &mut a, slots, (0, last), &mut a_states) };
    encrypt(&keys.left, &keys.right, &mut b_states, &mut step);
    // SAFETY: as before.
    unsafe { Step::new(keys, &mut b, slots, (second, last), &mut b_states) }.run();
    [a, b]
}
