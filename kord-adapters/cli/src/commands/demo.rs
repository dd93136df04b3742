//! `kord demo`: the whole thing on a photograph.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::demo::photo::Photo;
use crate::demo::{owner, report};
use crate::figures::Report;
use crate::output::{print, print_report};
use crate::progress;

/// Arguments of `kord demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory for the pictures; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    out: PathBuf,
    /// Pixels at least this bright become white
    #[arg(long, default_value_t = 128)]
    threshold: u8,
    /// Another photograph, as PNG [default: one that comes with the program]
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the demo, writes the pictures, prints the figures.
///
/// # Errors
/// A file cannot be read or written, a party failed, or a pixel is wrong.
pub fn run(args: &Args) -> Result<()> {
    let photo = match &args.image {
        Some(path) => Photo::open(path).context("--image")?,
        None => Photo::builtin()?,
    };
    let dir = args.out.display();
    fs::create_dir_all(&args.out).with_context(|| format!("--out {dir}: cannot create it"))?;
    let bar = progress::bar(args.json, "two parties, one photo", photo.pixels.len() as u64, "keys");
    let outcome = owner::run(&photo, args.threshold, &bar)?;
    bar.finish_and_clear();
    let [share0, share1] = &outcome.shares;
    let pictures = [
        ("input.png", &photo),
        ("share0.png", share0),
        ("share1.png", share1),
        ("result.png", &outcome.result),
    ];
    for (name, picture) in pictures {
        picture.save(&args.out.join(name))?;
    }
    if !args.json {
        let Photo { width, height, .. } = photo;
        print(&format!(
            "{width} × {height} pixels: is each at least {}?\n\
             {dir}/input.png        what the owner split between two parties\n\
             {dir}/share0.png       all that party 0 saw of it\n\
             {dir}/share1.png       all that party 1 saw of it\n\
             {dir}/result.png       what their answers add up to\n",
            args.threshold
        ))?;
    }
    let figures = report::figures(&outcome.parties, outcome.wrong_pixels);
    print_report(&Report::new(figures), args.json)?;
    ensure!(
        outcome.wrong_pixels == 0,
        "{} pixels differ from plain computation; please report this",
        outcome.wrong_pixels
    );
    Ok(())
}
