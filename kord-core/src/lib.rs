//! Function secret sharing keys.
mod block;
pub mod channel;
mod convert;
pub mod correlation;
#[cfg(feature = "insecure-dealer")]
pub mod dealer;
mod derive;
mod descriptor;
pub mod engine;
mod error;
mod group;
mod key_batch;
pub mod key_file;
pub mod keygen;
mod layout;
mod party;
mod prg;
pub mod request;
#[cfg(feature = "serde")]
mod serde_impls;
pub mod source;
mod spec;
mod tree;

pub use block::Block;
pub use correlation::Correlation;
pub use derive::{OperationKey, RootKey};
pub use descriptor::Descriptor;
pub use error::{DecodeError, SpecError};
pub use group::{Group, GroupKind};
pub use key_batch::{KeyBatch, ReusableKeys};
pub use party::Party;
pub use prg::{ChaChaXor, FixedKeyMmo, Prg, PrgKeys, SeedKeyedAes};
pub use request::Request;
pub use source::{CorrelationSource, KeySource, Label};
pub use spec::{KeySpec, Predicate, Scheme};
