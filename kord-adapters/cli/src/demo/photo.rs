//! The photograph, its shares, and the PNG files.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use image::{ExtendedColorType, ImageFormat};
use rand::CryptoRng;
use zeroize::Zeroizing;

/// The photograph that comes with the program; `assets/README.md` has its provenance.
const CAMERA: &[u8] = include_bytes!("../../assets/camera.png");

/// An 8-bit greyscale picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Row after row.
    pub pixels: Vec<u8>,
}

impl Photo {
    /// The photograph that comes with the program: 512 × 512.
    ///
    /// # Errors
    /// None, as the program is built; passed on from the decoder.
    pub fn builtin() -> Result<Self> {
        Self::decode(CAMERA).context("the photograph in the program")
    }

    /// A PNG file; colours become grey.
    ///
    /// # Errors
    /// The file cannot be read, is no PNG, or has no pixels.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("{}: cannot read it", path.display()))?;
        Self::decode(&bytes).with_context(|| format!("{}: give a PNG file", path.display()))
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let grey = image::load_from_memory_with_format(bytes, ImageFormat::Png)?.into_luma8();
        let (width, height) = grey.dimensions();
        ensure!(width > 0 && height > 0, "it has no pixels");
        Ok(Self { width, height, pixels: grey.into_raw() })
    }

    /// A picture of the same size with other pixels.
    #[must_use]
    pub fn with_pixels(&self, pixels: Vec<u8>) -> Self {
        Self { pixels, ..*self }
    }

    /// Two additive shares of each pixel, modulo 256, the first of them random.
    #[must_use]
    pub fn split(&self, rng: &mut impl CryptoRng) -> [Zeroizing<Vec<u8>>; 2] {
        let mut first = Zeroizing::new(vec![0; self.pixels.len()]);
        rng.fill_bytes(&mut first);
        let second = self.pixels.iter().zip(first.iter()).map(|(x, s)| x.wrapping_sub(*s)).collect();
        [first, Zeroizing::new(second)]
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let Self { width, height, pixels } = self;
        image::save_buffer_with_format(path, pixels, *width, *height, ExtendedColorType::L8, ImageFormat::Png)
            .with_context(|| format!("{}: cannot write it", path.display()))
    }
}
