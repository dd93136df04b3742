//! Figures: the one form in which every command reports numbers.
//!
//! With `--json` a command prints exactly one object on standard output:
//!
//! ```json
//! {"machine": {"cpu": "…", "cores": 2, "aes": "…", "os": "linux", "arch": "x86_64",
//!              "kord": "0.1.0", "rustc": "rustc 1.95.0 (…)"},
//!  "figures": [{"name": "demo_keys", "value": 262144, "unit": "keys", "kind": "measured"}]}
//! ```
//!
//! Names are stable: tools may rely on them. Without `--json` the same figures come as a table,
//! with the kind of each number beside it.

mod machine;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

pub use machine::Machine;

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// Timed or counted in this run, on this machine.
    Measured,
    /// Counted in a simulation of other hardware.
    Simulated,
    /// Computed from a model.
    Modelled,
    /// Taken from a publication.
    Quoted,
}

impl Kind {
    /// The kind as it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Simulated => "simulated",
            Self::Modelled => "modelled",
            Self::Quoted => "quoted",
        }
    }
}

/// A figure's number: a count, or a real number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An exact count.
    Count(u64),
    /// Anything else. Infinite and undefined values print as `null` in JSON.
    Real(f64),
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Value {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

/// One number with its name, unit and kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Stable name, `snake_case`, prefixed with what it belongs to.
    pub name: &'static str,
    /// The number.
    pub value: Value,
    /// Its unit; "1" for a ratio.
    pub unit: &'static str,
    /// Where it comes from.
    pub kind: Kind,
}

impl Figure {
    /// A figure that was timed or counted in this run.
    pub fn measured(name: &'static str, value: impl Into<Value>, unit: &'static str) -> Self {
        Self { name, value: value.into(), unit, kind: Kind::Measured }
    }
}

/// The figures of a command, with the machine they belong to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where they were taken.
    pub machine: Machine,
    /// The figures, in the order of the table.
    pub figures: Vec<Figure>,
}

impl Report {
    /// A report of this machine.
    #[must_use]
    pub fn new(figures: Vec<Figure>) -> Self {
        Self { machine: Machine::this(), figures }
    }

    /// The figure of this name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.name == name)
    }

    /// The JSON object, on one line.
    ///
    /// # Errors
    /// None that a report can cause; passed on from the serializer.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The table, with the machine above it.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(["figure", "value", "unit", "kind"]);
        for figure in &self.figures {
            let value = readable(figure.value);
            table.add_row([figure.name, value.as_str(), figure.unit, figure.kind.name()]);
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!("{}\n{table}", self.machine)
    }
}

/// A number for people: thousands apart, four significant digits where there is a fraction.
fn readable(value: Value) -> String {
    match value {
        Value::Count(count) => thousands(count),
        Value::Real(real) if !real.is_finite() => "–".to_owned(),
        Value::Real(real) if real.abs() >= 1000.0 => {
            let sign = if real < 0.0 { "-" } else { "" };
            format!("{sign}{}", thousands(real.abs().round() as u64))
        }
        Value::Real(real) => {
            let whole = if real.abs() < 1.0 { 1 } else { real.abs().log10() as usize + 1 };
            format!("{real:.*}", 4_usize.saturating_sub(whole))
        }
    }
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn report() -> Report {
        let rate = Figure { name: "x_rate", value: 0.75.into(), unit: "1", kind: Kind::Quoted };
        Report::new(vec![Figure::measured("x_keys", 262_144, "keys"), rate])
    }

    #[test]
    fn the_json_object_has_exactly_the_agreed_shape() {
        let text = report().json().unwrap();
        assert!(!text.contains('\n'));
        let json: Json = serde_json::from_str(&text).unwrap();
        let keys = |value: &Json| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&json), ["figures", "machine"]);
        assert_eq!(
            json["figures"],
            json!([
                {"name": "x_keys", "value": 262_144, "unit": "keys", "kind": "measured"},
                {"name": "x_rate", "value": 0.75, "unit": "1", "kind": "quoted"},
            ])
        );
        assert_eq!(keys(&json["machine"]), ["aes", "arch", "cores", "cpu", "kord", "os", "rustc"]);
        assert!(json["machine"]["cores"].as_u64().unwrap() >= 1);
        assert_eq!(json["machine"]["kord"], env!("CARGO_PKG_VERSION"));
        assert!(json["machine"]["rustc"].as_str().unwrap().starts_with("rustc "));
    }

    #[test]
    fn kinds_print_as_they_serialize() {
        for kind in [Kind::Measured, Kind::Simulated, Kind::Modelled, Kind::Quoted] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    #[test]
    fn undefined_numbers_stay_valid_json() {
        let report = Report::new(vec![Figure::measured("x", f64::NAN, "1")]);
        let json: Json = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert!(json["figures"][0]["value"].is_null());
    }

    #[test]
    fn the_table_shows_the_kind_of_each_number() {
        let table = report().table();
        for row in [["x_keys", "262 144", "keys", "measured"], ["x_rate", "0.750", "1", "quoted"]] {
            let line = table.lines().find(|l| l.contains(row[0])).unwrap();
            assert!(row.iter().all(|cell| line.contains(cell)), "{line}");
        }
    }

    #[test]
    fn numbers_for_people() {
        let cases = [
            (Value::Count(0), "0"),
            (Value::Count(999), "999"),
            (Value::Count(1_000), "1 000"),
            (Value::Count(12_345_678), "12 345 678"),
            (Value::Real(1.000_55), "1.001"),
            (Value::Real(0.0), "0.000"),
            (Value::Real(12.345), "12.35"),
            (Value::Real(345.67), "345.7"),
            (Value::Real(1_234_567.8), "1 234 568"),
            (Value::Real(-1_234.5), "-1 235"),
            (Value::Real(f64::INFINITY), "–"),
        ];
        for (value, want) in cases {
            assert_eq!(readable(value), want, "{value:?}");
        }
    }
}
