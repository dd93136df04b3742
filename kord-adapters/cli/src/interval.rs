//! Membership of a secret value in public intervals: one DCF key a value, two evaluations an
//! interval.
//!
//! x is shared additively modulo N = 2^n under a mask r, and x̂ = x + r is public. The parties
//! hold a DCF key D(c) = \[c < r\], made from shares of r. Then x lies in the cyclic interval
//! \[p, q\] exactly when r lies in \[a, b\] = \[x̂ − q, x̂ − p\] modulo N, and
//!
//! ```text
//! a ≤ b :  [a ≤ r] − D(b)          where [a ≤ r] = 1 if a = 0, else D(a − 1)
//! a > b :  D(a − 1) + 1 − D(b)
//! ```
//!
//! Both lines are D(a − 1) − D(b), plus 1 where a = 0 or a > b: for a = 0 the point a − 1 wraps
//! to N − 1, where D is 0. "1" is party 0's share 1 and party 1's share 0. Source: Boyle et al.,
//! EUROCRYPT 2021 (interval containment from one DCF); `design/gates.md` of this project.
//!
//! # Security
//! Everything here is public except the keys and the shares that come out. A mask may be opened
//! once: evaluating consumes the keys, however many intervals are asked of them.

use kord_core::request::{KeyPart, Part, Payload};
use kord_core::{Group, KeyBatch, KeySpec, Party, Predicate, Scheme, SpecError};
use thiserror::Error;

/// A cyclic interval of n-bit integers, both ends included. Never empty; if `first` is above
/// `last` it runs through N − 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// First member.
    pub first: u64,
    /// Last member.
    pub last: u64,
}

/// Why an interval gate cannot be built or evaluated. Names the field, never a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IntervalError {
    /// No intervals.
    #[error("intervals: none given, at least one is needed")]
    NoIntervals,
    /// A knot outside the domain.
    #[error("interval {index}: an end exceeds {bits} domain bits")]
    Knot {
        /// Position of the interval.
        index: usize,
        /// Domain bits of the gate.
        bits: u8,
    },
    /// Keys of another shape than the gate asked for.
    #[error("keys: {field} differs from what the gate's request asks for")]
    Keys {
        /// Which part of the shape.
        field: &'static str,
    },
    /// Values and keys that do not fit together, or values outside the domain.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Membership in one or more public intervals, for whole batches of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalGate {
    spec: KeySpec,
    intervals: Vec<Interval>,
}

impl IntervalGate {
    /// A gate on `domain_bits`-bit values that pays out 1 in `group`.
    ///
    /// # Errors
    /// [`IntervalError::NoIntervals`], [`IntervalError::Knot`], or [`IntervalError::Spec`] for
    /// domain bits outside 1..=64.
    pub fn new(domain_bits: u8, group: Group, intervals: &[Interval]) -> Result<Self, IntervalError> {
        let spec = KeySpec::dcf(domain_bits, Predicate::Lt, group)?;
        if intervals.is_empty() {
            return Err(IntervalError::NoIntervals);
        }
        let max = spec.max_alpha();
        match intervals.iter().position(|i| i.first > max || i.last > max) {
            Some(index) => Err(IntervalError::Knot { index, bits: domain_bits }),
            None => Ok(Self { spec, intervals: intervals.to_vec() }),
        }
    }

    /// "Is x at least `threshold`?", unsigned.
    ///
    /// # Errors
    /// As [`IntervalGate::new`].
    pub fn at_least(domain_bits: u8, group: Group, threshold: u64) -> Result<Self, IntervalError> {
        let last = KeySpec::dcf(domain_bits, Predicate::Lt, group)?.max_alpha();
        Self::new(domain_bits, group, &[Interval { first: threshold, last }])
    }

    /// What to request for each value, over its mask of `domain_bits` bits.
    #[must_use]
    pub const fn part(&self) -> Part {
        Part::Key(KeyPart { spec: self.spec, payload: Payload::One })
    }

    /// The shape of the keys.
    #[must_use]
    pub const fn spec(&self) -> &KeySpec {
        &self.spec
    }

    /// This party's shares of [x ∈ interval], interval after interval for each opened value.
    ///
    /// # Arguments
    /// `keys`: one for each value, made as [`IntervalGate::part`] says. `opened`: x̂ = x + r mod
    /// 2^n, in the order of the keys.
    ///
    /// # Errors
    /// [`IntervalError::Keys`] for keys of another shape; [`IntervalError::Spec`] if there are not
    /// as many values as keys, or a value is outside the domain.
    pub fn evaluate(&self, keys: KeyBatch, opened: &[u64]) -> Result<Vec<u128>, IntervalError> {
        self.check(&keys, opened)?;
        let party = keys.party();
        let values = keys.evaluate(&self.points(opened))?;
        Ok(self.combine(party, opened, &values))
    }

    fn check(&self, keys: &KeyBatch, opened: &[u64]) -> Result<(), IntervalError> {
        let (have, want) = (keys.spec(), &self.spec);
        let shape = [
            (have.scheme() == Scheme::Dcf(Predicate::Lt), "scheme"),
            (have.domain_bits() == want.domain_bits(), "domain bits"),
            (have.group() == want.group(), "group"),
            (have.arity() == want.arity(), "arity"),
        ];
        if let Some((_, field)) = shape.iter().find(|(fits, _)| !fits) {
            return Err(IntervalError::Keys { field });
        }
        if keys.len() != opened.len() {
            let (have, want) = (opened.len(), keys.len());
            return Err(SpecError::Length { what: "opened values", have, want }.into());
        }
        let max = self.spec.max_alpha();
        match opened.iter().position(|x| *x > max) {
            Some(index) => Err(SpecError::OutOfDomain { what: "opened value", index }.into()),
            None => Ok(()),
        }
    }

    /// The interval [a, b] of masks r that put x into `interval`.
    const fn mask_interval(&self, interval: Interval, opened: u64) -> (u64, u64) {
        let max = self.spec.max_alpha();
        (opened.wrapping_sub(interval.last) & max, opened.wrapping_sub(interval.first) & max)
    }

    fn points(&self, opened: &[u64]) -> Vec<u64> {
        let max = self.spec.max_alpha();
        let mut points = Vec::with_capacity(2 * opened.len() * self.intervals.len());
        for x in opened {
            for interval in &self.intervals {
                let (a, b) = self.mask_interval(*interval, *x);
                points.extend([a.wrapping_sub(1) & max, b]);
            }
        }
        points
    }

    fn combine(&self, party: Party, opened: &[u64], values: &[u128]) -> Vec<u128> {
        let group = self.spec.group();
        let one = match party {
            Party::P0 => 1,
            Party::P1 => 0,
        };
        let asked = opened.iter().flat_map(|x| self.intervals.iter().map(move |i| (*i, *x)));
        let share = |((interval, x), pair): ((Interval, u64), &[u128])| {
            let (a, b) = self.mask_interval(interval, x);
            let difference = group.sub(pair[0], pair[1]);
            if a == 0 || a > b { group.add(difference, one) } else { difference }
        };
        asked.zip(values.chunks_exact(2)).map(share).collect()
    }
}
