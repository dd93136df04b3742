//! Function secret sharing keys.
mod block;
pub mod channel;
mod error;
mod group;
mod party;
mod prg;
mod spec;

pub use block::Block;
pub use error::{DecodeError, SpecError};
pub use group::{Group, GroupKind};
pub use party::Party;
pub use prg::{ChaChaXor, FixedKeyMmo, Prg, PrgKeys, SeedKeyedAes};
pub use spec::{KeySpec, Predicate, Scheme};
