//! The machine that figures belong to.

use core::fmt;

use kord_core::Backend;
use serde::Serialize;

/// What a reader must know to compare figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's model, "unknown" where the system does not tell.
    pub cpu: String,
    /// Logical processors that this process may use.
    pub cores: u64,
    /// How kord-core computes AES here.
    pub aes: String,
    /// Operating system.
    pub os: &'static str,
    /// Instruction set.
    pub arch: &'static str,
    /// Version of KORD.
    pub kord: &'static str,
    /// The compiler that built this program.
    pub rustc: &'static str,
}

impl Machine {
    /// The machine that this program runs on.
    #[must_use]
    pub fn this() -> Self {
        Self {
            cpu: cpu_model().unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
            aes: Backend::detect().to_string(),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            kord: env!("CARGO_PKG_VERSION"),
            rustc: env!("KORD_RUSTC"),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, aes, os, arch, kord, rustc } = self;
        write!(f, "{cpu}, {cores} cores, AES: {aes}; {os} {arch}; kord {kord}, {rustc}")
    }
}

/// The model as Linux tells it: x86 names it, ARM gives numbers at best.
fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
