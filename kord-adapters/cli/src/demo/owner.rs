//! The photograph's owner: starts both parties, gives each its share, and checks the result.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use kord_chip::SoftChip;
use kord_chip::identity::{DevelopmentCa, Validity};
use kord_chip::soft::Provision;
use kord_core::Party;
use tempfile::TempDir;

use super::event::{Event, PartyReport};
use super::party::{RESULT_FILE, SHARE_FILE, STATE_DIR};
use super::photo::Photo;

/// What the two parties and the check gave.
pub struct Outcome {
    /// What each party measured.
    pub parties: [PartyReport; 2],
    /// Both parties' shares of the photograph, as pictures.
    pub shares: [Photo; 2],
    /// The answer: 255 where a pixel is at least the threshold, else 0.
    pub result: Photo,
    /// Pixels at which the answer differs from plain computation.
    pub wrong_pixels: u64,
}

/// How long both parties may take: far more than any picture needs.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long a party may go on after the other failed: its own report may say more.
const GRACE: Duration = Duration::from_secs(2);

/// A party's process, killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Splits `photo`, has two processes threshold it, and checks every pixel. State directories,
/// shares and the development root live in a temporary directory that is removed.
///
/// # Errors
/// A party failed; its own message is the cause.
pub fn run(photo: &Photo, threshold: u8, bar: &ProgressBar) -> Result<Outcome> {
    let dir = TempDir::with_prefix("kord-demo-").context("making a temporary directory")?;
    let ca = DevelopmentCa::generate(Validity::ROOT).context("making the development root")?;
    let shares = photo.split(&mut rand::rng());
    for (party, share) in Party::BOTH.into_iter().zip(&shares) {
        let own = party_dir(dir.path(), party);
        fs::create_dir(&own).with_context(|| format!("{}: cannot create it", own.display()))?;
        SoftChip::provision(&own.join(STATE_DIR), &ca, &Provision::new(party))
            .with_context(|| format!("provisioning the chip of {party}"))?;
        fs::write(own.join(SHARE_FILE), share).context("writing a share of the photograph")?;
    }
    let parties = run_parties(dir.path(), threshold, bar)?;
    let answers = Party::BOTH.map(|party| fs::read(party_dir(dir.path(), party).join(RESULT_FILE)));
    let [answers0, answers1] = answers;
    let (answers0, answers1) =
        (answers0.context("result of party 0")?, answers1.context("result of party 1")?);
    let result: Vec<u8> =
        answers0.iter().zip(&answers1).map(|(a, b)| if a ^ b == 1 { 255 } else { 0 }).collect();
    if result.len() != photo.pixels.len() {
        bail!("result shares of {} pixels, but the photograph has {}", result.len(), photo.pixels.len());
    }
    let plain = photo.pixels.iter().map(|x| if *x >= threshold { 255 } else { 0 });
    let wrong_pixels = result.iter().zip(plain).filter(|(y, want)| **y != *want).count() as u64;
    let shares = shares.map(|share| photo.with_pixels(share.to_vec()));
    Ok(Outcome { parties, shares, result: photo.with_pixels(result), wrong_pixels })
}

fn party_dir(dir: &Path, party: Party) -> std::path::PathBuf {
    dir.join(format!("party{}", party.number()))
}

type Message = (Party, Option<Event>);

/// Starts party 0, then party 1 when it is known where party 0 listens, and waits for both.
fn run_parties(dir: &Path, threshold: u8, bar: &ProgressBar) -> Result<[PartyReport; 2]> {
    let (to_us, events) = mpsc::channel();
    let start = |party: Party, more: &[String]| -> Result<Process> {
        let program = std::env::current_exe().context("finding this program")?;
        let mut child = Command::new(program)
            .arg("demo-party")
            .arg("--dir")
            .arg(party_dir(dir, party))
            .args(["--threshold", &threshold.to_string()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting the process of {party}"))?;
        let stdout = child.stdout.take();
        let process = Process(child);
        let to_us: Sender<Message> = to_us.clone();
        thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|out| BufReader::new(out).lines()) {
                let event = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                if event.is_none() || to_us.send((party, event)).is_err() {
                    break;
                }
            }
            // The receiver may be gone: then nobody needs to know.
            let _ = to_us.send((party, None));
        });
        Ok(process)
    };
    let mut processes = vec![start(Party::P0, &[])?];
    let mut outcome = Waiting::default();
    let deadline = Instant::now() + PATIENCE;
    while let Some((party, event)) = outcome.next(&events, deadline)? {
        match event {
            Some(Event::Listening { chip, opening }) if processes.len() == 1 => {
                let more = ["--chip".into(), chip.to_string(), "--opening".into(), opening.to_string()];
                processes.push(start(Party::P1, &more)?);
            }
            Some(Event::Keys { made }) if party == Party::P0 => bar.set_position(made),
            event => outcome.take(party, event),
        }
    }
    outcome.finish()
}

/// Reports and failures so far.
#[derive(Default)]
struct Waiting {
    reports: [Option<PartyReport>; 2],
    failures: Vec<(Party, String)>,
    failed_at: Option<Instant>,
}

impl Waiting {
    /// Notes a report, a failure, or the end of a party's process.
    fn take(&mut self, party: Party, event: Option<Event>) {
        let failure = match event {
            Some(Event::Done(report)) => {
                self.reports[party.index()] = Some(report);
                return;
            }
            Some(Event::Failed { message }) => message,
            None if self.reports[party.index()].is_none() => "its process ended without a report".to_owned(),
            _ => return,
        };
        // A party that reported its failure also ends; the report says more.
        if self.failures.iter().all(|(failed, _)| *failed != party) {
            self.failures.push((party, failure));
        }
        self.failed_at.get_or_insert_with(Instant::now);
    }

    /// The next event; `None` when both parties are done, or the grace after a failure is over.
    fn next(&self, events: &Receiver<Message>, deadline: Instant) -> Result<Option<Message>> {
        if self.reports.iter().all(Option::is_some) || self.failures.len() == 2 {
            return Ok(None);
        }
        let until = self.failed_at.map_or(deadline, |at| at + GRACE);
        match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => Ok(Some(message)),
            Err(_) if self.failed_at.is_some() => Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("the parties are not done after {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("the parties' processes are gone"),
        }
    }

    fn finish(self) -> Result<[PartyReport; 2]> {
        match self.reports {
            [Some(first), Some(second)] if self.failures.is_empty() => Ok([first, second]),
            _ => {
                let failures: Vec<_> =
                    self.failures.iter().map(|(party, why)| format!("{party}: {why}")).collect();
                bail!("{}", failures.join("; "))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Feeds events to a wait for both parties, as their reader threads do.
    fn wait(events: Vec<Message>) -> Result<[PartyReport; 2]> {
        let (to_us, receiver) = mpsc::channel();
        events.into_iter().for_each(|event| to_us.send(event).unwrap());
        drop(to_us);
        let mut waiting = Waiting::default();
        let deadline = Instant::now() + GRACE;
        while let Some((party, event)) = waiting.next(&receiver, deadline)? {
            waiting.take(party, event);
        }
        waiting.finish()
    }

    fn failed(message: &str) -> Option<Event> {
        Some(Event::Failed { message: message.to_owned() })
    }

    #[test]
    fn both_reports_are_waited_for() {
        let report = |keys| PartyReport { keys, ..PartyReport::default() };
        let events = vec![
            (Party::P1, Some(Event::Done(report(1)))),
            (Party::P1, None),
            (Party::P0, Some(Event::Keys { made: 2 })),
            (Party::P0, Some(Event::Done(report(2)))),
        ];
        assert_eq!(wait(events).unwrap().map(|r| r.keys), [2, 1]);
    }

    #[test]
    fn failures_are_told_in_the_parties_own_words() {
        let events = vec![
            (Party::P1, failed("pairing: no")),
            (Party::P1, None),
            (Party::P0, failed("pairing: the peer left")),
            (Party::P0, None),
        ];
        let error = wait(events).unwrap_err().to_string();
        assert_eq!(error, "party 1: pairing: no; party 0: pairing: the peer left");
        let events = vec![(Party::P0, None), (Party::P1, failed("the peer is gone"))];
        let error = wait(events).unwrap_err().to_string();
        assert_eq!(error, "party 0: its process ended without a report; party 1: the peer is gone");
        assert_eq!(wait(vec![(Party::P0, failed("alone"))]).unwrap_err().to_string(), "party 0: alone");
        assert!(wait(vec![]).is_err());
    }
}
