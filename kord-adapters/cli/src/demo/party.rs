//! One party's process.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{io, process, thread};

use anyhow::{Context, Result, bail};
use kord_chip::SoftChip;
use kord_chip::host::{self, ChipHost, HostConfig, Link};
use kord_core::channel::{Channel, TcpAcceptor, TcpChannel, TcpConfig};
use kord_core::utilisation;
use zeroize::Zeroizing;

use super::event::{Event, PartyReport};
use super::protocol::{self, OPENING};

/// File of this party's share of the photograph, in its state directory's parent.
pub const SHARE_FILE: &str = "photo.share";
/// File of this party's share of the result.
pub const RESULT_FILE: &str = "result.share";
/// The chip's state, beside them.
pub const STATE_DIR: &str = "chip";

/// Arguments of the hidden `kord demo-party`: party 0 listens, party 1 is told where.
#[derive(Debug, clap::Args)]
pub struct PartyArgs {
    #[arg(long)]
    dir: PathBuf,
    #[arg(long)]
    threshold: u8,
    /// Where party 0's chip host waits
    #[arg(long, requires = "opening")]
    chip: Option<SocketAddr>,
    /// Where party 0 waits for the online round
    #[arg(long, requires = "chip")]
    opening: Option<SocketAddr>,
}

/// How this party reaches the other.
enum Ends {
    Listen { chip: Link, opening: TcpAcceptor },
    Connect { chip: SocketAddr, opening: SocketAddr },
}

/// Runs one party and reports on standard output. A failure is an event too.
///
/// # Errors
/// Nobody listens to the events.
pub fn run(args: &PartyArgs) -> Result<()> {
    end_with_parent();
    match work(args) {
        Ok(report) => Event::Done(report).emit(),
        Err(error) => {
            Event::Failed { message: format!("{error:#}") }.emit()?;
            process::exit(1)
        }
    }
}

/// Ends this process when the parent's end of standard input closes: a party is of no use alone.
fn end_with_parent() {
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        process::exit(1);
    });
}

fn work(args: &PartyArgs) -> Result<PartyReport> {
    let share = read_share(&args.dir)?;
    let mut chip = SoftChip::open(&args.dir.join(STATE_DIR)).context("opening the chip")?;
    let ends = Ends::of(args)?;
    let config = HostConfig::new(ends.chip_link());
    let paired = host::pair(&mut chip, &config).context("pairing")?;
    let mut host = ChipHost::connect(chip, config).context("starting a session")?;
    let session = host.session_report().duration;

    let gate = protocol::gate(args.threshold)?;
    let request = protocol::request(&gate, share.len() as u64)?;
    let bare = utilisation::bare_aes_blocks_per_s();
    let before = host.stats();
    let started = Instant::now();
    let mut made = 0;
    let mut told = 0;
    let keys = protocol::make_keys(&mut host, &request, &mut |count| {
        made += count;
        if made - told >= 8192 || made == request.count() {
            told = made;
            // A parent that is gone has ended this process already.
            let _ = Event::Keys { made }.emit();
        }
    })?;
    let keygen = started.elapsed();
    let link = host.stats().since(&before);

    let mut channel = ends.open_channel()?;
    let started = Instant::now();
    let opened = protocol::open(&mut channel, &share, &keys)?;
    let opening = started.elapsed();
    let answers = protocol::evaluate(&gate, keys, &opened)?;
    let online = started.elapsed();
    let traffic = channel.stats().phase(OPENING);
    let path = args.dir.join(RESULT_FILE);
    fs::write(&path, answers).with_context(|| format!("{}: cannot write it", path.display()))?;
    host.close();
    Ok(PartyReport {
        pair_seconds: paired.duration.as_secs_f64(),
        session_seconds: session.as_secs_f64(),
        keys: made,
        keygen_seconds: keygen.as_secs_f64(),
        aes_blocks: request.gen_blocks(),
        bare_blocks_per_second: bare,
        payload_bytes: link.sent.payload_bytes,
        frame_bytes: link.sent.frame_bytes,
        frames: link.sent.frames,
        rounds: link.rounds(),
        online_seconds: online.as_secs_f64(),
        evaluation_seconds: (online - opening).as_secs_f64(),
        online_bytes: traffic.sent.wire_bytes,
        online_rounds: traffic.rounds(),
    })
}

fn read_share(dir: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let path = dir.join(SHARE_FILE);
    let share = fs::read(&path).with_context(|| format!("{}: cannot read it", path.display()))?;
    Ok(Zeroizing::new(share))
}

impl Ends {
    fn of(args: &PartyArgs) -> Result<Self> {
        match (args.chip, args.opening) {
            (Some(chip), Some(opening)) => Ok(Self::Connect { chip, opening }),
            (None, None) => {
                let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                let opening = TcpChannel::listen(any, TcpConfig::default())?;
                let chip = Link::listen(any)?;
                Event::Listening { chip: chip.address()?, opening: opening.local_addr() }.emit()?;
                Ok(Self::Listen { chip, opening })
            }
            _ => bail!("--chip and --opening go together"),
        }
    }

    fn chip_link(&self) -> Link {
        match self {
            Self::Listen { chip, .. } => chip.clone(),
            Self::Connect { chip, .. } => Link::Connect(*chip),
        }
    }

    fn open_channel(&self) -> Result<TcpChannel> {
        let channel = match self {
            Self::Listen { opening, .. } => opening.accept(),
            Self::Connect { opening, .. } => TcpChannel::connect(*opening, TcpConfig::default()),
        };
        channel.context("connecting for the online round")
    }
}
