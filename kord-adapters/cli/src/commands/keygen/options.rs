//! What kind of keys: options into a request.

use core::str::FromStr;

use anyhow::{Context, Result};
use clap::ValueEnum;
use kord_core::request::{KeyPart, Mask, Origin, Part, Payload, Request, Sharing};
use kord_core::{KeySpec, Predicate, Scheme};

use crate::text::{GroupName, parse_u64};

/// Options that describe the keys.
#[derive(Debug, clap::Args)]
pub(super) struct KeyOptions {
    /// What the keys compute: beta at x = alpha (dpf), where x < alpha, or where x > alpha; else 0
    #[arg(long, value_enum)]
    scheme: SchemeName,
    /// Bits of alpha and x, 1 to 64
    #[arg(long, value_name = "BITS")]
    domain_bits: u8,
    /// Group of the payload: z2^32 (integers mod 2^32), xor:16 (16-bit strings), mod:4294967291
    #[arg(long, value_name = "GROUP", default_value = "z2^64")]
    group: GroupName,
    /// Elements of the payload [default: 1, or 2 for --payload one-and-mask]
    #[arg(long)]
    arity: Option<u32>,
    /// Who chooses alpha: the parties (given, in --shares), or the chips (derived, random)
    #[arg(long, value_enum, default_value = "derived")]
    alpha: OriginName,
    /// How alpha is shared: additive (mod 2^bits), xor, or mod:P (additive modulo P)
    #[arg(long, value_name = "SHARING", default_value = "additive")]
    alpha_sharing: SharingName,
    /// The payload beta: given (in --shares), derived (random), the constant 1, or (1, alpha)
    #[arg(long, value_enum, default_value = "one")]
    payload: PayloadName,
    /// Stream of the keys' counters, for several users of one chip pair
    #[arg(long, default_value_t = 0)]
    stream: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemeName {
    Dpf,
    DcfLt,
    DcfGt,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OriginName {
    Given,
    Derived,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PayloadName {
    Given,
    Derived,
    One,
    OneAndMask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SharingName(Sharing);

impl FromStr for SharingName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match (name, name.strip_prefix("mod:")) {
            ("additive", _) => Ok(Self(Sharing::Additive)),
            ("xor", _) => Ok(Self(Sharing::Xor)),
            (_, Some(modulus)) => match parse_u64(modulus) {
                Ok(modulus) => Ok(Self(Sharing::AdditiveModulo(modulus))),
                Err(error) => Err(format!("modulus: {error}")),
            },
            _ => Err("write additive, xor or mod:P".to_owned()),
        }
    }
}

impl KeyOptions {
    /// The request for `count` keys.
    ///
    /// # Errors
    /// The option at fault is named.
    pub(super) fn request(&self, count: u64) -> Result<Request> {
        let scheme = match self.scheme {
            SchemeName::Dpf => Scheme::Dpf,
            SchemeName::DcfLt => Scheme::Dcf(Predicate::Lt),
            SchemeName::DcfGt => Scheme::Dcf(Predicate::Gt),
        };
        let (payload, fixed_arity) = match self.payload {
            PayloadName::Given => (Payload::Given, None),
            PayloadName::Derived => (Payload::Derived, None),
            PayloadName::One => (Payload::One, Some(1)),
            PayloadName::OneAndMask => (Payload::OneAndMask, Some(2)),
        };
        let arity = self.arity.or(fixed_arity).unwrap_or(1);
        let spec = KeySpec::new(scheme, self.domain_bits, self.group.0)
            .context("--domain-bits")?
            .with_arity(arity)
            .context("--arity")?;
        let origin = match self.alpha {
            OriginName::Given => Origin::Given,
            OriginName::Derived => Origin::Derived,
        };
        let mask = Mask { bits: self.domain_bits, sharing: self.alpha_sharing.0, origin };
        let part = Part::Key(KeyPart { spec, payload });
        let request = Request::new(count, mask, vec![part]).context("the options describe no batch")?;
        Ok(request.on_stream(self.stream))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use clap::Parser;
    use kord_core::Group;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        key: KeyOptions,
    }

    fn request(options: &str) -> Result<Request, String> {
        let line = Line::try_parse_from(format!("x {options}").split(' ')).map_err(|e| e.to_string())?;
        line.key.request(5).map_err(|e| format!("{e:#}"))
    }

    #[test]
    fn options_become_the_request_they_describe() {
        let made = request("--scheme dpf --domain-bits 16").unwrap();
        let spec = KeySpec::dpf(16, Group::ring(64).unwrap()).unwrap();
        let part = |spec, payload| vec![Part::Key(KeyPart { spec, payload })];
        assert_eq!(made, Request::new(5, Mask::derived(16), part(spec, Payload::One)).unwrap());
        let options = "--scheme dcf-gt --domain-bits 32 --group xor:16 --alpha given --alpha-sharing \
                       mod:4294967291 --payload one-and-mask --stream 3";
        let spec = KeySpec::dcf(32, Predicate::Gt, Group::xor(16).unwrap()).unwrap().with_arity(2).unwrap();
        let mask = Mask { bits: 32, sharing: Sharing::AdditiveModulo(4_294_967_291), origin: Origin::Given };
        let want = Request::new(5, mask, part(spec, Payload::OneAndMask)).unwrap().on_stream(3);
        assert_eq!(request(options).unwrap(), want);
        let options =
            "--scheme dcf-lt --domain-bits 8 --group mod:5 --arity 3 --payload derived --alpha-sharing xor";
        let made = request(options).unwrap();
        assert_eq!(made.mask().sharing, Sharing::Xor);
        assert!(!made.is_exchanged());
    }

    #[test]
    fn wrong_options_are_named() {
        for (options, names) in [
            ("--domain-bits 8", "--scheme"),
            ("--scheme dcf --domain-bits 8", "dcf-lt"),
            ("--scheme dpf --domain-bits 65", "--domain-bits"),
            ("--scheme dpf --domain-bits 0", "--domain-bits"),
            ("--scheme dpf --domain-bits 8 --group z2", "write z2^32, xor:16 or mod:4294967291"),
            ("--scheme dpf --domain-bits 8 --arity 0 --payload given", "--arity"),
            ("--scheme dpf --domain-bits 8 --arity 2", "part 0, arity: 2, but its payload has 1 elements"),
            ("--scheme dpf --domain-bits 8 --alpha-sharing sum", "write additive, xor or mod:P"),
            ("--scheme dpf --domain-bits 8 --alpha-sharing mod:x", "modulus: character 1"),
            ("--scheme dpf --domain-bits 8 --alpha-sharing mod:1009", "1009 is not a modulus of 8 bits"),
        ] {
            let error = request(options).unwrap_err();
            assert!(error.contains(names), "{options}: {error}");
        }
    }
}
