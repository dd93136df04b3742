//! The 64-byte public description of a batch, to which everything derived is bound.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version |
//! | 1 | profile: 0 default fixed-key MMO, 2 fixed-key MMO under other keys |
//! | 2 | 0 mask; 1 DPF; 2 DCF `<`; 3 DCF `>`; 16 mask wire; 17 shifted-mask wire; 32… correlations |
//! | 3 | mask sharing: 0 additive mod 2^n, 1 additive mod p, 2 XOR |
//! | 4 | domain bits (mask bits in a mask descriptor) |
//! | 5, 6..8 | group kind (0 none, 1 ring, 2 modular, 3 XOR), element bits |
//! | 8..12 | arity |
//! | 12 | mask: 0 given, 1 derived |
//! | 13 | beta rule: 0 none, 1 given, 2 derived, 3 one, 4 (1, r), 5 (1, r >> f) |
//! | 14, 15 | shift f; owner party + 1 where a correlation has one |
//! | 16..24, 24..32 | stream id; epoch |
//! | 32..48 | first 16 bytes of SHA-256 over the group's then the mask's modulus (16 bytes LE each); zero without any |
//! | 48 | part index |
//! | 49..56, 56..64 | zero; PRG key id under profile 2, else zero |
//!
//! Integers are little-endian. Two parties that disagree on any field derive unrelated values.

use sha2::{Digest, Sha256};

use crate::group::Group;
use crate::prg::PrgKeys;
use crate::request::{
    KeyPart, Mask, Origin, Part, Payload, Request, Sharing, WirePart, WireValue, group_number, scheme_number,
};

const VERSION: u8 = 1;

/// A 64-byte descriptor. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor([u8; 64]);

impl Descriptor {
    /// Bytes of a descriptor.
    pub const BYTES: usize = 64;
    /// All zero: what control frames authenticate, as they belong to no batch.
    pub const NONE: Self = Self([0; 64]);

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// A descriptor as a peer sent it in clear, to be compared only.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The descriptors of a request, in the order in which frames authenticate them.
    ///
    /// A request of exactly one key has one descriptor. Any other has a mask descriptor, then one
    /// for each part, with the part's index.
    #[must_use]
    pub fn of_request(request: &Request) -> Vec<Self> {
        if let [Part::Key(key)] = request.parts() {
            let mut single = Self::of_mask(request, Some(key));
            single.put_key(key);
            return vec![single];
        }
        let mask = core::iter::once(Self::of_mask(request, None));
        let parts = request.parts().iter().enumerate().map(|(index, part)| {
            let mut d = Self::of_mask(
                request,
                match part {
                    Part::Key(key) => Some(key),
                    Part::Wire(_) => None,
                },
            );
            match part {
                Part::Key(key) => d.put_key(key),
                Part::Wire(wire) => d.put_wire(*wire),
            }
            d.0[48] = index as u8;
            d
        });
        mask.chain(parts).collect()
    }

    fn of_mask(request: &Request, key: Option<&KeyPart>) -> Self {
        let mut d = Self([0; 64]);
        let Mask { bits, sharing, origin } = *request.mask();
        d.0[0] = VERSION;
        d.0[3] = match sharing {
            Sharing::Additive => 0,
            Sharing::AdditiveModulo(_) => 1,
            Sharing::Xor => 2,
        };
        d.0[4] = bits;
        d.0[12] = match origin {
            Origin::Given => 0,
            Origin::Derived => 1,
        };
        d.0[16..24].copy_from_slice(&request.stream().to_le_bytes());
        d.0[24..32].copy_from_slice(&request.epoch().to_le_bytes());
        let group = key.and_then(|k| k.spec.group().modulus());
        d.put_moduli(group, request.mask_group().modulus());
        d
    }

    fn put_key(&mut self, key: &KeyPart) {
        let spec = &key.spec;
        self.put_profile(spec.prg_keys());
        self.0[2] = scheme_number(spec.scheme());
        self.0[4] = spec.domain_bits();
        self.put_group(spec.group(), spec.arity());
        (self.0[13], self.0[14]) = match key.payload {
            Payload::Given => (1, 0),
            Payload::Derived => (2, 0),
            Payload::One => (3, 0),
            Payload::OneAndMask => (4, 0),
            Payload::OneAndShifted(shift) => (5, shift),
        };
    }

    fn put_wire(&mut self, wire: WirePart) {
        (self.0[2], self.0[14]) = match wire.value {
            WireValue::Mask => (16, 0),
            WireValue::Shifted(shift) => (17, shift),
        };
        self.put_group(wire.group, 1);
        self.put_moduli(wire.group.modulus(), None);
    }

    /// A correlation: its number (32…), the group it lives in, its stream and epoch.
    pub(crate) fn of_correlation(number: u8, group: Group, stream: u64) -> Self {
        let mut d = Self([0; 64]);
        d.0[0] = VERSION;
        d.0[2] = number;
        d.0[12] = 1;
        d.put_group(group, 1);
        d.put_moduli(group.modulus(), None);
        d.0[16..24].copy_from_slice(&stream.to_le_bytes());
        d
    }

    fn put_profile(&mut self, keys: &PrgKeys) {
        if *keys != PrgKeys::KORD_V1 {
            self.0[1] = 2;
            self.0[56..64].copy_from_slice(&keys.id());
        }
    }

    fn put_group(&mut self, group: Group, arity: u32) {
        self.0[5] = group_number(group);
        self.0[6..8].copy_from_slice(&u16::from(group.bits()).to_le_bytes());
        self.0[8..12].copy_from_slice(&arity.to_le_bytes());
    }

    fn put_moduli(&mut self, group: Option<u128>, mask: Option<u128>) {
        if group.is_none() && mask.is_none() {
            return;
        }
        let mut hash = Sha256::new();
        for modulus in group.into_iter().chain(mask) {
            hash.update(modulus.to_le_bytes());
        }
        self.0[32..48].copy_from_slice(&hash.finalize()[..16]);
    }

    /// The name of the first field in which two descriptors differ. Hosts that compare in clear
    /// use it to say what the parties disagree on.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<&'static str> {
        let position = self.0.iter().zip(&other.0).position(|(a, b)| a != b)?;
        Some(match position {
            0 => "descriptor version",
            1 => "profile",
            2 => "scheme",
            3 => "mask sharing",
            4 => "domain bits",
            5 => "group kind",
            6..8 => "element bits",
            8..12 => "arity",
            12 => "mask origin",
            13 => "beta rule",
            14 => "shift",
            15 => "owner party",
            16..24 => "stream",
            24..32 => "epoch",
            32..48 => "modulus",
            48 => "part index",
            49..56 => "reserved bytes",
            _ => "PRG key id",
        })
    }
}
