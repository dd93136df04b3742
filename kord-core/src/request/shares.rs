//! One party's shares of a batch, at once or as a stream.

use zeroize::Zeroizing;

use super::Request;
use crate::error::{DecodeError, SpecError};
use crate::source::SourceError;

/// One party's shares of some consecutive elements: what a frame's body carries.
#[derive(Default)]
pub struct ShareChunk {
    /// Share of r, one an element; empty when masks are derived.
    pub masks: Zeroizing<Vec<u64>>,
    /// Shares of the given payloads: element after element, part after part, `arity` each.
    pub payloads: Zeroizing<Vec<u128>>,
}

impl ShareChunk {
    /// Checks that the chunk holds canonical shares of exactly `count` elements of `request`.
    ///
    /// # Errors
    /// [`SpecError::Length`] or [`SpecError::OutOfDomain`], naming the argument and index.
    pub fn check(&self, request: &Request, count: usize) -> Result<(), SpecError> {
        let masks = if request.gives_mask() { count } else { 0 };
        let payloads = request.given_payload_elements() * count;
        for (what, have, want) in
            [("mask shares", self.masks.len(), masks), ("payload shares", self.payloads.len(), payloads)]
        {
            if have != want {
                return Err(SpecError::Length { what, have, want });
            }
        }
        let group = request.mask_group();
        refuse_any("mask share", self.masks.iter().map(|m| group.contains(u128::from(*m))))?;
        let elements = request.given_payloads().flat_map(|(group, arity)| core::iter::repeat_n(group, arity));
        let groups: Vec<_> = elements.collect();
        let payloads = self.payloads.iter().zip(groups.iter().cycle());
        refuse_any("payload share", payloads.map(|(p, group)| group.contains(*p)))
    }

    /// The shares of `count` elements from the `start`-th on.
    ///
    /// # Panics
    /// If the chunk holds fewer elements.
    #[must_use]
    pub fn slice(&self, request: &Request, start: usize, count: usize) -> Self {
        let part = |per_element: usize| start * per_element..(start + count) * per_element;
        let masks = &self.masks[part(usize::from(request.gives_mask()))];
        let payloads = &self.payloads[part(request.given_payload_elements())];
        Self { masks: Zeroizing::new(masks.to_vec()), payloads: Zeroizing::new(payloads.to_vec()) }
    }

    /// The bytes of a frame's body: for each element ⌈mask bits/8⌉ bytes, then ⌈k/8⌉ bytes for
    /// each given payload element, little-endian.
    #[must_use]
    pub fn encode(&self, request: &Request) -> Zeroizing<Vec<u8>> {
        let mask_bytes = usize::from(request.mask().bits).div_ceil(8);
        let widths: Vec<usize> = payload_widths(request);
        let count = self.count(request);
        let mut bytes = Zeroizing::new(Vec::with_capacity(count * request.body_bytes()));
        let mut payloads = self.payloads.iter();
        for j in 0..count {
            if request.gives_mask() {
                bytes.extend_from_slice(&self.masks[j].to_le_bytes()[..mask_bytes]);
            }
            for (width, element) in widths.iter().zip(payloads.by_ref()) {
                bytes.extend_from_slice(&element.to_le_bytes()[..*width]);
            }
        }
        bytes
    }

    /// Reads a frame's body of exactly `count` elements; its length follows from the request,
    /// never from the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] for another length or a share that is not canonical.
    pub fn decode(request: &Request, count: usize, bytes: &[u8]) -> Result<Self, DecodeError> {
        let want = count * request.body_bytes();
        if bytes.len() != want {
            return Err(DecodeError::Length { what: "shares", have: bytes.len(), want });
        }
        let mask_bytes = usize::from(request.mask().bits).div_ceil(8);
        let widths = payload_widths(request);
        let mut chunk = Self::default();
        chunk.masks.reserve_exact(if request.gives_mask() { count } else { 0 });
        chunk.payloads.reserve_exact(count * widths.len());
        let mut rest = bytes;
        let mut take = |width: usize| {
            let (head, tail) = rest.split_at(width);
            rest = tail;
            let mut wide = [0; 16];
            wide[..width].copy_from_slice(head);
            u128::from_le_bytes(wide)
        };
        for _ in 0..count {
            if request.gives_mask() {
                chunk.masks.push(take(mask_bytes) as u64);
            }
            for width in &widths {
                chunk.payloads.push(take(*width));
            }
        }
        chunk.check(request, count)?;
        Ok(chunk)
    }

    fn count(&self, request: &Request) -> usize {
        if request.gives_mask() {
            self.masks.len()
        } else {
            self.payloads.len() / request.given_payload_elements().max(1)
        }
    }
}

fn payload_widths(request: &Request) -> Vec<usize> {
    request
        .given_payloads()
        .flat_map(|(group, arity)| core::iter::repeat_n(group.element_bytes(), arity))
        .collect()
}

/// Refuses if any entry is false. Looks at all of them before it decides.
fn refuse_any(what: &'static str, valid: impl Iterator<Item = bool> + Clone) -> Result<(), SpecError> {
    if valid.clone().fold(true, |all, ok| all & ok) {
        return Ok(());
    }
    let index = valid.clone().position(|ok| !ok).unwrap_or(0);
    Err(SpecError::OutOfDomain { what, index })
}

/// Gives a party's shares in order, for batches that should not be held in memory.
pub trait ShareReader: Send {
    /// Fills `chunk` with the shares of the next `count` elements.
    ///
    /// # Errors
    /// Whatever keeps the reader from giving them; the batch is abandoned.
    fn read(&mut self, count: usize, chunk: &mut ShareChunk) -> Result<(), SourceError>;
}

/// Where the shares of a batch come from.
pub enum Shares<'a> {
    /// The request derives everything.
    Derived,
    /// All shares, in the order of [`ShareChunk`].
    Slices {
        /// Shares of r, one an element; empty when derived.
        masks: &'a [u64],
        /// Shares of the given payloads.
        payloads: &'a [u128],
    },
    /// A stream of shares.
    Reader(&'a mut dyn ShareReader),
}

impl<'a> Shares<'a> {
    /// Checks what can be checked before the batch starts: the lengths of slices, and that a
    /// request which takes shares was given some.
    ///
    /// # Errors
    /// [`SpecError::Length`].
    pub fn check_lengths(&self, request: &Request) -> Result<(), SpecError> {
        let (masks, payloads) = match self {
            Self::Reader(_) => return Ok(()),
            Self::Derived => (0, 0),
            Self::Slices { masks, payloads } => (masks.len(), payloads.len()),
        };
        let count = usize::try_from(request.count()).unwrap_or(usize::MAX);
        let want_masks = if request.gives_mask() { count } else { 0 };
        let want_payloads = request.given_payload_elements().saturating_mul(count);
        for (what, have, want) in
            [("mask shares", masks, want_masks), ("payload shares", payloads, want_payloads)]
        {
            if have != want {
                return Err(SpecError::Length { what, have, want });
            }
        }
        Ok(())
    }

    /// The shares of the next `count` elements, checked.
    ///
    /// # Errors
    /// [`SourceError`] from the reader or for shares outside their domain.
    pub fn next_chunk(&mut self, request: &Request, count: usize) -> Result<ShareChunk, SourceError> {
        let mut chunk = ShareChunk::default();
        match self {
            Self::Derived => (),
            Self::Slices { masks, payloads } => {
                let taken = if request.gives_mask() { count } else { 0 };
                chunk.masks.extend_from_slice(split_front(masks, taken)?);
                let taken = request.given_payload_elements() * count;
                chunk.payloads.extend_from_slice(split_front(payloads, taken)?);
            }
            Self::Reader(reader) => reader.read(count, &mut chunk)?,
        }
        chunk.check(request, count)?;
        Ok(chunk)
    }
}

fn split_front<'a, T>(slice: &mut &'a [T], count: usize) -> Result<&'a [T], SpecError> {
    let Some((front, rest)) = slice.split_at_checked(count) else {
        return Err(SpecError::Length { what: "shares", have: slice.len(), want: count });
    };
    *slice = rest;
    Ok(front)
}
