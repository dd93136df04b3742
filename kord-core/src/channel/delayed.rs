//! A link that is slower than the one it runs on.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use zeroize::Zeroizing;

use super::{Channel, ChannelError, PREFIX_BYTES, Peer, Stats, check_length};

/// The emulated link: each direction alike, no loss, no jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Round-trip time. A message arrives half of it after its last byte was sent.
    pub rtt: Duration,
    /// Bits per second each way; `None` for no limit.
    pub bits_per_second: Option<u64>,
}

impl Link {
    /// How long the link is busy with so many bytes. A rate of 0 counts as 1 bit/s.
    #[must_use]
    pub fn transmission_time(&self, wire_bytes: u64) -> Duration {
        let Some(rate) = self.bits_per_second else { return Duration::ZERO };
        let nanos = u128::from(wire_bytes) * 8 * 1_000_000_000 / u128::from(rate.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// A channel whose messages arrive as late as on the [`Link`] it emulates. **Figures taken over
/// it are of an emulated link and must say so.**
///
/// Wrap **both** ends, on one machine. The sender works out when each message would arrive (the
/// line is busy with one message at a time, then half a round-trip time passes) and appends that
/// time, 8 bytes, to the message; the receiver waits for it. So computation overlaps with
/// transmission as it would on the real link, a flight of many messages pays the latency once,
/// and the same calls at the same times give the same delays. `send` itself does not wait: the
/// emulated line has an unbounded send buffer.
///
/// The counters do not include the 8 bytes, but the inner channel's maximum message length does.
/// Times travel as wall-clock time, which all processes of one machine share. If it is wrong (the
/// clock was set, or a peer lies), a message waits at most as if it had been sent when it was
/// received.
#[derive(Debug)]
pub struct Delayed<C> {
    inner: C,
    link: Link,
    stats: Stats,
    /// When the outgoing line has sent all it was given, as time since the epoch.
    line_free: Duration,
    /// The same for the incoming line, at the latest.
    peer_line_free: Instant,
}

const STAMP_BYTES: usize = 8;

/// Sleeping overshoots by about this much, so the rest of a wait is spent yielding.
const SLEEP_OVERSHOOT: Duration = Duration::from_micros(200);

impl<C: Channel> Delayed<C> {
    /// `inner`, made as slow as `link`.
    pub fn new(inner: C, link: Link) -> Self {
        Self { inner, link, stats: Stats::new(), line_free: Duration::ZERO, peer_line_free: Instant::now() }
    }

    /// The channel underneath. Its counters include the stamps.
    pub const fn inner(&self) -> &C {
        &self.inner
    }

    fn transmission_time(&self, payload_bytes: usize) -> Duration {
        self.link.transmission_time((payload_bytes + PREFIX_BYTES) as u64)
    }

    /// The message and its time of arrival. A sent message is counted by the caller.
    fn stamp(&mut self, message: &[u8]) -> Zeroizing<Vec<u8>> {
        let start = since_epoch().max(self.line_free);
        self.line_free = start.saturating_add(self.transmission_time(message.len()));
        let arrival = self.line_free.saturating_add(self.link.rtt / 2);
        let nanos = u64::try_from(arrival.as_nanos()).unwrap_or(u64::MAX);
        let mut stamped = Zeroizing::new(Vec::with_capacity(message.len() + STAMP_BYTES));
        stamped.extend_from_slice(message);
        stamped.extend_from_slice(&nanos.to_le_bytes());
        stamped
    }

    /// Waits until the stamped message would have arrived, and strips the stamp.
    fn arrive(&mut self, mut message: Vec<u8>) -> Result<Vec<u8>, ChannelError> {
        let received = Instant::now();
        let Some((payload, stamp)) = message.split_last_chunk::<STAMP_BYTES>() else {
            check_length(self.peer(), "stamp of the delayed link", message.len() as u64, STAMP_BYTES)?;
            return Ok(message);
        };
        let payload_bytes = payload.len();
        let arrival = Duration::from_nanos(u64::from_le_bytes(*stamp));
        message.truncate(payload_bytes);

        let claimed = arrival.saturating_sub(since_epoch());
        self.peer_line_free = later(received.max(self.peer_line_free), self.transmission_time(payload_bytes));
        let latest = later(self.peer_line_free, self.link.rtt / 2);
        wait_until(later(received, claimed).min(latest));
        self.stats.record_received(payload_bytes, PREFIX_BYTES);
        Ok(message)
    }
}

impl<C: Channel> Channel for Delayed<C> {
    fn send(&mut self, message: &[u8]) -> Result<(), ChannelError> {
        let stamped = self.stamp(message);
        self.inner.send(&stamped)?;
        self.stats.record_sent(message.len(), PREFIX_BYTES);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.inner.flush()
    }

    fn recv(&mut self) -> Result<Vec<u8>, ChannelError> {
        let stamped = self.inner.recv()?;
        self.arrive(stamped)
    }

    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, ChannelError> {
        let stamped = self.stamp(message);
        let received = self.inner.exchange(&stamped)?;
        self.stats.record_sent(message.len(), PREFIX_BYTES);
        self.arrive(received)
    }

    fn phase(&mut self, name: &'static str) {
        self.stats.begin_phase(name);
        self.inner.phase(name);
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn peer(&self) -> Peer {
        self.inner.peer()
    }
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// `time + delay`; a delay that no clock can express is cut to a day.
fn later(time: Instant, delay: Duration) -> Instant {
    time.checked_add(delay).unwrap_or_else(|| time + Duration::from_secs(86_400))
}

fn wait_until(deadline: Instant) {
    if let Some(long) = deadline.checked_duration_since(Instant::now() + SLEEP_OVERSHOOT) {
        thread::sleep(long);
    }
    while Instant::now() < deadline {
        thread::yield_now();
    }
}
