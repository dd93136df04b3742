//! Files of the state directory: secrets with mode 0600, nothing overwritten by accident.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey};
use zeroize::Zeroizing;

use super::IdentityError;

/// The most bytes of a key or chain file; anything longer is not ours.
const MAX_FILE_BYTES: u64 = 1 << 20;

fn io_error(action: &'static str, path: &Path, source: io::Error) -> IdentityError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound if action == "read" => IdentityError::Missing { path },
        _ => IdentityError::Io { action, path, source },
    }
}

/// Creates `dir` and what leads to it; `dir` itself gets mode 0700 when it is new.
pub(super) fn create_private_dir(dir: &Path) -> Result<(), IdentityError> {
    if dir.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|source| io_error("create", dir, source))
}

/// Opens a new file for writing; with mode 0600 if `private`.
fn create(path: &Path, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o644 });
    options.open(path)
}

/// Creates an empty file of mode 0600, unless there is a file.
pub(crate) fn create_private_file(path: &Path) -> io::Result<()> {
    match create(path, true) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes the entries of the directory durable, so that a new file survives a power failure.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    // Only Unix lets a directory be opened and synced.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

fn write(path: &Path, bytes: &[u8], private: bool) -> Result<(), IdentityError> {
    let written = create(path, private).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        path.parent().map_or(Ok(()), sync_dir)
    });
    written.map_err(|source| io_error("write", path, source))
}

/// Writes a new file with mode 0600.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), IdentityError> {
    write(path, bytes, true)
}

/// Writes a signing key as PKCS#8 PEM with mode 0600.
pub(super) fn write_key(path: &Path, key: &SigningKey) -> Result<(), IdentityError> {
    let pem = key
        .to_pkcs8_pem(LineEnding::LF)
        .map_err(|_| IdentityError::Certify { problem: "the key has no PKCS#8 form", source: None })?;
    write_private(path, pem.as_bytes())
}

/// Writes a file, in place of any before: a new file takes its name, so that a crash leaves
/// either the old or the new one. Mode 0600 if `private`, else 0644.
pub(super) fn replace(path: &Path, bytes: &[u8], private: bool) -> Result<(), IdentityError> {
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_error("remove", &new, error)),
        _ => {}
    }
    write(&new, bytes, private)?;
    fs::rename(&new, path)
        .and_then(|()| path.parent().map_or(Ok(()), sync_dir))
        .map_err(|source| io_error("write", path, source))
}

fn read(path: &Path, private: bool) -> Result<Zeroizing<Vec<u8>>, IdentityError> {
    let failed = |source| io_error("read", path, source);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    #[cfg(unix)]
    if private {
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(IdentityError::Permissions { path: path.to_owned(), mode });
        }
    }
    #[cfg(not(unix))]
    let _ = private;
    // Sized first, so that growing leaves no copy of a secret behind.
    let size = metadata.len().min(MAX_FILE_BYTES);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1));
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads a secret file; refuses one that others may read.
pub(super) fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>, IdentityError> {
    read(path, true)
}

/// Reads a public file.
pub(super) fn read_public(path: &Path) -> Result<Zeroizing<Vec<u8>>, IdentityError> {
    read(path, false)
}

/// Reads a signing key from PKCS#8 PEM; refuses a file that others may read.
pub(super) fn read_key(path: &Path) -> Result<SigningKey, IdentityError> {
    let pem = read_private(path)?;
    core::str::from_utf8(&pem)
        .ok()
        .and_then(|pem| SigningKey::from_pkcs8_pem(pem).ok())
        .ok_or_else(|| IdentityError::NotAKey { path: path.to_owned() })
}
