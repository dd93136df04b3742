//! One party's native keys, packed back to back.

use core::fmt;

use zeroize::Zeroizing;

use crate::convert::NativeProfile;
use crate::error::{DecodeError, SpecError};
use crate::layout::{Layout, NativeKey};
use crate::party::Party;
use crate::secret_bytes::SecretBytes;
use crate::simd::{self, Backend, EvalJob};
use crate::spec::KeySpec;
use crate::tree::{self, Shape, TILE};

/// Keys of one party, `spec().key_bytes()` bytes each, zeroized on drop.
///
/// Neither `Clone` nor `Debug` with contents: a key is used once, so evaluating a batch consumes
/// it. A protocol that may evaluate a key again and again (PIR, tables) says so with
/// [`KeyBatch::into_reusable`].
pub struct KeyBatch {
    spec: KeySpec,
    party: Party,
    bytes: SecretBytes,
}

impl KeyBatch {
    pub(crate) const fn from_parts(spec: KeySpec, party: Party, bytes: SecretBytes) -> Self {
        Self { spec, party, bytes }
    }

    /// Keys from their native encoding, checked strictly.
    ///
    /// # Errors
    /// [`DecodeError`] if the length is no multiple of the key length, a root has its clamp bit
    /// set, t_R padding is not zero, or a payload word is no group element.
    pub fn from_bytes(spec: KeySpec, party: Party, bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let bytes = Zeroizing::new(bytes);
        let stride = spec.key_bytes();
        if !bytes.len().is_multiple_of(stride) {
            let want = bytes.len().next_multiple_of(stride);
            return Err(DecodeError::Length { what: "native keys", have: bytes.len(), want });
        }
        let batch = Self { spec, party, bytes: SecretBytes::copy_of(&bytes) };
        let layout = Layout::new(&spec);
        for key in batch.keys(layout) {
            key.check()?;
        }
        Ok(batch)
    }

    /// The shape of each key.
    #[must_use]
    pub const fn spec(&self) -> &KeySpec {
        &self.spec
    }

    /// Whose keys these are.
    #[must_use]
    pub const fn party(&self) -> Party {
        self.party
    }

    /// Keys in the batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.spec.key_bytes()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The native encoding, key after key. Secret.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Evaluates key j at `points[j·m .. (j+1)·m]`, m = `points.len() / len()`, and consumes the
    /// keys. A gate that needs several points of one key asks for them in this one call.
    ///
    /// Returns this party's additive (or XOR) shares, `arity` elements a point, points in order.
    ///
    /// # Errors
    /// [`SpecError::Length`] if the points are no whole multiple of the keys;
    /// [`SpecError::OutOfDomain`] for a point of more than the domain bits.
    pub fn evaluate(self, points: &[u64]) -> Result<Vec<u128>, SpecError> {
        self.eval(Backend::detect(), points)
    }

    /// Evaluates every key over its whole domain and consumes the keys. `visit` gets
    /// (key, first x, shares in order of x, `arity` elements a point), a bounded number of points
    /// at a time, so memory does not grow with the domain.
    pub fn evaluate_all(self, mut visit: impl FnMut(usize, u64, &[u128])) {
        self.eval_all(&mut visit);
    }

    /// Keys that may be evaluated any number of times, by explicit choice.
    ///
    /// Opening two masked inputs under one key's mask reveals their difference. This is for
    /// protocols whose points are not masked by alpha, such as PIR.
    #[must_use]
    pub const fn into_reusable(self) -> ReusableKeys {
        ReusableKeys(self)
    }

    fn keys(&self, layout: Layout) -> impl Iterator<Item = NativeKey<'_>> {
        let group = self.spec.group();
        self.bytes.chunks_exact(layout.key_bytes).map(move |bytes| NativeKey { layout, group, bytes })
    }

    fn shape(&self) -> Shape {
        let domain_bits = usize::from(self.spec.domain_bits());
        Shape { domain_bits, levels: domain_bits, values: self.spec.scheme().has_value_words() }
    }

    fn eval(&self, backend: Backend, points: &[u64]) -> Result<Vec<u128>, SpecError> {
        let count = self.len();
        if count == 0 && points.is_empty() {
            return Ok(Vec::new());
        }
        if count == 0 || points.is_empty() || !points.len().is_multiple_of(count) {
            let want = points.len().next_multiple_of(count.max(1)).max(count);
            return Err(SpecError::Length { what: "points", have: points.len(), want });
        }
        if let Some(index) = points.iter().position(|x| *x > self.spec.max_alpha()) {
            return Err(SpecError::OutOfDomain { what: "point", index });
        }
        let mut out = vec![0; points.len() * self.spec.arity() as usize];
        let job = EvalJob { spec: &self.spec, party: self.party, keys: &self.bytes, points, out: &mut out };
        if let Some(job) = simd::evaluate(backend, job) {
            self.eval_portable(job.points, job.out);
        }
        Ok(out)
    }

    /// Any payload. `points` are checked.
    fn eval_portable(&self, points: &[u64], out: &mut [u128]) {
        let per_key = points.len() / self.len();
        let profile = NativeProfile::new(&self.spec);
        let (tree, layout, shape) = (profile.tree(), Layout::new(&self.spec), self.shape());
        let arity = self.spec.arity() as usize;
        for (tile, (points, out)) in points.chunks(TILE).zip(out.chunks_mut(TILE * arity)).enumerate() {
            let key = |j: usize| {
                let start = (tile * TILE + j) / per_key * layout.key_bytes;
                let bytes = &self.bytes[start..start + layout.key_bytes];
                NativeKey { layout, group: self.spec.group(), bytes }
            };
            // Padded to a full tile so that nothing is allocated; only `points.len()` are used.
            let keys: [NativeKey<'_>; TILE] = core::array::from_fn(|j| key(j.min(points.len() - 1)));
            let walks: [_; TILE] =
                core::array::from_fn(|j| keys[j].walk(&tree, self.party, points[j.min(points.len() - 1)]));
            let n = points.len();
            tree::eval_points(&tree, &profile.convert, shape, self.party, &keys[..n], &walks[..n], out);
        }
    }

    fn eval_all(&self, visit: &mut dyn FnMut(usize, u64, &[u128])) {
        let profile = NativeProfile::new(&self.spec);
        let (tree, shape) = (profile.tree(), self.shape());
        for (j, key) in self.keys(Layout::new(&self.spec)).enumerate() {
            let root = key.walk(&tree, self.party, 0);
            let mut visit = |first: u64, shares: &[u128]| visit(j, first, shares);
            tree::eval_all(&tree, &profile.convert, shape, self.party, &key, root, &mut visit);
        }
    }
}

impl fmt::Debug for KeyBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys of {} ({}), contents hidden", self.len(), self.party, self.spec)
    }
}

/// Keys that may be evaluated more than once; see [`KeyBatch::into_reusable`].
#[derive(Debug)]
pub struct ReusableKeys(KeyBatch);

impl ReusableKeys {
    /// As [`KeyBatch::evaluate`], without consuming the keys.
    ///
    /// # Errors
    /// As [`KeyBatch::evaluate`].
    pub fn evaluate(&self, points: &[u64]) -> Result<Vec<u128>, SpecError> {
        self.0.eval(Backend::detect(), points)
    }

    /// As [`ReusableKeys::evaluate`] with a back end of the caller's choice, for tests and
    /// benchmarks. What that back end cannot do is left to the portable code.
    ///
    /// # Errors
    /// As [`KeyBatch::evaluate`].
    pub fn evaluate_with(&self, backend: Backend, points: &[u64]) -> Result<Vec<u128>, SpecError> {
        self.0.eval(backend, points)
    }

    /// As [`KeyBatch::evaluate_all`], without consuming the keys.
    pub fn evaluate_all(&self, mut visit: impl FnMut(usize, u64, &[u128])) {
        self.0.eval_all(&mut visit);
    }
}
