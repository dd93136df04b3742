//! `kord provision`: a chip's identity and state directory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kord_chip::identity::{DevelopmentCa, DeviceSerial, Validity};
use kord_chip::soft::Provision;
use kord_chip::{SoftChip, Tier};
use kord_core::Party;

use crate::output::print;

/// Arguments of `kord provision`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = ROOT)]
pub struct Args {
    /// Directory to create for the chip's identity, storage key, policy and counters
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// Which party this chip is: one chip of a pair is 0, the other 1
    #[arg(long, value_parser = party)]
    party: Party,
    /// Directory of the development root that certifies the chip; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "development-root")]
    root_dir: PathBuf,
    /// The device's serial [default: random]
    #[arg(long)]
    serial: Option<DeviceSerial>,
    /// The lowest tier that this chip, and its peer, may use: mac, or plain (no authentication)
    #[arg(long, default_value_t = Tier::Mac)]
    lowest_tier: Tier,
}

const ROOT: &str = "\
The root is for development: its key lies in a file, so its certificates say who
made them and nothing about hardware. Both chips of a pair must be certified under
one root: provision both with the same --root-dir, or put the other's root into
policy.toml in the state directory. The policy also lists what the peer may run: at
first, this very program.";

/// A party number.
pub(super) fn party(text: &str) -> Result<Party, &'static str> {
    let number = text.parse().ok();
    number.and_then(Party::from_number).ok_or("the party is 0 or 1")
}

/// Makes the state directory, and the root if there is none.
///
/// # Errors
/// The chip exists already, or a directory cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let ca = root(&args.root_dir)?;
    let mut how = Provision::new(args.party);
    how.lowest_tier = args.lowest_tier;
    how.identity.serial.clone_from(&args.serial);
    SoftChip::provision(&args.state, &ca, &how)
        .with_context(|| format!("--state {}: cannot provision it", args.state.display()))?;
    print(&format!(
        "{}: chip of {}, certified under the development root in {}\nnext: kord pair --state {} --listen or \
         --connect HOST:PORT",
        args.state.display(),
        args.party,
        args.root_dir.display(),
        args.state.display()
    ))
}

/// The root in `dir`, made if there is none.
///
/// # Errors
/// It cannot be read or made.
pub fn root(dir: &Path) -> Result<DevelopmentCa> {
    let name = || format!("--root-dir {}", dir.display());
    if dir.exists() {
        return DevelopmentCa::load(dir).with_context(name);
    }
    let ca = DevelopmentCa::generate(Validity::ROOT).with_context(name)?;
    ca.save(dir).with_context(name)?;
    Ok(ca)
}
