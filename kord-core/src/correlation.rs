//! Correlations: shared randomness that needs no key, expanded from a common root.
//!
//! Share 0 comes from the PRF and share 1 is the correction, so a pair that holds one root makes
//! any number of them without a message (this project's extension, not in the paper).

use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::derive::{OperationKey, RootKey, purpose};
use crate::descriptor::Descriptor;
use crate::group::Group;
use crate::party::Party;
use crate::source::Label;

/// A kind of correlation, in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Correlation {
    /// Shares of random a, b and of a·b (AND for XOR strings).
    BeaverTriples(Group),
    /// Shares of one random bit.
    SharedBits(Group),
}

impl Correlation {
    /// The group that shares live in.
    #[must_use]
    pub const fn group(&self) -> Group {
        match self {
            Self::BeaverTriples(group) | Self::SharedBits(group) => *group,
        }
    }

    /// Elements in one share: 3 (a, b, a·b) or 1.
    #[must_use]
    pub const fn arity(&self) -> usize {
        match self {
            Self::BeaverTriples(_) => 3,
            Self::SharedBits(_) => 1,
        }
    }

    const fn number(&self) -> u8 {
        match self {
            Self::BeaverTriples(_) => 32,
            Self::SharedBits(_) => 33,
        }
    }

    /// The stream whose positions this kind consumes: one for each kind and group. The top bit
    /// is set, which keeps it apart from the small numbers that requests use.
    #[must_use]
    pub fn stream(&self) -> u64 {
        let unplaced = Descriptor::of_correlation(self.number(), self.group(), 0);
        let digest = Sha256::digest(unplaced.as_bytes());
        let mut low = [0; 8];
        low.copy_from_slice(&digest[..8]);
        u64::from_le_bytes(low) | 1 << 63
    }

    /// The descriptor of this kind.
    #[must_use]
    pub fn descriptor(&self) -> Descriptor {
        Descriptor::of_correlation(self.number(), self.group(), self.stream())
    }
}

/// This party's shares of consecutive correlations.
pub struct CorrelationChunk {
    /// Which positions these are.
    pub label: Label,
    /// Shares, [`Correlation::arity`] elements each: (a, b, a·b) or the bit.
    pub shares: Zeroizing<Vec<u128>>,
}

/// Expands a kind's correlations for one party.
pub struct Expander {
    kind: Correlation,
    party: Party,
    operation: OperationKey,
}

impl Expander {
    /// Correlations handed over at a time.
    pub const CHUNK: u64 = 4096;

    /// Keys the kind's operation under the common root key.
    #[must_use]
    pub fn new(root: &RootKey, kind: &Correlation, party: Party) -> Self {
        Self { kind: *kind, party, operation: root.operation_key(&kind.descriptor()) }
    }

    /// This party's shares of the `label.count` correlations at `label`.
    #[must_use]
    pub fn expand(&self, label: Label) -> CorrelationChunk {
        let shares = match self.kind {
            Correlation::BeaverTriples(group) => triples(&self.operation, group, self.party, label),
            Correlation::SharedBits(group) => shared_bits(&self.operation, group, self.party, label),
        };
        CorrelationChunk { label, shares }
    }
}

type Elements = Zeroizing<Vec<u128>>;

fn sample(operation: &OperationKey, group: Group, purpose: u8, party: Party, label: Label) -> Elements {
    let mut out = Zeroizing::new(vec![0; label.count as usize]);
    operation.elements((purpose, party), (label.first, 0), (group, 1), &mut out);
    out
}

fn triples(operation: &OperationKey, group: Group, party: Party, label: Label) -> Elements {
    let draw = |purpose, party| sample(operation, group, purpose, party, label);
    let (a, b) = (draw(purpose::TRIPLE_A, party), draw(purpose::TRIPLE_B, party));
    let mut c = draw(purpose::TRIPLE_C, Party::P0);
    if party == Party::P1 {
        let (a0, b0) = (draw(purpose::TRIPLE_A, Party::P0), draw(purpose::TRIPLE_B, Party::P0));
        for (j, c) in c.iter_mut().enumerate() {
            let product = group.mul(group.add(a0[j], a[j]), group.add(b0[j], b[j]));
            *c = group.sub(product, *c);
        }
    }
    let mut shares = Zeroizing::new(Vec::with_capacity(3 * a.len()));
    for ((a, b), c) in a.iter().zip(b.iter()).zip(c.iter()) {
        shares.extend_from_slice(&[*a, *b, *c]);
    }
    shares
}

fn shared_bits(operation: &OperationKey, group: Group, party: Party, label: Label) -> Elements {
    let mut shares = sample(operation, group, purpose::BIT_SHARE, Party::P0, label);
    if party == Party::P1 {
        let mut blocks = vec![crate::Block::ZERO; shares.len()];
        operation.per_counter(purpose::BIT, Party::P0, label.first, &mut blocks);
        for (share, block) in shares.iter_mut().zip(&blocks) {
            *share = group.sub(block.to_u128() & 1, *share);
        }
        blocks.zeroize();
    }
    shares
}
