//! The AES rounds of eight chains.
//!
//! Assembly, so that instructions stay in the order in which they are written. Zen 4 begins one
//! 512-bit round a cycle and one other vector operation beside it, if the two kinds come mixed: a
//! clump of arithmetic fills the scheduler's queue and the AES unit runs dry behind it. A compiler
//! makes such clumps, and also puts chain after chain to save registers.

/// One round of the eight states as assembly text: each key is loaded once for four chains.
macro_rules! round {
    ($load:literal, $op:literal) => {
        concat!(
            $load,
            " {kl}, [{left} + {offset}]\n",
            $load,
            " {kr}, [{right} + {offset}]\n",
            $op,
            " {a0}, {a0}, {kl}\n",
            $op,
            " {a1}, {a1}, {kl}\n",
            $op,
            " {b0}, {b0}, {kr}\n",
            $op,
            " {b1}, {b1}, {kr}\n",
            $op,
            " {c0}, {c0}, {kl}\n",
            $op,
            " {c1}, {c1}, {kl}\n",
            $op,
            " {d0}, {d0}, {kr}\n",
            $op,
            " {d1}, {d1}, {kr}\n",
        )
    };
}

/// Defines `$name::<R>`: round R of four pairs of states, under `left`, `right`, `left`, `right`.
macro_rules! define_round {
    ($name:ident, $vector:ty, $class:ident, $features:literal, $load:literal, $op:literal) => {
        /// # Safety
        /// `left` and `right` point to 11 aligned round keys each.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn $name<const R: usize>(
            [left, right]: [*const $vector; 2],
            states: [[$vector; 2]; 4],
        ) -> [[$vector; 2]; 4] {
            let [[mut a0, mut a1], [mut b0, mut b1], [mut c0, mut c1], [mut d0, mut d1]] = states;
            // Typed, because an output discarded as `_` may print as a register of another kind.
            let (_key_left, _key_right): ($vector, $vector);
            // SAFETY: reads the two schedules and writes registers only; the instructions are
            // those of the target features. Not `pure`, so that it keeps its place.
            unsafe {
                core::arch::asm!(
                    round!($load, $op),
                    left = in(reg) left,
                    right = in(reg) right,
                    offset = const R * size_of::<$vector>(),
                    kl = out($class) _key_left,
                    kr = out($class) _key_right,
                    a0 = inout($class) a0, a1 = inout($class) a1,
                    b0 = inout($class) b0, b1 = inout($class) b1,
                    c0 = inout($class) c0, c1 = inout($class) c1,
                    d0 = inout($class) d0, d1 = inout($class) d1,
                    options(readonly, nostack, preserves_flags),
                );
            }
            [[a0, a1], [b0, b1], [c0, c1], [d0, d1]]
        }
    };
}

/// Defines `$name::<R>`: round R of eight states, each under the schedule that its pointer names.
/// The keys come straight from memory: they are different for every register.
macro_rules! define_round_each {
    ($name:ident, $vector:ty, $class:ident, $features:literal, $op:literal) => {
        /// # Safety
        /// Each of `keys` points to 11 aligned round keys.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn $name<const R: usize>(keys: [*const $vector; 8], states: [$vector; 8]) -> [$vector; 8] {
            let [k0, k1, k2, k3, k4, k5, k6, k7] = keys;
            let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5, mut s6, mut s7] = states;
            // SAFETY: reads the schedules and writes registers only; the instructions are those of
            // the target features. Not `pure`, so that it keeps its place.
            unsafe {
                core::arch::asm!(
                    concat!($op, " {s0}, {s0}, [{k0} + {offset}]"),
                    concat!($op, " {s1}, {s1}, [{k1} + {offset}]"),
                    concat!($op, " {s2}, {s2}, [{k2} + {offset}]"),
                    concat!($op, " {s3}, {s3}, [{k3} + {offset}]"),
                    concat!($op, " {s4}, {s4}, [{k4} + {offset}]"),
                    concat!($op, " {s5}, {s5}, [{k5} + {offset}]"),
                    concat!($op, " {s6}, {s6}, [{k6} + {offset}]"),
                    concat!($op, " {s7}, {s7}, [{k7} + {offset}]"),
                    offset = const R * size_of::<$vector>(),
                    k0 = in(reg) k0, k1 = in(reg) k1, k2 = in(reg) k2, k3 = in(reg) k3,
                    k4 = in(reg) k4, k5 = in(reg) k5, k6 = in(reg) k6, k7 = in(reg) k7,
                    s0 = inout($class) s0, s1 = inout($class) s1,
                    s2 = inout($class) s2, s3 = inout($class) s3,
                    s4 = inout($class) s4, s5 = inout($class) s5,
                    s6 = inout($class) s6, s7 = inout($class) s7,
                    options(readonly, nostack, preserves_flags),
                );
            }
            [s0, s1, s2, s3, s4, s5, s6, s7]
        }
    };
}

pub(super) use {define_round, define_round_each, round};
