//! The bare AES unit: what the kernels are measured against.

use core::hint::black_box;

use super::lanes::{Lanes, Schedule, encrypt};

/// Registers in flight: enough to hide the latency of a round at two rounds a cycle.
const CHAINS: usize = 12;

/// Encrypts `CHAINS · BLOCKS` blocks, `times` over, in registers. Returns the blocks encrypted.
#[inline(always)]
pub(super) fn blocks<L: Lanes>(cpu: L::Cpu, rounds: &[u128; 11], times: u64) -> u64 {
    let schedule = Schedule::<L>::splat(cpu, rounds);
    let mut states = [[L::splat(cpu, black_box(1)); CHAINS]];
    for i in 0..CHAINS {
        states[0][i] = L::splat(cpu, black_box(i as u128));
    }
    for _ in 0..times {
        for state in &mut states[0] {
            *state = state.xor(schedule.0[0]);
        }
        encrypt([&schedule], &mut states);
    }
    let mut sum = states[0][0];
    for state in &states[0] {
        sum = sum.xor(*state);
    }
    black_box(sum);
    times * (CHAINS * L::BLOCKS) as u64
}
