//! Serialization of the checked public types: whatever is read passes the same checks as the
//! constructors.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::group::{Group, GroupKind};
use crate::prg::PrgKeys;
use crate::request::{Mask, Part, Request};
use crate::spec::{KeySpec, Scheme};

#[derive(Serialize, Deserialize)]
struct RawGroup {
    kind: GroupKind,
    bits: u8,
    modulus: u128,
}

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let modulus = self.modulus().unwrap_or(0);
        RawGroup { kind: self.kind(), bits: self.bits(), modulus }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawGroup::deserialize(deserializer)?;
        let group = match raw.kind {
            GroupKind::Ring => Self::ring(raw.bits),
            GroupKind::Xor => Self::xor(raw.bits),
            GroupKind::Modular => Self::modular(raw.modulus),
        }
        .map_err(D::Error::custom)?;
        if group.bits() != raw.bits || group.modulus().unwrap_or(0) != raw.modulus {
            return Err(D::Error::custom("group bits and modulus do not fit together"));
        }
        Ok(group)
    }
}

#[derive(Serialize, Deserialize)]
struct RawKeySpec {
    scheme: Scheme,
    domain_bits: u8,
    group: Group,
    arity: u32,
    /// Absent for the default keys.
    prg_keys: Option<PrgKeys>,
}

impl Serialize for KeySpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawKeySpec {
            scheme: self.scheme(),
            domain_bits: self.domain_bits(),
            group: self.group(),
            arity: self.arity(),
            prg_keys: Some(*self.prg_keys()).filter(|keys| *keys != PrgKeys::KORD_V1),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawKeySpec::deserialize(deserializer)?;
        Self::new(raw.scheme, raw.domain_bits, raw.group)
            .and_then(|spec| spec.with_arity(raw.arity))
            .map(|spec| spec.with_prg_keys(raw.prg_keys.unwrap_or(PrgKeys::KORD_V1)))
            .map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
struct RawRequest {
    count: u64,
    mask: Mask,
    parts: Vec<Part>,
    stream: u64,
    epoch: u64,
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawRequest {
            count: self.count(),
            mask: *self.mask(),
            parts: self.parts().to_vec(),
            stream: self.stream(),
            epoch: self.epoch(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawRequest::deserialize(deserializer)?;
        Self::new(raw.count, raw.mask, raw.parts)
            .map(|request| request.on_stream(raw.stream).in_epoch(raw.epoch))
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_and_invalid_ones_do_not() {
        let spec = KeySpec::dpf(12, Group::modular(97).unwrap()).unwrap().with_arity(3).unwrap();
        let request = Request::keys(5, spec).unwrap().on_stream(7).in_epoch(8);
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), request);
        for (from, to) in
            [("\"count\":5", "\"count\":0"), ("\"domain_bits\":12", "\"domain_bits\":65"), (":97", ":99999")]
        {
            assert!(json.contains(from), "{json}");
            let error = serde_json::from_str::<Request>(&json.replacen(from, to, 1)).unwrap_err();
            assert!(!error.to_string().is_empty());
        }
    }
}
