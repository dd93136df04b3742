//! What a party's process tells the one that started it: one JSON object a line on standard
//! output.

use std::io::{self, Write};
use std::net::SocketAddr;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// A step of a party's process, or its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Party 0 can be reached.
    Listening {
        /// Where its chip's host waits.
        chip: SocketAddr,
        /// Where it waits for the online round.
        opening: SocketAddr,
    },
    /// More keys are made.
    Keys {
        /// Keys so far.
        made: u64,
    },
    /// Done; the result share is written.
    Done(PartyReport),
    /// Failed.
    Failed {
        /// The chain of causes.
        message: String,
    },
}

/// What one party measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartyReport {
    /// Seconds of the pairing.
    pub pair_seconds: f64,
    /// Seconds of the session handshake.
    pub session_seconds: f64,
    /// Keys made.
    pub keys: u64,
    /// Seconds from the request to the last key.
    pub keygen_seconds: f64,
    /// AES blocks of Gen on the special path, both halves.
    pub aes_blocks: u64,
    /// Bare fixed-key AES blocks a second, just before, with the other party doing the same.
    pub bare_blocks_per_second: f64,
    /// Body bytes of frames sent.
    pub payload_bytes: u64,
    /// Bytes of frames sent, envelopes included.
    pub frame_bytes: u64,
    /// Frames sent.
    pub frames: u64,
    /// Rounds of key generation.
    pub rounds: u64,
    /// Seconds of the online round and the evaluation.
    pub online_seconds: f64,
    /// Seconds of the evaluation alone.
    pub evaluation_seconds: f64,
    /// Bytes sent online, with the channel's framing.
    pub online_bytes: u64,
    /// Online rounds.
    pub online_rounds: u64,
}

impl Event {
    /// Prints the event.
    ///
    /// # Errors
    /// Nobody reads standard output any more.
    pub fn emit(&self) -> Result<()> {
        let mut out = io::stdout().lock();
        let line = serde_json::to_string(self)?;
        writeln!(out, "{line}").and_then(|()| out.flush()).context("the demo's parent process is gone")
    }
}
