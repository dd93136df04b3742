//! The host driver: a chip, a TCP connection to the other host, and [`KeySource`] on top.
//!
//! [`ChipHost`] relays handshakes and sealed frames, cuts batches into frames, compares labels,
//! and hands keys to the caller's sink as they come. It holds no secrets of its own. Calls block;
//! inside, one tokio runtime on the calling thread moves bytes both ways at once, so that two
//! hosts that send large batches at the same time never wait for each other.
//!
//! Memory is bounded by the chip's window of frames, not by the batch. If the sink is slow the
//! host stops reading, the peer's socket fills, and the peer waits.

mod batch;
mod error;
mod link;
mod message;
mod stats;

use std::sync::Arc;
use std::time::{Duration, Instant};

use kord_core::request::{ShareChunk, Shares};
use kord_core::source::{CorrelationSink, Cost, KeySink, SourceError, Support};
use kord_core::{Correlation, CorrelationSource, KeySource, Label, Party, Request};
use tokio::runtime::Runtime;

pub use error::HostError;
pub use link::Link;
pub use message::{MessageError, Reason};
pub use stats::{Direction, LinkStats};

use crate::chip::{Chip, Job, Output, PairStep, frame_elements};
use crate::tier::Tier;
use batch::Feed;
use link::Connection;
use message::{Batch, Hello, Message, Purpose, VERSION};

/// How a host reaches its peer.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Where the peer is.
    pub link: Link,
    /// How frames are protected; both sides must ask for the same tier.
    pub tier: Tier,
    /// How long to wait for the peer to be there.
    pub connect_timeout: Duration,
    /// How long the peer may be silent in the middle of a handshake or batch.
    pub reply_timeout: Duration,
}

impl HostConfig {
    /// The default tier ([`Tier::Mac`]); 30 s for the peer to appear, 60 s for each answer.
    #[must_use]
    pub fn new(link: Link) -> Self {
        Self {
            link,
            tier: Tier::Mac,
            connect_timeout: Duration::from_secs(30),
            reply_timeout: Duration::from_secs(60),
        }
    }
}

/// What a handshake did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeReport {
    /// From the open connection to the finished handshake.
    pub duration: Duration,
    /// What crossed the link.
    pub stats: LinkStats,
}

/// Pairs this chip with the one at the other end of `link`. Both sides call this.
///
/// # Errors
/// [`HostError`]; nothing is stored unless the pairing completed on this side.
pub fn pair(chip: &mut dyn Chip, config: &HostConfig) -> Result<HandshakeReport, HostError> {
    let runtime = runtime()?;
    let mut connection =
        runtime.block_on(Connection::open(&config.link, config.tier, config.connect_timeout))?;
    let started = Instant::now();
    runtime.block_on(async {
        greet(&mut connection, chip, Purpose::Pair, config).await?;
        handshake(&mut connection, chip, PairStep::StartPairing, config).await
    })?;
    Ok(HandshakeReport { duration: started.elapsed(), stats: connection.stats })
}

/// One party's end of a chip pair: a [`KeySource`] and [`CorrelationSource`].
///
/// # Panics
/// Its methods block and must not be called on a thread of an async runtime.
pub struct ChipHost<C> {
    chip: C,
    config: HostConfig,
    runtime: Runtime,
    connection: Option<Connection>,
    /// What earlier connections counted.
    closed: LinkStats,
    session: HandshakeReport,
}

impl<C: Chip> ChipHost<C> {
    /// Connects to the peer and starts a session. Both sides call this.
    ///
    /// # Errors
    /// [`HostError`], naming what is wrong with the peer and what to do.
    pub fn connect(chip: C, config: HostConfig) -> Result<Self, HostError> {
        let session = HandshakeReport { duration: Duration::ZERO, stats: LinkStats::default() };
        let closed = LinkStats::default();
        let mut host = Self { chip, config, runtime: runtime()?, connection: None, closed, session };
        host.connection = Some(host.session()?);
        Ok(host)
    }

    /// The chip.
    pub const fn chip(&self) -> &C {
        &self.chip
    }

    /// What the latest session handshake took.
    pub const fn session_report(&self) -> &HandshakeReport {
        &self.session
    }

    /// Everything that crossed the link so far, handshakes included.
    pub fn stats(&self) -> LinkStats {
        let open = self.connection.as_ref().map(|c| c.stats).unwrap_or_default();
        self.closed.plus(&open)
    }

    /// Says goodbye to the peer and gives the chip back.
    pub fn close(mut self) -> C {
        if let Some(connection) = self.connection.take() {
            self.leave(connection, Reason::Done);
        }
        self.chip
    }

    /// Takes the connection out, or opens one and a session if the last ones are gone. A session's
    /// keys live in memory on both sides, so a lost connection always means a new session.
    fn session(&mut self) -> Result<Connection, HostError> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let (chip, config) = (&mut self.chip, &self.config);
        let mut connection =
            self.runtime.block_on(Connection::open(&config.link, config.tier, config.connect_timeout))?;
        let started = Instant::now();
        self.runtime.block_on(async {
            greet(&mut connection, chip, Purpose::Work, config).await?;
            handshake(&mut connection, chip, PairStep::StartSession(config.tier), config).await
        })?;
        self.session = HandshakeReport { duration: started.elapsed(), stats: connection.stats };
        Ok(connection)
    }

    /// Tells the peer why, as far as it still listens, and forgets the connection.
    fn leave(&mut self, mut connection: Connection, reason: Reason) {
        const PATIENCE: Duration = Duration::from_secs(1);
        self.runtime.block_on(say_goodbye(&mut connection, reason, PATIENCE));
        self.closed = self.closed.plus(&connection.stats);
    }

    fn run(&mut self, batch: Batch, feed: &mut Feed<'_>, count: u64) -> Result<Label, SourceError> {
        let mut connection = self.session()?;
        let result = self.runtime.block_on(batch::run(
            &mut connection,
            &mut self.chip,
            (batch, count),
            feed,
            self.config.reply_timeout,
        ));
        match &result {
            Ok(_) => self.connection = Some(connection),
            Err(error) => self.leave(connection, batch::reason_of(error)),
        }
        result
    }
}

fn runtime() -> Result<Runtime, HostError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(HostError::Runtime)
}

async fn say_goodbye(connection: &mut Connection, reason: Reason, patience: Duration) {
    // The peer may be gone already: then there is nobody to tell.
    if connection.queue(&Message::Goodbye(reason)).is_ok() {
        let _ = connection.flush(patience).await;
    }
}

/// Exchanges Hello messages and checks that the peer is who can be worked with.
async fn greet(
    connection: &mut Connection,
    chip: &dyn Chip,
    purpose: Purpose,
    config: &HostConfig,
) -> Result<(), HostError> {
    let pairing_id = match purpose {
        Purpose::Pair => [0; 16],
        Purpose::Work => chip.pairing_id().ok_or(HostError::NotPaired)?,
    };
    let ours = Hello { version: VERSION, party: chip.party(), purpose, pairing_id };
    connection.queue(&Message::Hello(ours))?;
    connection.push()?;
    let peer = connection.peer();
    let theirs = match connection.receive(config.reply_timeout).await? {
        Message::Hello(hello) => hello,
        other => return Err(HostError::Unexpected { peer, got: other.name(), want: "Hello" }),
    };
    connection.flush(config.reply_timeout).await?;
    let name = |purpose| match purpose {
        Purpose::Pair => "pair",
        Purpose::Work => "make keys",
    };
    if theirs.version != VERSION {
        return Err(HostError::Version { peer, theirs: theirs.version, ours: VERSION });
    }
    if theirs.party == ours.party {
        return Err(HostError::SameParty { peer, party: ours.party });
    }
    if theirs.purpose != purpose {
        return Err(HostError::Purpose { peer, theirs: name(theirs.purpose), ours: name(purpose) });
    }
    if theirs.pairing_id != pairing_id {
        return Err(HostError::OtherPairing { peer });
    }
    Ok(())
}

/// Relays handshake messages until the chip is done.
async fn handshake(
    connection: &mut Connection,
    chip: &mut dyn Chip,
    start: PairStep<'_>,
    config: &HostConfig,
) -> Result<(), HostError> {
    let pairing = matches!(start, PairStep::StartPairing);
    let wrap = if pairing { Message::Pairing } else { Message::Session };
    let mut reply = chip.pair(start)?;
    loop {
        if let Some(bytes) = reply.message.take() {
            connection.queue(&wrap(bytes))?;
            connection.stats.sent.flights += 1;
            connection.flush(config.reply_timeout).await?;
        }
        if reply.done {
            return Ok(());
        }
        let peer = connection.peer();
        let want = if pairing { "Pairing" } else { "Session" };
        let result = match connection.receive(config.reply_timeout).await? {
            Message::Pairing(bytes) if pairing => chip.pair(PairStep::PairingMessage(&bytes)),
            Message::Session(bytes) if !pairing => chip.pair(PairStep::SessionMessage(&bytes)),
            other => return Err(HostError::Unexpected { peer, got: other.name(), want }),
        };
        connection.stats.received.flights += 1;
        match result {
            Ok(next) => reply = next,
            Err(error) => {
                if let Some(bytes) = error.last_message() {
                    connection.queue(&wrap(bytes.to_vec()))?;
                }
                say_goodbye(connection, Reason::HandshakeRefused, config.reply_timeout).await;
                return Err(error.into());
            }
        }
    }
}

impl<C: Chip> KeySource for ChipHost<C> {
    fn party(&self) -> Party {
        self.chip.party()
    }

    fn supports(&self, request: &Request) -> Support {
        if let Some(field) = self.chip.capabilities().refuses(request) {
            return Support::No { field };
        }
        let payload = (request.body_bytes() as u64).saturating_mul(request.count());
        let frames = if payload == 0 { 0 } else { request.count().div_ceil(frame_elements(request)) };
        Support::Yes(Cost {
            payload_bytes: payload,
            sent_bytes: payload.saturating_add(frames * crate::frame::overhead(self.config.tier) as u64),
            messages: frames + 1,
            rounds: 1,
            aes_blocks: request.gen_blocks(),
            key_bytes: (request.key_bytes() as u64).saturating_mul(request.count()),
        })
    }

    fn generate(
        &mut self,
        request: &Request,
        mut shares: Shares<'_>,
        sink: &mut dyn KeySink,
    ) -> Result<Label, SourceError> {
        shares.check_lengths(request)?;
        if let Some(field) = self.chip.capabilities().refuses(request) {
            return Err(SourceError::Unsupported { field });
        }
        let mut feed = Feed {
            job: Job::Keys(Arc::new(request.clone())),
            per_submission: frame_elements(request),
            exchanged: request.is_exchanged(),
            shares: &mut |count| shares.next_chunk(request, count),
            sink: &mut |output| match output {
                Output::Keys(chunk) => sink.accept(chunk),
                Output::Correlations(_) => Err(SourceError::Disagreement { field: "batch" }),
            },
        };
        self.run(Batch::Request(request.clone()), &mut feed, request.count())
    }
}

impl<C: Chip> CorrelationSource for ChipHost<C> {
    fn party(&self) -> Party {
        self.chip.party()
    }

    fn position(&mut self, kind: &Correlation) -> Result<u64, SourceError> {
        Ok(self.chip.position(kind.stream()).map_err(HostError::from)?)
    }

    fn skip(&mut self, kind: &Correlation, count: u64) -> Result<(), SourceError> {
        if count == 0 {
            return Ok(());
        }
        self.connection = Some(self.session()?);
        let job = Job::Skip { stream: kind.stream() };
        self.chip.submit(&job, count, ShareChunk::default()).map_err(HostError::from)?;
        Ok(())
    }

    fn take(
        &mut self,
        kind: &Correlation,
        count: u64,
        sink: &mut dyn CorrelationSink,
    ) -> Result<Label, SourceError> {
        if !self.chip.capabilities().correlations {
            return Err(SourceError::Unsupported { field: "correlations" });
        }
        if count == 0 {
            return Err(SourceError::Request(kord_core::request::RequestError::EmptyBatch));
        }
        let mut feed = Feed {
            job: Job::Correlations(*kind),
            per_submission: 1 << 16,
            exchanged: false,
            shares: &mut |_| Ok(ShareChunk::default()),
            sink: &mut |output| match output {
                Output::Correlations(chunk) => sink.accept(chunk),
                Output::Keys(_) => Err(SourceError::Disagreement { field: "batch" }),
            },
        };
        self.run(Batch::Correlation(*kind), &mut feed, count)
    }
}

impl From<HostError> for SourceError {
    fn from(error: HostError) -> Self {
        Self::Source(Box::new(error))
    }
}
