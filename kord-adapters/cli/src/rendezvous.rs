//! How two hosts agree on a batch before their chips begin: one message each way, in clear.
//!
//! The connecting host proposes a request; the listening one accepts or says why not. Then both
//! close this connection, and the chips meet at the same address. So a host that serves learns
//! what to make, and a host that made a typing error is told the field before a counter is
//! consumed. Nothing here is secret, and nothing is trusted: the chips bind every detail of the
//! request into their keys.
//!
//! The proposal is JSON: `{"kord": "batch", "version": 1, "request": {…}}`; the answer is
//! `{"refused": null}` or `{"refused": "reason"}`. Not counted in the figures of a batch.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kord_core::channel::{Channel, ChannelError, TcpChannel, TcpConfig};
use kord_core::{Descriptor, Request};
use serde::{Deserialize, Serialize};

/// The longest proposal: a request of 255 parts fits.
const MAX_MESSAGE: u32 = 1 << 18;
/// How long the other side may take for its one message.
const REPLY: Duration = Duration::from_secs(10);
const KIND: &str = "batch";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposal {
    kord: String,
    version: u32,
    request: Request,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    refused: Option<String>,
}

fn config(patience: Duration) -> TcpConfig {
    TcpConfig::default()
        .with_connect_timeout(patience)
        .with_idle_timeout(Some(REPLY))
        .with_max_message(MAX_MESSAGE)
}

/// Proposes `request` to the host that listens at `address`.
///
/// # Errors
/// Nobody is there, or the peer refused; its reason is named.
pub fn propose(address: SocketAddr, request: &Request, patience: Duration) -> Result<()> {
    let proposal = Proposal { kord: KIND.to_owned(), version: VERSION, request: request.clone() };
    let mut channel = TcpChannel::connect(address, config(patience))
        .context("is the other party's host running, and is the address right?")?;
    channel.send(&serde_json::to_vec(&proposal)?)?;
    let answer = channel.recv().with_context(|| format!("{address}: no answer to the proposed batch"))?;
    let answer: Answer =
        serde_json::from_slice(&answer).with_context(|| format!("{address}: the answer is not KORD's"))?;
    match answer.refused {
        None => Ok(()),
        Some(reason) => bail!("{address}: the other party refuses the batch: {reason}"),
    }
}

/// Waits at `address` for a proposal and answers it as `decide` says.
///
/// Returns the accepted request; `None` if nobody came within `patience`. When it returns, the
/// address is free again, and the peer, once accepted, is about to connect to it.
///
/// # Errors
/// The address cannot be listened on, what came is no proposal, or it was refused.
pub fn accept(
    address: SocketAddr,
    patience: Duration,
    decide: impl FnOnce(&Request) -> Result<(), String>,
) -> Result<Option<Request>> {
    let acceptor = TcpChannel::listen(address, config(patience))?;
    let mut channel = match acceptor.accept() {
        Ok(channel) => channel,
        Err(ChannelError::NobodyConnected { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    drop(acceptor);
    let proposed = channel.recv().context("waiting for a proposed batch")?;
    let request = read(&proposed).and_then(|request| decide(&request).map(|()| request));
    let refused = request.as_ref().err().cloned();
    channel.send(&serde_json::to_vec(&Answer { refused })?)?;
    match request {
        Ok(request) => Ok(Some(request)),
        Err(reason) => bail!("{}: refused a proposed batch: {reason}", channel.peer()),
    }
}

fn read(bytes: &[u8]) -> Result<Request, String> {
    let proposal: Proposal =
        serde_json::from_slice(bytes).map_err(|e| format!("not a proposal of this version of kord ({e})"))?;
    if proposal.kord != KIND || proposal.version != VERSION {
        return Err(format!(
            "proposal version {}, here it is {VERSION}; update the older kord",
            proposal.version
        ));
    }
    Ok(proposal.request)
}

/// Accepts a proposal that equals `ours`; otherwise names the first field that differs.
///
/// # Errors
/// The reason to give to the peer.
pub fn must_equal(ours: &Request, theirs: &Request) -> Result<(), String> {
    let reason = |field: &str| Err(format!("it differs in {field}; both parties must ask for the same"));
    let (mine, others) = (Descriptor::of_request(ours), Descriptor::of_request(theirs));
    if mine.len() != others.len() {
        return reason("the number of parts");
    }
    if let Some(field) = mine.iter().zip(&others).find_map(|(a, b)| a.first_difference(b)) {
        return reason(field);
    }
    if ours.count() != theirs.count() {
        return reason("count");
    }
    if ours == theirs { Ok(()) } else { reason("the parts of the request") }
}
