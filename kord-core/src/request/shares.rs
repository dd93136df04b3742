//! One party's shares of a batch, at once or as a stream.

use zeroize::Zeroizing;

use super::Request;
use crate::error::{DecodeError, SpecError};
use crate::group::Group;
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
        self.view().check(request, count)
    }

    /// All of it, borrowed.
    #[must_use]
    pub fn view(&self) -> ShareView<'_> {
        ShareView { masks: &self.masks, payloads: &self.payloads }
    }

    /// Writes a frame's body: for each element ⌈mask bits/8⌉ bytes, then ⌈k/8⌉ bytes for each
    /// given payload element, little-endian.
    ///
    /// # Panics
    /// If `body` is not exactly [`Request::body_bytes`] for each element of the chunk.
    pub fn encode_into(&self, request: &Request, body: &mut [u8]) {
        let fields = Fields::new(request);
        assert_eq!(body.len(), self.count(request) * request.body_bytes(), "body of another length");
        let (mut masks, mut payloads, mut at) = (self.masks.iter(), self.payloads.iter(), 0);
        while at < body.len() {
            if let (Some(width), Some(mask)) = (fields.mask, masks.next()) {
                put(body, &mut at, width, u128::from(*mask));
            }
            for (width, element) in fields.payloads.iter().zip(payloads.by_ref()) {
                put(body, &mut at, *width, *element);
            }
        }
    }

    /// Reads a frame's body of exactly `count` elements; its length follows from the request,
    /// never from the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] for another length or a share that is not canonical.
    pub fn decode(request: &Request, count: usize, body: &[u8]) -> Result<Self, DecodeError> {
        let stride = request.body_bytes();
        let want = count * stride;
        if body.len() != want {
            return Err(DecodeError::Length { what: "shares", have: body.len(), want });
        }
        let fields = Fields::new(request);
        let mut chunk = Self::default();
        let mut offset = 0;
        if let Some(width) = fields.mask {
            chunk.masks.extend((0..count).map(|j| get(body, j * stride, width) as u64));
            offset = width;
        }
        if let [width] = *fields.payloads {
            chunk.payloads.extend((0..count).map(|j| get(body, j * stride + offset, width)));
        } else {
            chunk.payloads.reserve_exact(count * fields.payloads.len());
            for j in 0..count {
                let mut at = j * stride + offset;
                for width in &fields.payloads {
                    chunk.payloads.push(get(body, at, *width));
                    at += width;
                }
            }
        }
        chunk.check(request, count)?;
        Ok(chunk)
    }

    fn count(&self, request: &Request) -> usize {
        self.view().count(request)
    }
}

/// One party's shares of some consecutive elements, borrowed; see [`ShareChunk`].
#[derive(Clone, Copy, Default)]
pub struct ShareView<'a> {
    /// Share of r, one an element; empty when masks are derived.
    pub masks: &'a [u64],
    /// Shares of the given payloads: element after element, part after part, `arity` each.
    pub payloads: &'a [u128],
}

impl ShareView<'_> {
    /// Checks that these are canonical shares of exactly `count` elements of `request`.
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
        refuse_outside("mask share", request.mask_group(), self.masks.iter().map(|m| u128::from(*m)))?;
        let stride = request.given_payload_elements();
        match *payload_groups(request) {
            // A plain loop over memory, which vectorizes.
            [group] => refuse_outside("payload share", group, self.payloads.iter().copied()),
            ref groups => groups.iter().enumerate().try_for_each(|(column, group)| {
                let column = self.payloads.iter().skip(column).step_by(stride);
                refuse_outside("payload share", *group, column.copied())
            }),
        }
    }

    /// The shares of `count` elements from the `start`-th on.
    ///
    /// # Panics
    /// If there are fewer elements.
    #[must_use]
    pub fn slice(&self, request: &Request, start: usize, count: usize) -> Self {
        let part = |per_element: usize| start * per_element..(start + count) * per_element;
        Self {
            masks: &self.masks[part(usize::from(request.gives_mask()))],
            payloads: &self.payloads[part(request.given_payload_elements())],
        }
    }

    fn count(&self, request: &Request) -> usize {
        if request.gives_mask() {
            self.masks.len()
        } else {
            self.payloads.len() / request.given_payload_elements().max(1)
        }
    }
}

/// Bytes of the fields of one element in a body.
struct Fields {
    /// Of the share of r, if it is given.
    mask: Option<usize>,
    payloads: Vec<usize>,
}

impl Fields {
    fn new(request: &Request) -> Self {
        let mask = request.gives_mask().then(|| usize::from(request.mask().bits).div_ceil(8));
        Self { mask, payloads: payload_groups(request).iter().map(|g| g.element_bytes()).collect() }
    }
}

/// The groups of an element's given payloads.
fn payload_groups(request: &Request) -> Vec<Group> {
    request.given_payloads().flat_map(|(group, arity)| core::iter::repeat_n(group, arity)).collect()
}

/// Writes the low `width` bytes of `value` at `at`. Away from the end it stores a whole word, whose
/// high bytes the next field overwrites: one store instead of a call to copy a few bytes.
#[inline]
fn put(body: &mut [u8], at: &mut usize, width: usize, value: u128) {
    let bytes = value.to_le_bytes();
    match body.get_mut(*at..*at + 16) {
        Some(word) => word.copy_from_slice(&bytes),
        None => body[*at..*at + width].copy_from_slice(&bytes[..width]),
    }
    *at += width;
}

/// Reads `width` bytes at `at`, a whole word at once away from the end.
#[inline]
fn get(body: &[u8], at: usize, width: usize) -> u128 {
    let mut word = [0; 16];
    match body.get(at..at + 16) {
        Some(bytes) => word.copy_from_slice(bytes),
        None => word[..width].copy_from_slice(&body[at..at + width]),
    }
    u128::from_le_bytes(word) & (u128::MAX >> (128 - 8 * width))
}

/// Refuses if any value is no element. Looks at all of them before it decides.
fn refuse_outside(
    what: &'static str,
    group: Group,
    values: impl Iterator<Item = u128> + Clone,
) -> Result<(), SpecError> {
    if group.contains_all(values.clone()) {
        return Ok(());
    }
    let index = values.clone().position(|value| !group.contains(value)).unwrap_or(0);
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
