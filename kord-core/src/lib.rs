//! Function secret sharing keys.
mod block;
pub mod channel;
mod convert;
mod error;
mod group;
mod key_batch;
pub mod key_file;
pub mod keygen;
mod layout;
mod party;
mod prg;
mod spec;
mod tree;

pub use block::Block;
pub use error::{DecodeError, SpecError};
pub use group::{Group, GroupKind};
pub use key_batch::{KeyBatch, ReusableKeys};
pub use party::Party;
pub use prg::{ChaChaXor, FixedKeyMmo, Prg, PrgKeys, SeedKeyedAes};
pub use spec::{KeySpec, Predicate, Scheme};
