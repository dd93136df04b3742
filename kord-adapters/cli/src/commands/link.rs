//! Where the other party's host is: options that several commands share.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kord_chip::host::{HostConfig, Link};
use kord_chip::{SoftChip, Tier};

/// This party's chip and its link to the other party's host.
#[derive(Debug, clap::Args)]
pub struct LinkArgs {
    /// State directory of this party's chip
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
    /// Wait for the other party's host at this address
    #[arg(long, value_name = "HOST:PORT", value_parser = address, required_unless_present = "connect")]
    pub listen: Option<SocketAddr>,
    /// Connect to the other party's host at this address
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with = "listen")]
    pub connect: Option<SocketAddr>,
    /// Seconds to wait for the other party
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub wait: u64,
}

/// An address as `host:port`.
///
/// # Errors
/// The text is no address, or the name is unknown.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let mut found = text.to_socket_addrs().map_err(|e| format!("write host:port ({e})"))?;
    found.next().ok_or_else(|| "this name has no address".to_owned())
}

impl LinkArgs {
    /// How long to wait for the other party.
    #[must_use]
    pub const fn patience(&self) -> Duration {
        Duration::from_secs(self.wait)
    }

    /// The host's settings. With `--listen`, it listens from now on.
    ///
    /// # Errors
    /// Neither address was given, or the address cannot be listened on.
    pub fn config(&self, tier: Tier) -> Result<HostConfig> {
        let link = match (self.listen, self.connect) {
            (Some(address), _) => Link::listen(address).context("--listen")?,
            (None, Some(address)) => Link::Connect(address),
            (None, None) => bail!("give --listen or --connect"),
        };
        Ok(HostConfig { tier, connect_timeout: self.patience(), ..HostConfig::new(link) })
    }

    /// Opens the chip.
    ///
    /// # Errors
    /// It is not provisioned, is in use, or its files are damaged.
    pub fn chip(&self) -> Result<SoftChip> {
        SoftChip::open(&self.state).with_context(|| format!("--state {}", self.state.display()))
    }
}
