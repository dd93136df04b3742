//! What a caller can get wrong about a key's shape or its values.

use thiserror::Error;

/// A parameter that describes no key, or a value outside the described domain.
///
/// Messages name the field and its bounds, never a secret value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Domain bits outside what the scheme or format supports.
    #[error("domain bits {bits} outside {min}..={max}")]
    DomainBits {
        /// What was asked.
        bits: u32,
        /// Least supported.
        min: u32,
        /// Most supported.
        max: u32,
    },
    /// Element bits of a ring or XOR group outside 1..=128.
    #[error("element bits {bits} outside 1..=128")]
    ElementBits {
        /// What was asked.
        bits: u32,
    },
    /// A modulus that gives no group.
    #[error("modulus {modulus} is below 2")]
    Modulus {
        /// What was asked.
        modulus: u128,
    },
    /// A payload of no elements, or of too many.
    #[error("payload of {arity} elements, must be 1..={max}")]
    Arity {
        /// What was asked.
        arity: u32,
        /// Most supported.
        max: u32,
    },
    /// Slices whose lengths do not fit together.
    #[error("{what}: {have} given, {want} needed")]
    Length {
        /// Which argument.
        what: &'static str,
        /// Its length.
        have: usize,
        /// The length that fits.
        want: usize,
    },
    /// A value at `index` outside its domain: an alpha of more than the domain bits, a beta that
    /// is no group element, an evaluation point outside the domain.
    #[error("{what} at index {index} is outside its domain")]
    OutOfDomain {
        /// Which argument.
        what: &'static str,
        /// Its position.
        index: usize,
    },
    /// Full-domain evaluation of a domain with more points than can be counted.
    #[error("full evaluation of {bits} domain bits, at most {max} can be")]
    FullDomainTooLarge {
        /// The key's domain bits.
        bits: u32,
        /// The most that is evaluated at once.
        max: u32,
    },
    /// The format cannot carry this key.
    #[error("{format} cannot carry {what}")]
    Unrepresentable {
        /// Which format.
        format: &'static str,
        /// What does not fit.
        what: &'static str,
    },
}

/// Bytes that are no valid key, header or file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Fewer or more bytes than the described object has.
    #[error("{what}: {have} bytes, {want} needed")]
    Length {
        /// Which object.
        what: &'static str,
        /// Bytes given.
        have: usize,
        /// Bytes needed.
        want: usize,
    },
    /// A field with a value that is not allowed there.
    #[error("{field}: {problem}")]
    Field {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The fields describe no key.
    #[error(transparent)]
    Spec(#[from] SpecError),
}
