//! Requests that describe no batch.

use thiserror::Error;

/// Why a request is refused before anything happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A batch of no elements.
    #[error("count: a batch has at least one element")]
    EmptyBatch,
    /// No parts, or more than a part index can name.
    #[error("parts: {parts} given, must be 1..=255")]
    Parts {
        /// What was given.
        parts: usize,
    },
    /// Mask bits outside 1..=64.
    #[error("mask bits: {bits} outside 1..=64")]
    MaskBits {
        /// What was given.
        bits: u8,
    },
    /// A mask modulus that does not have the mask's bits.
    #[error("mask modulus: {modulus} is not a modulus of {bits} bits")]
    MaskModulus {
        /// The modulus.
        modulus: u64,
        /// The mask's bits.
        bits: u8,
    },
    /// A key with more domain bits than the mask has.
    #[error("part {part}, domain bits: {bits} exceed the mask's {mask_bits}")]
    PartDomain {
        /// Index of the part.
        part: usize,
        /// Domain bits of the key.
        bits: u8,
        /// Bits of the mask.
        mask_bits: u8,
    },
    /// A payload rule that fixes another arity than the key has.
    #[error("part {part}, arity: {arity}, but its payload has {want} elements")]
    PartArity {
        /// Index of the part.
        part: usize,
        /// Arity of the key.
        arity: u32,
        /// Elements of the payload.
        want: u32,
    },
    /// A shift that leaves nothing of the mask.
    #[error("part {part}, shift: {shift} is not below the mask's {mask_bits} bits")]
    Shift {
        /// Index of the part.
        part: usize,
        /// The shift.
        shift: u8,
        /// Bits of the mask.
        mask_bits: u8,
    },
    /// Derived payloads beyond what one PRF index can number.
    #[error("derived payloads of one element take more than 2^16 PRF blocks")]
    DerivedPayloadTooLarge,
}
