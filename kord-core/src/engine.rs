//! From both parties' shares to one party's outputs: what runs inside a chip, and inside a dealer.
//!
//! Reconstruct (alpha, beta), derive roots, walk the special path, emit this party's half,
//! zeroize *(paper: reconstruction zone, GGM engine, assembler)*. Whoever runs this sees every
//! alpha and beta.

use zeroize::Zeroizing;

use crate::block::Block;
use crate::derive::{OperationKey, RootKey, blocks_per_element, purpose};
use crate::descriptor::Descriptor;
use crate::error::SpecError;
use crate::group::Group;
use crate::keygen::deterministic;
use crate::party::Party;
use crate::request::{KeyPart, Part, Payload, Request, ShareView, WirePart, WireValue};
use crate::source::{KeyChunk, Label, PartOutput};

/// Generates the chunks of one request for one party.
pub struct BatchEngine {
    request: Request,
    party: Party,
    mask_key: OperationKey,
    part_keys: Vec<OperationKey>,
}

impl BatchEngine {
    /// Keys a request's operations under the common root key.
    #[must_use]
    pub fn new(root: &RootKey, request: &Request, party: Party) -> Self {
        let descriptors = Descriptor::of_request(request);
        let first_part = descriptors.len() - request.parts().len();
        Self {
            request: request.clone(),
            party,
            mask_key: root.operation_key(&descriptors[0]),
            part_keys: descriptors[first_part..].iter().map(|d| root.operation_key(d)).collect(),
        }
    }

    /// The request whose chunks this makes.
    #[must_use]
    pub const fn request(&self) -> &Request {
        &self.request
    }

    /// A number of elements whose outputs stay in cache: what [`BatchEngine::run`] is best
    /// called with.
    #[must_use]
    pub fn chunk_len(&self) -> usize {
        const CACHE: usize = 256 * 1024;
        (CACHE / self.request.key_bytes().max(1)).clamp(1, 1024).next_power_of_two().min(1024)
    }

    /// This party's outputs for the elements at `label`, from both parties' given shares
    /// (`shares[party]`, empty where everything is derived).
    ///
    /// # Errors
    /// [`SpecError`] if the shares are not exactly those of `label.count` elements.
    pub fn run(&self, label: Label, shares: [ShareView<'_>; 2]) -> Result<KeyChunk, SpecError> {
        let count = usize::try_from(label.count).unwrap_or(usize::MAX);
        for view in shares {
            view.check(&self.request, count)?;
        }
        let (mask_shares, masks) = self.masks(label.first, count, shares);
        let mut given_before = 0;
        let mut blocks_before = 0;
        let mut payload_shares = Vec::new();
        let mut outputs = Vec::with_capacity(self.part_keys.len());
        for (part, operation) in self.request.parts().iter().zip(&self.part_keys) {
            outputs.push(match part {
                Part::Key(key) => {
                    let betas = match key.payload {
                        Payload::Given => {
                            let betas = self.given_betas(key, given_before, shares);
                            given_before += key.spec.arity() as usize;
                            betas
                        }
                        Payload::Derived => {
                            let (own, betas) = self.derived_betas(key, label.first, blocks_before, count);
                            blocks_before += key.spec.arity() as usize * blocks_per_element(key.spec.group());
                            payload_shares.push((own, key.spec.arity() as usize));
                            betas
                        }
                        _ => betas_of_mask(key, &masks),
                    };
                    PartOutput::Keys(self.keys(key, operation, label.first, &masks, &betas)?)
                }
                Part::Wire(wire) => PartOutput::Wire(self.wire(*wire, operation, label.first, &masks)),
            });
        }
        Ok(KeyChunk { label, outputs, mask_shares, payload_shares: interleave(&payload_shares, count) })
    }

    /// This party's shares of derived masks (none if they are given), and r of each element.
    fn masks(
        &self,
        first: u64,
        count: usize,
        shares: [ShareView<'_>; 2],
    ) -> (Zeroizing<Vec<u64>>, Zeroizing<Vec<u64>>) {
        let group = self.request.mask_group();
        let sum = |(a, b): (&u64, &u64)| group.add(u128::from(*a), u128::from(*b)) as u64;
        if self.request.gives_mask() {
            let pairs = shares[0].masks.iter().zip(shares[1].masks.iter());
            return (Zeroizing::default(), Zeroizing::new(pairs.map(sum).collect()));
        }
        let [share0, share1] = Party::BOTH.map(|party| {
            let mut wide = Zeroizing::new(vec![0; count]);
            self.mask_key.elements((purpose::MASK_SHARE, party), (first, 0), (group, 1), &mut wide);
            Zeroizing::new(wide.iter().map(|w| *w as u64).collect::<Vec<u64>>())
        });
        let masks = Zeroizing::new(share0.iter().zip(share1.iter()).map(sum).collect());
        (self.own(share0, share1), masks)
    }

    /// Of the two parties' values, this party's.
    fn own<T>(&self, value0: T, value1: T) -> T {
        match self.party {
            Party::P0 => value0,
            Party::P1 => value1,
        }
    }

    /// beta of a key whose payload shares both parties gave; its elements start at `offset`
    /// within each element's payloads.
    fn given_betas(&self, key: &KeyPart, offset: usize, shares: [ShareView<'_>; 2]) -> Zeroizing<Vec<u128>> {
        let (group, arity) = (key.spec.group(), key.spec.arity() as usize);
        let stride = self.request.given_payload_elements();
        if stride == arity {
            let pairs = shares[0].payloads.iter().zip(shares[1].payloads);
            return Zeroizing::new(pairs.map(|(a, b)| group.add(*a, *b)).collect());
        }
        let [a, b] = shares.map(|s| s.payloads.chunks_exact(stride));
        let mut betas = Zeroizing::new(Vec::with_capacity(a.len() * arity));
        for (a, b) in a.zip(b) {
            let pairs = a[offset..offset + arity].iter().zip(&b[offset..offset + arity]);
            betas.extend(pairs.map(|(a, b)| group.add(*a, *b)));
        }
        betas
    }

    /// This party's share of a derived beta, and beta.
    fn derived_betas(
        &self,
        key: &KeyPart,
        first: u64,
        first_block: usize,
        count: usize,
    ) -> (Zeroizing<Vec<u128>>, Zeroizing<Vec<u128>>) {
        let (group, arity) = (key.spec.group(), key.spec.arity() as usize);
        let [share0, share1] = Party::BOTH.map(|party| {
            let mut share = Zeroizing::new(vec![0; count * arity]);
            let what = (purpose::PAYLOAD_SHARE, party);
            self.mask_key.elements(what, (first, first_block), (group, arity), &mut share);
            share
        });
        let betas = share0.iter().zip(share1.iter()).map(|(a, b)| group.add(*a, *b)).collect();
        let betas = Zeroizing::new(betas);
        (self.own(share0, share1), betas)
    }

    fn keys(
        &self,
        key: &KeyPart,
        operation: &OperationKey,
        first: u64,
        masks: &[u64],
        betas: &[u128],
    ) -> Result<crate::KeyBatch, SpecError> {
        let max = key.spec.max_alpha();
        let low: Zeroizing<Vec<u64>>;
        let alphas = if key.spec.domain_bits() == self.request.mask().bits {
            masks
        } else {
            low = Zeroizing::new(masks.iter().map(|m| m & max).collect());
            &low
        };
        let [roots0, roots1] = Party::BOTH.map(|party| {
            let mut roots = Zeroizing::new(vec![Block::ZERO; masks.len()]);
            operation.per_counter(purpose::ROOT, party, first, &mut roots);
            roots
        });
        deterministic::generate_party(&key.spec, alphas, betas, [&roots0, &roots1], self.party)
    }

    /// This party's shares of a wire: party 0's come from the PRF, party 1's are the correction.
    fn wire(
        &self,
        wire: WirePart,
        operation: &OperationKey,
        first: u64,
        masks: &[u64],
    ) -> Zeroizing<Vec<u128>> {
        let group = wire.group;
        let mut shares = Zeroizing::new(vec![0; masks.len()]);
        operation.elements((purpose::WIRE_SHARE, Party::P0), (first, 0), (group, 1), &mut shares);
        if self.party == Party::P1 {
            for (share, mask) in shares.iter_mut().zip(masks) {
                *share = group.sub(reduce_mask(group, shifted(*mask, wire.value)), *share);
            }
        }
        shares
    }
}

fn shifted(mask: u64, value: WireValue) -> u64 {
    match value {
        WireValue::Mask => mask,
        WireValue::Shifted(shift) => mask >> shift,
    }
}

fn reduce_mask(group: Group, mask: u64) -> u128 {
    group.reduce_bytes(&mask.to_le_bytes())
}

/// beta by a rule over the mask: 1, (1, r) or (1, r >> f).
fn betas_of_mask(key: &KeyPart, masks: &[u64]) -> Zeroizing<Vec<u128>> {
    let group = key.spec.group();
    let value = match key.payload {
        Payload::OneAndMask => Some(WireValue::Mask),
        Payload::OneAndShifted(shift) => Some(WireValue::Shifted(shift)),
        Payload::Given | Payload::Derived | Payload::One => None,
    };
    let mut betas = Zeroizing::new(Vec::with_capacity(masks.len() * key.spec.arity() as usize));
    for mask in masks {
        betas.push(1);
        betas.extend(value.map(|v| reduce_mask(group, shifted(*mask, v))));
    }
    betas
}

/// Element after element, part after part.
fn interleave(parts: &[(Zeroizing<Vec<u128>>, usize)], count: usize) -> Zeroizing<Vec<u128>> {
    let total = parts.iter().map(|(shares, _)| shares.len()).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(total));
    for j in 0..count {
        for (shares, arity) in parts {
            out.extend_from_slice(&shares[j * arity..(j + 1) * arity]);
        }
    }
    out
}
