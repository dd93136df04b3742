//! Progress bars on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `length` of `unit`; hidden if `quiet` or standard error is no terminal.
#[must_use]
pub(crate) fn bar(quiet: bool, what: &'static str, length: u64, unit: &'static str) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length), target).with_message(what);
    let template =
        format!("{{msg:24}} {{bar:30}} {{human_pos}}/{{human_len}} {unit} {{elapsed}} (left {{eta}})");
    // The template is fixed above; were it wrong, the default style would do.
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style)
}

/// A spinner for work of unknown length; hidden as [`bar`] is.
#[must_use]
pub(crate) fn spinner(quiet: bool, what: &'static str) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let spinner = ProgressBar::with_draw_target(None, target).with_message(what);
    spinner.enable_steady_tick(std::time::Duration::from_millis(120));
    spinner
}
