//! The demonstration: "which pixels of this photograph are at least as bright as the threshold?",
//! answered by two parties of which neither sees the photograph.
//!
//! 1. The photograph's owner splits each pixel x into x_0 + x_1 mod 256 and gives party b x_b.
//! 2. Each party draws a random mask share r_b for each pixel and asks its chip for a DCF key
//!    \[c < r\], r = r_0 + r_1 mod 256, with payload 1: one byte a key, one flight each way.
//! 3. Each sends x_b + r_b. Both now know x̂ = x + r, which says nothing about x. This is the
//!    only online round.
//! 4. Each evaluates its key twice a pixel and has a share of [x ≥ t] ([`crate::interval`]).
//! 5. The owner adds (XORs) the two result shares.
//!
//! The payload group is one bit under XOR: the answer is a bit that is only ever revealed, never
//! computed with, so a wider group would lengthen the keys (154 bytes here) for nothing. A
//! program that goes on with arithmetic would ask for Z_2^k.
//!
//! | module | what it holds |
//! |---|---|
//! | [`photo`] | the picture: load, split, save |
//! | [`protocol`] | steps 2 to 4 of one party, over any key source and channel |
//! | [`party`] | a party's process: its chip, its links, its measurements |
//! | [`event`] | what that process tells its parent |
//! | [`owner`] | the parent: starts both parties, splits, reconstructs, checks |
//! | [`report`] | the figures |

pub mod event;
pub mod owner;
pub mod party;
pub mod photo;
pub mod protocol;
pub mod report;
