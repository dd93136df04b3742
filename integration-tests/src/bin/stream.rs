//! Streams a batch of the given size through a chip pair over loopback and prints this process's
//! peak memory, both parties and their hosts together. Measured.
//!
//!     cargo run --release -p integration-tests --bin stream -- 10000000

use std::error::Error;

use integration_tests::{both, connected_hosts};
use kord_core::request::{KeyPart, Mask, Part, Payload, Request, ShareChunk, ShareReader, Shares};
use kord_core::source::{KeyChunk, SourceError};
use kord_core::{Group, KeySource, KeySpec, Predicate};

/// Shares that are made as they are read, so that the batch is never in memory.
struct Counting(u64);

impl ShareReader for Counting {
    fn read(&mut self, count: usize, chunk: &mut ShareChunk) -> Result<(), SourceError> {
        for _ in 0..count {
            chunk.masks.push(self.0 & 0xff);
            self.0 += 1;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: u64 = std::env::args().nth(1).ok_or("usage: stream COUNT")?.parse()?;
    let spec = KeySpec::dcf(8, Predicate::Lt, Group::xor(1)?)?;
    let part = Part::Key(KeyPart { spec, payload: Payload::One });
    let request = Request::new(count, Mask::given(8), vec![part])?;
    let made = both(connected_hosts(), |mut host| {
        let mut made = 0;
        let mut sink = |chunk: KeyChunk| {
            made += chunk.label.count;
            Ok(())
        };
        host.generate(&request, Shares::Reader(&mut Counting(0)), &mut sink).map(|_| made)
    });
    for made in made {
        assert_eq!(made?, count, "every key reaches the sink");
    }
    println!("{count} keys, peak {} KiB", peak_memory_kib()?);
    Ok(())
}

/// The high-water mark of this process's resident memory, from the kernel.
fn peak_memory_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).ok_or("no VmHWM line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no VmHWM value")?.parse()?)
}
