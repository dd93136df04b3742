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

pub(super) use {define_round, round};
