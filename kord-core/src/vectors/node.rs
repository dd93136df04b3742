//! Typed access to the fields of a vector file, with their paths for errors.

use serde_json::Value;

use super::VectorError;
use crate::block::Block;
use crate::error::SpecError;

/// A JSON value and where it is.
#[derive(Clone)]
pub(super) struct Node<'a> {
    value: &'a Value,
    /// The case it belongs to; empty outside cases.
    case: String,
    path: String,
}

impl<'a> Node<'a> {
    pub(super) const fn file(value: &'a Value) -> Self {
        Self { value, case: String::new(), path: String::new() }
    }

    /// The case's id.
    pub(super) fn case(&self) -> &str {
        &self.case
    }

    /// The path within the case: `key0.k[3]`.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn place(&self) -> String {
        if self.case.is_empty() { "file".to_owned() } else { format!("case {}", self.case) }
    }

    pub(super) fn error(&self, problem: &'static str) -> VectorError {
        VectorError::Field { place: self.place(), field: self.path.clone(), problem }
    }

    /// For `map_err`: parameters of this case that describe no key.
    pub(super) fn spec_error(&self) -> impl Fn(SpecError) -> VectorError {
        let place = self.place();
        move |source| VectorError::Spec { place: place.clone(), source }
    }

    /// A field of this object, if it is there.
    pub(super) fn get_optional(&self, name: &str) -> Result<Option<Self>, VectorError> {
        let Value::Object(fields) = self.value else {
            return Err(self.error("must be an object"));
        };
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Ok(fields.get(name).map(|value| Self { value, case: self.case.clone(), path }))
    }

    /// A field of this object.
    pub(super) fn get(&self, name: &str) -> Result<Self, VectorError> {
        let missing = || {
            let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
            Self { value: self.value, case: self.case.clone(), path }.error("is missing")
        };
        self.get_optional(name)?.ok_or_else(missing)
    }

    /// The fields of this object, in the order of their names.
    pub(super) fn fields(&self) -> Result<Vec<(&'a str, Self)>, VectorError> {
        let Value::Object(fields) = self.value else {
            return Err(self.error("must be an object"));
        };
        fields.keys().map(|name| Ok((name.as_str(), self.get(name)?))).collect()
    }

    /// The elements of this list.
    pub(super) fn items(&self) -> Result<Vec<Self>, VectorError> {
        let Value::Array(items) = self.value else {
            return Err(self.error("must be a list"));
        };
        let item = |(i, value)| Self { value, case: self.case.clone(), path: format!("{}[{i}]", self.path) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The elements of this list as cases, named by their id or else by their path.
    pub(super) fn cases(&self) -> Result<Vec<Self>, VectorError> {
        let mut cases = self.items()?;
        for case in &mut cases {
            let id = case.get_optional("id")?;
            case.case = match id.map(|id| id.value) {
                Some(Value::String(id)) => id.clone(),
                Some(id) => id.to_string(),
                None => core::mem::take(&mut case.path),
            };
            case.path.clear();
        }
        Ok(cases)
    }

    pub(super) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(super) fn is_object(&self) -> bool {
        self.value.is_object()
    }

    pub(super) fn text(&self) -> Result<&'a str, VectorError> {
        self.value.as_str().ok_or_else(|| self.error("must be a string"))
    }

    pub(super) fn bytes(&self) -> Result<Vec<u8>, VectorError> {
        hex::decode(self.text()?).map_err(|_| self.error("must be a string of hex bytes"))
    }

    pub(super) fn array<const N: usize>(&self) -> Result<[u8; N], VectorError> {
        let bytes = self.bytes()?;
        bytes.try_into().map_err(|_| match N {
            8 => self.error("must be 8 hex bytes"),
            16 => self.error("must be 16 hex bytes"),
            _ => self.error("must be hex bytes of another length"),
        })
    }

    pub(super) fn block(&self) -> Result<Block, VectorError> {
        self.array().map(Block::from_bytes)
    }

    /// A number, or a `"0x…"` string of at most 128 bits.
    pub(super) fn integer(&self) -> Result<u128, VectorError> {
        let problem = "must be a number or a 0x… string of at most 128 bits";
        let parsed = match self.value {
            Value::Number(number) => number.as_u64().map(u128::from),
            Value::String(text) => text.strip_prefix("0x").and_then(|digits| {
                let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
                plain.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
            }),
            _ => None,
        };
        parsed.ok_or_else(|| self.error(problem))
    }

    /// A number of bits or elements.
    pub(super) fn small<T: TryFrom<u128>>(&self) -> Result<T, VectorError> {
        T::try_from(self.integer()?).map_err(|_| self.error("is too large"))
    }

    pub(super) fn integers(&self) -> Result<Vec<u128>, VectorError> {
        self.items()?.iter().map(Self::integer).collect()
    }
}
