//! KORD's own key file: one party's native keys, streamed both ways.
//!
//! # Layout
//! All integers are little-endian. Version 1:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic, the ASCII bytes `KORDKEYS` |
//! | 8 | 2 | version, 1 |
//! | 10 | 2 | header length, 160 |
//! | 12 | 1 | scheme: 1 DPF, 2 DCF x < alpha, 3 DCF x > alpha |
//! | 13 | 1 | PRG profile, fixed-key AES-128 MMO: 0 default keys, 2 other keys |
//! | 14 | 1 | group kind: 1 Z_2^k, 2 Z_m, 3 XOR strings |
//! | 15 | 1 | domain bits, 1 to 64 |
//! | 16 | 2 | element bits, 1 to 128; ⌈log2 m⌉ for Z_m |
//! | 18 | 1 | party, 0 or 1 |
//! | 19 | 1 | zero |
//! | 20 | 4 | arity: elements of a payload, 1 to 65,536 |
//! | 24 | 16 | modulus m; zero unless the group is Z_m |
//! | 40 | 8 | key id: the first 8 bytes of SHA-256 of the next field |
//! | 48 | 80 | the PRG's five AES keys (public): S_L, S_R, V_L, V_R, X |
//! | 128 | 8 | count of keys, at least 1 |
//! | 136 | 4 | label: session |
//! | 140 | 8 | label: stream |
//! | 148 | 8 | label: first counter; the keys have first, first + 1, … |
//! | 156 | 4 | key length in bytes, as scheme, domain bits, group and arity give it |
//! | 160 | count · key length | keys in the native layout, back to back |
//! | then | 32 | SHA-256 of every byte before |
//!
//! The PRG keys are always in the file, the default ones too: a key means nothing under another
//! PRG, profiles with keys of their own exist, and 80 bytes are little beside the keys. The key
//! id repeats them in short, as tools print it. A reader that only wants default keys compares
//! [`KeySpec::prg_keys`](crate::KeySpec::prg_keys) with
//! [`PrgKeys::KORD_V1`](crate::PrgKeys::KORD_V1).
//!
//! Every file that is accepted is the only encoding of its contents.
//!
//! # Reading
//! [`KeyFileReader::open`] checks the digest of the whole file first and then streams the keys.
//! [`KeyFileReader::new`] reads any [`std::io::Read`] once: keys come out before the digest has
//! been seen, so use nothing computed from them until [`KeyFileReader::finish`] agrees. In both,
//! memory depends on the chunk asked for and on the bytes that really came, not on what the
//! header claims.
//!
//! # Security
//! The file holds secret keys in clear: whoever reads both parties' files learns every alpha and
//! beta. [`KeyFileWriter::create`] makes it readable by its owner only. The digest finds damage;
//! it is no authentication. A file does not know whether its keys were used: delete it, or keep
//! its label range, so that no key masks two inputs. Buffers with keys are zeroized.
//!
//! ```
//! use kord_core::key_file::{KeyFileHeader, KeyFileReader, KeyFileWriter};
//! use kord_core::{Group, KeySpec, Party, keygen, source::Label};
//!
//! let spec = KeySpec::dpf(16, Group::ring(32)?)?;
//! let [keys, _] = keygen::generate(&spec, &[3, 7], &[1, 1], &mut rand::rng())?;
//!
//! let label = Label { session: 1, stream: 0, first: 0, count: 2 };
//! let mut writer = KeyFileWriter::new(Vec::new(), KeyFileHeader::new(spec, Party::P0, label)?)?;
//! writer.write(&keys)?;
//! let file = writer.finish()?;
//!
//! let mut reader = KeyFileReader::new(file.as_slice())?;
//! while let Some(batch) = reader.next_batch(1000)? {
//!     assert_eq!(batch.as_bytes(), keys.as_bytes());
//! }
//! reader.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod header;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::KeyFileError;
pub use header::KeyFileHeader;
pub use reader::KeyFileReader;
pub use writer::KeyFileWriter;

/// Bytes of the SHA-256 digest that ends a file.
const DIGEST_BYTES: usize = 32;
