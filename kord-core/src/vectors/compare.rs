//! The first difference between a case and what was computed.

use super::node::Node;
use super::{Failure, VectorError};
use crate::block::Block;
use crate::format::{KeyFormat, Keys};

/// Collects the first difference. Later fields are still read, so that a malformed one is found.
#[derive(Default)]
pub(super) struct Comparison {
    first: Option<(String, String, String)>,
}

impl Comparison {
    pub(super) fn into_failure(self, case: &Node<'_>) -> Option<Failure> {
        let (field, expected, got) = self.first?;
        Some(Failure { case: case.case().to_owned(), field, expected, got })
    }

    fn differ(&mut self, field: &str, expected: String, got: String) {
        if self.first.is_none() && expected != got {
            self.first = Some((field.to_owned(), expected, got));
        }
    }

    pub(super) fn bytes(&mut self, field: &Node<'_>, got: &[u8]) -> Result<(), VectorError> {
        self.differ(field.path(), hex::encode(field.bytes()?), hex::encode(got));
        Ok(())
    }

    pub(super) fn block(&mut self, field: &Node<'_>, got: Block) -> Result<(), VectorError> {
        self.differ(field.path(), hex::encode(field.block()?.to_bytes()), hex::encode(got.to_bytes()));
        Ok(())
    }

    pub(super) fn integer(&mut self, field: &Node<'_>, got: u128) -> Result<(), VectorError> {
        self.differ(field.path(), format!("{:#x}", field.integer()?), format!("{got:#x}"));
        Ok(())
    }

    /// A list, item by item, then its length.
    pub(super) fn list<T>(
        &mut self,
        field: &Node<'_>,
        got: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, &Node<'_>, T) -> Result<(), VectorError>,
    ) -> Result<(), VectorError> {
        let expected = field.items()?;
        let got: Vec<T> = got.into_iter().collect();
        let lengths = (expected.len(), got.len());
        for (expected, got) in expected.iter().zip(got) {
            item(self, expected, got)?;
        }
        self.differ(field.path(), format!("{} items", lengths.0), format!("{} items", lengths.1));
        Ok(())
    }

    /// A key's wire bytes. Returns the key decoded from them again.
    pub(super) fn wire<F: KeyFormat>(
        &mut self,
        field: &Node<'_>,
        keys: &Keys<F>,
    ) -> Result<Option<Keys<F>>, VectorError> {
        self.bytes(field, &keys.encode())?;
        Ok(self.decoded(field.path(), keys))
    }

    /// Keys as they come back from their encoding.
    pub(super) fn decoded<F: KeyFormat>(&mut self, field: &str, keys: &Keys<F>) -> Option<Keys<F>> {
        match Keys::decode(*keys.format(), keys.party(), &keys.encode()) {
            Ok(keys) => Some(keys),
            Err(error) => {
                self.differ(field, "a key that decodes".to_owned(), error.to_string());
                None
            }
        }
    }
}
