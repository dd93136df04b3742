//! What both parties ask a key source for: public, loggable, and equal at both.
//!
//! A request is a batch. Each element of the batch has one mask r; any number of keys and wires
//! are made over it. A faithful truncation, for example, needs r, r mod 2^f and r >> f together.

mod error;
mod shares;

pub use error::RequestError;
pub use shares::{ShareChunk, ShareReader, ShareView, Shares};

use crate::group::{Group, GroupKind};
use crate::spec::{KeySpec, Scheme};

/// How the two parties share the mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Sharing {
    /// r = r_0 + r_1 mod 2^bits.
    Additive,
    /// r = r_0 + r_1 mod p, for a public p of `bits` bits.
    AdditiveModulo(u64),
    /// r = r_0 ⊕ r_1.
    Xor,
}

/// Who chooses a secret value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Origin {
    /// Each party gives its share.
    Given,
    /// The source derives a fresh random value and hands each party its share; no message is
    /// needed.
    Derived,
}

/// The mask r of each element: `bits` bits, shared, given or derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mask {
    /// Bits of r, 1..=64.
    pub bits: u8,
    /// How r is shared.
    pub sharing: Sharing,
    /// Who chooses r.
    pub origin: Origin,
}

impl Mask {
    /// Additive shares modulo 2^bits that the parties give.
    #[must_use]
    pub const fn given(bits: u8) -> Self {
        Self { bits, sharing: Sharing::Additive, origin: Origin::Given }
    }

    /// A fresh random mask modulo 2^bits that the source derives.
    #[must_use]
    pub const fn derived(bits: u8) -> Self {
        Self { bits, sharing: Sharing::Additive, origin: Origin::Derived }
    }

    /// The group in which shares are added.
    pub(crate) fn group(&self) -> Result<Group, RequestError> {
        let refused = RequestError::MaskBits { bits: self.bits };
        if self.bits == 0 || self.bits > 64 {
            return Err(refused);
        }
        match self.sharing {
            Sharing::Additive => Group::ring(self.bits).map_err(|_| refused),
            Sharing::Xor => Group::xor(self.bits).map_err(|_| refused),
            Sharing::AdditiveModulo(modulus) => match Group::modular(u128::from(modulus)) {
                Ok(group) if group.bits() == self.bits => Ok(group),
                _ => Err(RequestError::MaskModulus { modulus, bits: self.bits }),
            },
        }
    }
}

/// Where a key's payload comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Payload {
    /// Each party gives shares of beta in the key's group.
    Given,
    /// A fresh random beta; each party gets its share.
    Derived,
    /// beta = 1.
    One,
    /// beta = (1, r): what a ReLU takes.
    OneAndMask,
    /// beta = (1, r >> f): what a ReLU fused with a truncation takes.
    OneAndShifted(u8),
}

/// A key over the mask: alpha = r mod 2^(domain bits of the key).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeyPart {
    /// Shape of the key; its domain has at most the mask's bits.
    pub spec: KeySpec,
    /// Where beta comes from.
    pub payload: Payload,
}

/// A value of the mask that is handed out as shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum WireValue {
    /// r itself, read as an integer: in a wider ring this is the lift.
    Mask,
    /// r >> f.
    Shifted(u8),
}

/// Shares of a value of the mask in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WirePart {
    /// Which value.
    pub value: WireValue,
    /// The group it is shared in.
    pub group: Group,
}

/// One output of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Part {
    /// A key over the mask.
    Key(KeyPart),
    /// Shares of a value of the mask.
    Wire(WirePart),
}

/// A batch of `count` elements, each with one mask and the same parts over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    count: u64,
    mask: Mask,
    mask_group: Group,
    parts: Vec<Part>,
    stream: u64,
    epoch: u64,
}

impl Request {
    /// Most parts of a request: the part index is one byte.
    pub const MAX_PARTS: usize = 255;

    /// A checked request on stream 0, epoch 0.
    ///
    /// # Errors
    /// [`RequestError`], naming the part and field.
    pub fn new(count: u64, mask: Mask, parts: Vec<Part>) -> Result<Self, RequestError> {
        if count == 0 {
            return Err(RequestError::EmptyBatch);
        }
        if parts.is_empty() || parts.len() > Self::MAX_PARTS {
            return Err(RequestError::Parts { parts: parts.len() });
        }
        let mask_group = mask.group()?;
        let request = Self { count, mask, mask_group, parts, stream: 0, epoch: 0 };
        let mut derived_blocks = 0;
        for (part, p) in request.parts.iter().enumerate() {
            match p {
                Part::Key(key) => derived_blocks += check_key(part, key, mask.bits)?,
                Part::Wire(wire) => check_wire(part, *wire, mask.bits)?,
            }
        }
        if derived_blocks > 1 << 16 {
            return Err(RequestError::DerivedPayloadTooLarge);
        }
        Ok(request)
    }

    /// Keys of one shape, alpha and beta given: the plain "make me keys" request.
    ///
    /// # Errors
    /// [`RequestError::EmptyBatch`].
    pub fn keys(count: u64, spec: KeySpec) -> Result<Self, RequestError> {
        let part = Part::Key(KeyPart { spec, payload: Payload::Given });
        Self::new(count, Mask::given(spec.domain_bits()), vec![part])
    }

    /// The same request on another stream. Concurrent users of one source each take a stream.
    #[must_use]
    pub const fn on_stream(mut self, stream: u64) -> Self {
        self.stream = stream;
        self
    }

    /// The same request in another epoch: a public number that is bound into everything derived.
    #[must_use]
    pub const fn in_epoch(mut self, epoch: u64) -> Self {
        self.epoch = epoch;
        self
    }

    /// Elements in the batch.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mask.
    #[must_use]
    pub const fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The group that the mask is shared in.
    #[must_use]
    pub const fn mask_group(&self) -> Group {
        self.mask_group
    }

    /// The parts, in the order in which outputs come.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Stream id.
    #[must_use]
    pub const fn stream(&self) -> u64 {
        self.stream
    }

    /// Epoch.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The keys among the parts.
    pub fn key_parts(&self) -> impl Iterator<Item = &KeyPart> {
        self.parts.iter().filter_map(|p| match p {
            Part::Key(key) => Some(key),
            Part::Wire(_) => None,
        })
    }

    /// The groups and arities of the payloads that parties give, in part order.
    pub(crate) fn given_payloads(&self) -> impl Iterator<Item = (Group, usize)> {
        self.key_parts()
            .filter(|k| k.payload == Payload::Given)
            .map(|k| (k.spec.group(), k.spec.arity() as usize))
    }

    /// Payload elements that a party gives for each element of the batch.
    #[must_use]
    pub fn given_payload_elements(&self) -> usize {
        self.given_payloads().map(|(_, arity)| arity).sum()
    }

    /// Whether each party gives shares of the mask.
    #[must_use]
    pub fn gives_mask(&self) -> bool {
        self.mask.origin == Origin::Given
    }

    /// Bytes that one party sends for each element *(paper: ⌈alpha bits/8⌉ + ⌈beta bits/8⌉)*:
    /// only what is given.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        let mask = if self.gives_mask() { usize::from(self.mask.bits).div_ceil(8) } else { 0 };
        mask + self.given_payloads().map(|(group, arity)| group.element_bytes() * arity).sum::<usize>()
    }

    /// Whether the parties must exchange shares: something is given.
    #[must_use]
    pub fn is_exchanged(&self) -> bool {
        self.body_bytes() > 0
    }

    /// AES blocks of Gen for the whole batch on the special path.
    #[must_use]
    pub fn gen_blocks(&self) -> u64 {
        self.key_parts().map(|k| k.spec.gen_blocks()).sum::<u64>().saturating_mul(self.count)
    }

    /// Bytes of all keys of one element.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        self.key_parts().map(|k| k.spec.key_bytes()).sum()
    }
}

/// The PRF blocks that a derived payload of this key takes.
fn check_key(part: usize, key: &KeyPart, mask_bits: u8) -> Result<usize, RequestError> {
    let spec = &key.spec;
    if spec.domain_bits() > mask_bits {
        return Err(RequestError::PartDomain { part, bits: spec.domain_bits(), mask_bits });
    }
    let arity = match key.payload {
        Payload::Given | Payload::Derived => None,
        Payload::One => Some(1),
        Payload::OneAndMask => Some(2),
        Payload::OneAndShifted(shift) => {
            check_shift(part, shift, mask_bits)?;
            Some(2)
        }
    };
    match arity {
        Some(want) if want != spec.arity() => {
            Err(RequestError::PartArity { part, arity: spec.arity(), want })
        }
        _ if key.payload == Payload::Derived => {
            Ok(spec.arity() as usize * crate::derive::blocks_per_element(spec.group()))
        }
        _ => Ok(0),
    }
}

fn check_wire(part: usize, wire: WirePart, mask_bits: u8) -> Result<(), RequestError> {
    match wire.value {
        WireValue::Shifted(shift) => check_shift(part, shift, mask_bits),
        WireValue::Mask => Ok(()),
    }
}

const fn check_shift(part: usize, shift: u8, mask_bits: u8) -> Result<(), RequestError> {
    if shift >= mask_bits {
        return Err(RequestError::Shift { part, shift, mask_bits });
    }
    Ok(())
}

/// Numbers that name schemes, parts and groups in descriptors and key files.
pub(crate) const fn scheme_number(scheme: Scheme) -> u8 {
    use crate::spec::Predicate;
    match scheme {
        Scheme::Dpf => 1,
        Scheme::Dcf(Predicate::Lt) => 2,
        Scheme::Dcf(Predicate::Gt) => 3,
    }
}

/// 1 ring, 2 modular, 3 XOR; 0 is "none".
pub(crate) const fn group_number(group: Group) -> u8 {
    match group.kind() {
        GroupKind::Ring => 1,
        GroupKind::Modular => 2,
        GroupKind::Xor => 3,
    }
}
