//! kord-chip
mod digest;
mod kdf;
mod lifecycle;
mod marks;
mod random;
mod tier;
mod version;

pub mod attest;
pub mod chip;
mod error;
pub mod frame;
pub mod host;
pub mod identity;
pub mod measurement;
pub mod pairing;
pub mod policy;
pub mod session;
pub mod soft;
pub mod store;

pub use digest::NotADigest;
pub use error::ChipError;
pub use lifecycle::Lifecycle;
pub use marks::{Mark, Marks, SessionStart};
pub use random::RandomError;
pub use soft::SoftChip;
pub use tier::{Tier, UnknownTier};
pub use version::{NotAVersion, PROTOCOL_VERSION, SoftwareVersion};
