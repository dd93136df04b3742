//! One batch through the link: everything sent in one flight, everything received in one.

use std::time::Duration;

use kord_core::Label;
use kord_core::request::ShareChunk;
use kord_core::source::SourceError;

use super::error::HostError;
use super::link::Connection;
use super::message::{Batch, Message, Reason};
use crate::chip::{Chip, Job, Output};
use crate::error::ChipError;

/// Where a batch's shares come from and where its outputs go.
pub(super) struct Feed<'a> {
    pub(super) job: Job,
    /// Most elements of one submission.
    pub(super) per_submission: u64,
    /// Whether submissions make frames that the peer must answer with its own.
    pub(super) exchanged: bool,
    pub(super) shares: &'a mut (dyn FnMut(usize) -> Result<ShareChunk, SourceError> + 'a),
    pub(super) sink: &'a mut (dyn FnMut(Output) -> Result<(), SourceError> + 'a),
}

/// Bytes queued for the peer beyond which no more frames are made.
const QUEUE_LIMIT: usize = 1 << 20;

/// How far a batch is.
struct Progress {
    total: u64,
    submitted: u64,
    /// Outputs handed to the sink.
    drained: u64,
    /// Submissions that the peer's frames have not answered.
    waiting: usize,
    label: Option<Label>,
    peer_agreed: bool,
}

pub(super) async fn run(
    connection: &mut Connection,
    chip: &mut dyn Chip,
    (batch, count): (Batch, u64),
    feed: &mut Feed<'_>,
    patience: Duration,
) -> Result<Label, SourceError> {
    let mut progress =
        Progress { total: count, submitted: 0, drained: 0, waiting: 0, label: None, peer_agreed: false };
    connection.stats.sent.flights += 1;
    connection.stats.received.flights += 1;
    loop {
        submit(connection, chip, &batch, feed, &mut progress)?;
        connection.push()?;
        // Labels are compared before any key is handed over.
        if progress.peer_agreed {
            while let Some(output) = chip.drain().map_err(HostError::from)? {
                progress.drained += elements(&output);
                (feed.sink)(output)?;
            }
            if progress.drained == progress.total {
                break;
            }
            if !feed.exchanged {
                continue;
            }
        }
        let message = match connection.take()? {
            Some(message) => message,
            None => connection.receive(patience).await?,
        };
        receive(connection, chip, &batch, &mut progress, message)?;
    }
    connection.flush(patience).await?;
    progress.label.ok_or(SourceError::Disagreement { field: "count" })
}

/// Submits as much as the chip's window and the queue allow.
fn submit(
    connection: &mut Connection,
    chip: &mut dyn Chip,
    batch: &Batch,
    feed: &mut Feed<'_>,
    progress: &mut Progress,
) -> Result<(), SourceError> {
    let window = if feed.exchanged { chip.capabilities().window } else { 1 };
    while progress.submitted < progress.total
        && progress.waiting < window
        && connection.queued() < QUEUE_LIMIT
        && (feed.exchanged || progress.drained == progress.submitted)
    {
        let count = feed.per_submission.min(progress.total - progress.submitted);
        let shares = (feed.shares)(count as usize)?;
        let submission = chip.submit(&feed.job, count, shares).map_err(HostError::from)?;
        if progress.label.is_none() {
            let label = Label { count: progress.total, ..submission.label };
            progress.label = Some(label);
            connection.queue(&Message::Begin { label, batch: batch.clone() })?;
        }
        progress.submitted += count;
        if let Some(frame) = submission.frame {
            progress.waiting += 1;
            connection.count_sent_frame(&frame);
            connection.queue(&Message::Frame(frame))?;
        }
    }
    Ok(())
}

fn receive(
    connection: &mut Connection,
    chip: &mut dyn Chip,
    batch: &Batch,
    progress: &mut Progress,
    message: Message,
) -> Result<(), SourceError> {
    let peer = connection.peer();
    match (message, progress.label) {
        (Message::Begin { label: theirs, batch: their_batch }, Some(ours)) if !progress.peer_agreed => {
            if let Some(field) = batch.first_difference(ours, &their_batch, theirs) {
                return Err(SourceError::Disagreement { field });
            }
            progress.peer_agreed = true;
        }
        (Message::Frame(frame), _) if progress.peer_agreed => {
            connection.count_received_frame(&frame);
            chip.deliver(&frame).map_err(HostError::from)?;
            progress.waiting = progress.waiting.saturating_sub(1);
        }
        (other, _) => {
            let want = if progress.peer_agreed { "Frame" } else { "Begin" };
            return Err(HostError::Unexpected { peer, got: other.name(), want }.into());
        }
    }
    Ok(())
}

fn elements(output: &Output) -> u64 {
    match output {
        Output::Keys(chunk) => chunk.label.count,
        Output::Correlations(chunk) => chunk.label.count,
    }
}

/// What to tell the peer about an error.
pub(super) fn reason_of(error: &SourceError) -> Reason {
    match error {
        SourceError::Disagreement { .. } => Reason::Disagreement,
        SourceError::Source(source) => match source.downcast_ref::<HostError>() {
            Some(HostError::Message { .. } | HostError::Unexpected { .. }) => Reason::Malformed,
            Some(HostError::Chip(ChipError::Frame(_) | ChipError::NotPending { .. })) => Reason::FrameRefused,
            _ => Reason::Failed,
        },
        _ => Reason::Failed,
    }
}
