//! One party's part, over any key source and any channel.

use anyhow::{Context, Result, bail};
use kord_core::channel::Channel;
use kord_core::request::{Mask, Request, ShareChunk, ShareReader, Shares};
use kord_core::source::{KeyChunk, PartOutput, SourceError};
use kord_core::{Group, KeyBatch, KeySource, Label};
use rand::Rng;
use zeroize::Zeroizing;

use crate::interval::IntervalGate;

/// Bits of a pixel.
const BITS: u8 = 8;

/// Phase of the online round in a channel's counters.
pub const OPENING: &str = "opening";

/// The gate "at least `threshold`" on pixels, paying out one bit under XOR.
///
/// # Errors
/// None for 8-bit thresholds; passed on from the gate.
pub fn gate(threshold: u8) -> Result<IntervalGate> {
    Ok(IntervalGate::at_least(BITS, Group::xor(1)?, u64::from(threshold))?)
}

/// What to ask a key source for: one key a pixel, shares of its mask given, payload 1.
///
/// # Errors
/// There are no pixels.
pub fn request(gate: &IntervalGate, pixels: u64) -> Result<Request> {
    Ok(Request::new(pixels, Mask::given(BITS), vec![gate.part()])?)
}

/// Fresh mask shares and the keys over them, batch after batch as they came.
pub struct MaskedKeys {
    masks: Zeroizing<Vec<u8>>,
    batches: Vec<KeyBatch>,
    label: Label,
}

impl MaskedKeys {
    /// Which counters the keys consumed.
    #[must_use]
    pub const fn label(&self) -> Label {
        self.label
    }
}

/// Gives a source one mask share a byte.
struct MaskReader<'a>(&'a [u8]);

impl ShareReader for MaskReader<'_> {
    fn read(&mut self, count: usize, chunk: &mut ShareChunk) -> Result<(), SourceError> {
        let (now, later) = self.0.split_at(count.min(self.0.len()));
        chunk.masks.extend(now.iter().map(|mask| u64::from(*mask)));
        self.0 = later;
        Ok(())
    }
}

/// Draws a mask share for each pixel and has keys made over the masks.
///
/// # Arguments
/// `progress`: told how many keys each chunk has.
///
/// # Errors
/// The source failed.
pub fn make_keys(
    source: &mut dyn KeySource,
    request: &Request,
    progress: &mut dyn FnMut(u64),
) -> Result<MaskedKeys> {
    let pixels = usize::try_from(request.count()).context("pixels: too many for this machine")?;
    let mut masks = Zeroizing::new(vec![0; pixels]);
    rand::rng().fill_bytes(&mut masks);
    let mut batches = Vec::new();
    let mut sink = |mut chunk: KeyChunk| {
        let Some(PartOutput::Keys(keys)) = chunk.outputs.pop() else {
            return Err(SourceError::Disagreement { field: "parts of the sink's request" });
        };
        progress(keys.len() as u64);
        batches.push(keys);
        Ok(())
    };
    let label = source
        .generate(request, Shares::Reader(&mut MaskReader(&masks)), &mut sink)
        .context("making the keys")?;
    Ok(MaskedKeys { masks, batches, label })
}

/// The online round: both parties send their shares of x̂ = x + r, and learn it.
///
/// # Errors
/// The channel failed, or there is not one key a pixel.
pub fn open(channel: &mut dyn Channel, share: &[u8], keys: &MaskedKeys) -> Result<Vec<u8>> {
    if share.len() != keys.masks.len() {
        bail!("shares of {} pixels, but {} keys", share.len(), keys.masks.len());
    }
    let own: Vec<u8> = share.iter().zip(keys.masks.iter()).map(|(x, r)| x.wrapping_add(*r)).collect();
    channel.phase(OPENING);
    let peer =
        channel.exchange_exact(&own, "masked pixels", own.len()).context("opening the masked pixels")?;
    Ok(own.iter().zip(&peer).map(|(a, b)| a.wrapping_add(*b)).collect())
}

/// This party's shares of the answers, 0 or 1 a pixel. Consumes the keys.
///
/// # Errors
/// There is not one key a pixel.
pub fn evaluate(gate: &IntervalGate, keys: MaskedKeys, opened: &[u8]) -> Result<Vec<u8>> {
    let mut answers = Vec::with_capacity(opened.len());
    for batch in keys.batches {
        let first = answers.len();
        let Some(opened) = opened.get(first..first + batch.len()) else {
            bail!("{} opened pixels, but more keys", opened.len());
        };
        let opened: Vec<u64> = opened.iter().map(|x| u64::from(*x)).collect();
        answers.extend(gate.evaluate(batch, &opened)?.iter().map(|share| *share as u8));
    }
    Ok(answers)
}
