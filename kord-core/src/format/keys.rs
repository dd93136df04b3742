//! One party's keys in a format.

use core::fmt;

use zeroize::Zeroizing;

use super::KeyFormat;
use super::wire::Reader;
use super::words::Words;
use crate::error::{DecodeError, SpecError};
use crate::party::Party;

/// Keys of one party in another library's format, zeroized on drop.
///
/// As with [`crate::KeyBatch`], a key is used once, so evaluating consumes the keys; a protocol
/// that evaluates them again and again says so with [`Keys::into_reusable`].
pub struct Keys<F> {
    format: F,
    party: Party,
    words: Words,
}

impl<F: KeyFormat> Keys<F> {
    pub(crate) const fn from_parts(format: F, party: Party, words: Words) -> Self {
        Self { format, party, words }
    }

    pub(crate) const fn words(&self) -> &Words {
        &self.words
    }

    /// Keys from their encoding, back to back. Lengths come from `format`, nothing in the bytes
    /// says them; whatever [`Keys::encode`] cannot have written is refused.
    ///
    /// # Errors
    /// [`DecodeError::Length`] unless the bytes are a whole number of keys;
    /// [`DecodeError::Field`] for a field with bits that the format leaves zero, an element outside
    /// the group, or a wrong sentinel.
    pub fn decode(format: F, party: Party, bytes: &[u8]) -> Result<Self, DecodeError> {
        let stride = format.key_bytes();
        if !bytes.len().is_multiple_of(stride) {
            let want = bytes.len().next_multiple_of(stride);
            return Err(DecodeError::Length { what: format.name(), have: bytes.len(), want });
        }
        let mut words = Words::zeroed(format.generator().dims(), bytes.len() / stride);
        for (j, bytes) in bytes.chunks_exact(stride).enumerate() {
            format.decode(&mut Reader::new(bytes), &mut words.key_mut(j))?;
        }
        Ok(Self { format, party, words })
    }

    /// The keys as the library writes them, back to back. Secret.
    #[must_use]
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(Vec::with_capacity(self.len() * self.format.key_bytes()));
        for j in 0..self.len() {
            self.format.encode(&self.words.key(j), &mut out);
        }
        out
    }

    /// The shape of each key.
    #[must_use]
    pub const fn format(&self) -> &F {
        &self.format
    }

    /// Whose keys these are.
    #[must_use]
    pub const fn party(&self) -> Party {
        self.party
    }

    /// Keys in the batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Evaluates key j at `points[j·m .. (j+1)·m]`, m = `points.len() / len()`, and consumes the
    /// keys. Returns this party's shares, `arity` elements a point, points in order.
    ///
    /// # Errors
    /// [`SpecError::Length`] if the points are no whole multiple of the keys;
    /// [`SpecError::OutOfDomain`] for a point of more than the domain bits.
    pub fn evaluate(self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.into_reusable().evaluate(points)
    }

    /// Evaluates every key over its whole domain and consumes the keys. `visit` gets
    /// (key, first x, shares in order of x, `arity` elements a point), a bounded number of points
    /// at a time.
    ///
    /// # Errors
    /// [`SpecError::FullDomainTooLarge`] for domains of more than 64 bits.
    pub fn evaluate_all(self, visit: impl FnMut(usize, u64, &[u128])) -> Result<(), SpecError> {
        self.into_reusable().evaluate_all(visit)
    }

    /// Keys that may be evaluated any number of times, by explicit choice.
    ///
    /// Opening two masked inputs under one key's mask reveals their difference. This is for
    /// protocols whose points are not masked by alpha, such as PIR.
    #[must_use]
    pub const fn into_reusable(self) -> ReusableKeys<F> {
        ReusableKeys(self)
    }
}

impl<F: KeyFormat> fmt::Debug for Keys<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys of {} ({:?}), contents hidden", self.len(), self.party, self.format)
    }
}

/// Keys that may be evaluated more than once; see [`Keys::into_reusable`].
#[derive(Debug)]
pub struct ReusableKeys<F: KeyFormat>(Keys<F>);

/// Domains above this many bits have more points than a `u64` counts.
const MAX_FULL_DOMAIN_BITS: u32 = 64;

impl<F: KeyFormat> ReusableKeys<F> {
    pub(crate) const fn keys(&self) -> &Keys<F> {
        &self.0
    }

    /// As [`Keys::evaluate`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate(&self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.check(points)?;
        Ok(self.0.format.evaluator().evaluate(self.0.party, &self.0.words, points))
    }

    /// As [`Keys::evaluate_all`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate_all`].
    pub fn evaluate_all(&self, mut visit: impl FnMut(usize, u64, &[u128])) -> Result<(), SpecError> {
        let bits = u32::from(self.0.format.domain_bits());
        if bits > MAX_FULL_DOMAIN_BITS {
            return Err(SpecError::FullDomainTooLarge { bits, max: MAX_FULL_DOMAIN_BITS });
        }
        let engine = self.0.format.evaluator();
        for j in 0..self.0.len() {
            let mut visit = |first: u64, shares: &[u128]| visit(j, first, shares);
            engine.evaluate_all(self.0.party, &self.0.words.key(j), &mut visit);
        }
        Ok(())
    }

    /// Refuses points that do not fit the keys.
    pub(crate) fn check(&self, points: &[u128]) -> Result<(), SpecError> {
        let count = self.0.len();
        let fits = if count == 0 {
            points.is_empty()
        } else {
            !points.is_empty() && points.len().is_multiple_of(count)
        };
        if !fits {
            let want = points.len().next_multiple_of(count.max(1)).max(count);
            let want = if count == 0 { 0 } else { want };
            return Err(SpecError::Length { what: "points", have: points.len(), want });
        }
        let max = self.0.format.max_alpha();
        match points.iter().position(|x| *x > max) {
            Some(index) => Err(SpecError::OutOfDomain { what: "point", index }),
            None => Ok(()),
        }
    }
}
