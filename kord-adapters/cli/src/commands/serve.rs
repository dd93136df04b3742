//! `kord serve`: a paired host that stays up and makes the batches that its peer proposes.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kord_chip::host::{ChipHost, HostConfig, Link};
use kord_chip::{SoftChip, Tier};
use kord_core::Label;
use kord_core::request::{Part, Request, Shares};

use crate::batch::{Destination, write_batch};
use crate::output::print;
use crate::{progress, rendezvous};

/// How long one wait for a proposal lasts before the next begins.
const TURN: Duration = Duration::from_secs(3600);
/// After a proposal that came to nothing.
const PAUSE: Duration = Duration::from_millis(100);

/// Arguments of `kord serve`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = WHAT)]
pub struct Args {
    /// State directory of this party's chip
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// Wait for the other party's kord keygen at this address
    #[arg(long, value_name = "HOST:PORT", value_parser = super::link::address)]
    listen: SocketAddr,
    /// Directory for key and share files; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "keys")]
    out_dir: PathBuf,
    /// Stop after this many batches [default: never]
    #[arg(long)]
    batches: Option<u64>,
    /// Most keys of one batch: a larger one is refused
    #[arg(long, default_value_t = 1 << 24)]
    max_keys: u64,
    /// How frames are protected: mac, or plain (no authentication; both parties must ask for it)
    #[arg(long, default_value_t = Tier::Mac)]
    tier: Tier,
}

const WHAT: &str = "\
Serves batches in which alpha and payload are derived or constant: this party has no
shares to give, so the other one may ask alone. Each batch becomes
SESSION-STREAM-FIRST.keys and, for what was derived, SESSION-STREAM-FIRST.shares;
kord inspect shows the same numbers on the other side.";

/// Serves until `--batches` are made. A batch that fails is reported, and the next awaited.
///
/// # Errors
/// The chip, the address or the directory cannot be used.
pub fn run(args: &Args) -> Result<()> {
    let dir = args.out_dir.display();
    fs::create_dir_all(&args.out_dir).with_context(|| format!("--out-dir {dir}: cannot create it"))?;
    let mut chip =
        Some(SoftChip::open(&args.state).with_context(|| format!("--state {}", args.state.display()))?);
    // Known before anybody waits for this host.
    TcpListener::bind(args.listen)
        .with_context(|| format!("--listen {}: cannot listen there", args.listen))?;
    print(&format!("listening on {}, keys go to {dir}", args.listen))?;
    let mut made = 0;
    while args.batches.is_none_or(|most| made < most) {
        let request = match rendezvous::accept(args.listen, TURN, |request| servable(request, args.max_keys))
        {
            Ok(Some(request)) => request,
            Ok(None) => continue,
            Err(error) => {
                eprintln!("kord: {error:#}");
                thread::sleep(PAUSE);
                continue;
            }
        };
        let owned = match chip.take() {
            Some(chip) => chip,
            None => SoftChip::open(&args.state)?,
        };
        match serve(args, owned, &request) {
            Ok((kept, line)) => {
                chip = Some(kept);
                made += 1;
                print(&line)?;
            }
            Err(error) => eprintln!("kord: batch abandoned: {error:#}"),
        }
    }
    Ok(())
}

/// Whether a proposal can be served without this party's shares.
fn servable(request: &Request, max_keys: u64) -> Result<(), String> {
    if request.is_exchanged() {
        return Err("a serving host gives no shares; use --alpha derived and no --payload given".to_owned());
    }
    if request.count() > max_keys {
        return Err(format!("count {} is above the serving host's --max-keys {max_keys}", request.count()));
    }
    match request.parts() {
        [Part::Key(_)] => Ok(()),
        _ => Err("a key file holds one key an element; ask for exactly one key part".to_owned()),
    }
}

/// Makes one batch in a session of its own; returns the chip and what was done.
fn serve(args: &Args, chip: SoftChip, request: &Request) -> Result<(SoftChip, String)> {
    let link = Link::listen(args.listen).context("--listen")?;
    let config = HostConfig { tier: args.tier, ..HostConfig::new(link) };
    let mut host = ChipHost::connect(chip, config).context("starting a session")?;
    let files = [args.out_dir.join("incoming.keys"), args.out_dir.join("incoming.shares")];
    for file in &files {
        // What an earlier run left unfinished holds counters that no peer will use.
        let _ = fs::remove_file(file);
    }
    let destination = Destination { keys: &files[0], shares: &files[1] };
    let bar = progress::bar(false, "making keys", request.count(), "keys");
    let label = write_batch(&mut host, request, Shares::Derived, destination, &mut |keys| bar.inc(keys))?;
    bar.finish_and_clear();
    let name = file_name(label);
    let keys = args.out_dir.join(format!("{name}.keys"));
    rename(&files[0], &keys)?;
    if files[1].exists() {
        rename(&files[1], &args.out_dir.join(format!("{name}.shares")))?;
    }
    let Some(Part::Key(part)) = request.parts().first() else {
        bail!("the request has no key part");
    };
    let line = format!("{}: {} keys, {}", keys.display(), label.count, part.spec);
    Ok((host.close(), line))
}

fn file_name(label: Label) -> String {
    format!("{:08}-{:016x}-{:020}", label.session, label.stream, label.first)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("{}: cannot rename {} to it", to.display(), from.display()))
}
