//! The bare AES unit: what the kernels are measured against.

use core::hint::black_box;

use super::lanes::{Lanes, Schedule, encrypt};

/// Encrypts 8 · `BLOCKS` blocks, `times` over, in registers, with the kernels' own rounds. Returns
/// the blocks encrypted.
#[inline(always)]
pub(super) fn blocks<L: Lanes>(cpu: L::Cpu, rounds: &[u128; 11], times: u64) -> u64 {
    let schedule = Schedule::<L>::splat(cpu, rounds);
    let mut states = [[L::splat(cpu, black_box(1)); 2]; 4];
    for _ in 0..times {
        for state in states.as_flattened_mut() {
            *state = state.xor(schedule.0[0]);
        }
        encrypt(&schedule, &schedule, &mut states, &mut ());
    }
    let mut sum = states[0][0];
    for state in states.as_flattened() {
        sum = sum.xor(*state);
    }
    black_box(sum);
    times * (8 * L::BLOCKS) as u64
}
