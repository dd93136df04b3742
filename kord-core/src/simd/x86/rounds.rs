//! The AES rounds of eight chains, in the order that keeps the unit busy.
//!
//! Assembly, because a compiler puts chain after chain to save registers, and each chain then
//! waits for its own latency. Here a round key is loaded once and used on four independent chains.

/// One round of the eight states under its two keys, as assembly text.
macro_rules! round {
    ($load:literal, $op:literal, $offset:literal) => {
        concat!(
            $load, " {kl}, [{left} + ", $offset, "]\n",
            $load, " {kr}, [{right} + ", $offset, "]\n",
            $op, " {a0}, {a0}, {kl}\n", $op, " {a1}, {a1}, {kl}\n",
            $op, " {b0}, {b0}, {kr}\n", $op, " {b1}, {b1}, {kr}\n",
            $op, " {c0}, {c0}, {kl}\n", $op, " {c1}, {c1}, {kl}\n",
            $op, " {d0}, {d0}, {kr}\n", $op, " {d1}, {d1}, {kr}\n",
        )
    };
}

/// Defines `eight`: rounds 1–10 of four pairs of whitened states, under `left`, `right`, `left`,
/// `right`. `$r` are the byte offsets of round keys 1–10.
macro_rules! define_eight {
    ($vector:ty, $class:ident, $features:literal, $load:literal, [$($r:literal)*], $last:literal) => {
        /// # Safety
        /// `left` and `right` point to 11 aligned round keys each.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn eight(
            [left, right]: [*const $vector; 2],
            [[mut a0, mut a1], [mut b0, mut b1], [mut c0, mut c1], [mut d0, mut d1]]: [[$vector; 2]; 4],
        ) -> [[$vector; 2]; 4] {
            // Typed, because an output discarded as `_` may print as a register of another kind.
            let (_key_left, _key_right): ($vector, $vector);
            // SAFETY: reads the two schedules and writes registers only; the instructions are
            // those of the target features.
            unsafe {
                core::arch::asm!(
                    $(round!($load, "vaesenc", $r),)*
                    round!($load, "vaesenclast", $last),
                    left = in(reg) left,
                    right = in(reg) right,
                    kl = out($class) _key_left,
                    kr = out($class) _key_right,
                    a0 = inout($class) a0, a1 = inout($class) a1,
                    b0 = inout($class) b0, b1 = inout($class) b1,
                    c0 = inout($class) c0, c1 = inout($class) c1,
                    d0 = inout($class) d0, d1 = inout($class) d1,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            [[a0, a1], [b0, b1], [c0, c1], [d0, d1]]
        }
    };
}

pub(super) use {define_eight, round};
