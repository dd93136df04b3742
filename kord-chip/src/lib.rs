//! kord-chip
mod kdf;
mod lifecycle;
mod random;
mod tier;

pub mod frame;

pub use lifecycle::Lifecycle;
pub use random::RandomError;
pub use tier::{Tier, UnknownTier};
