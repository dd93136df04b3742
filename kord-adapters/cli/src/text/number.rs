//! Numbers: decimal, or hexadecimal after `0x`.

use thiserror::Error;

/// Why a text is no number. Does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Nothing, or nothing after `0x`.
    #[error("no digits; write a decimal number, or a hexadecimal one after 0x")]
    Empty,
    /// A character that is no digit.
    #[error("character {position} is no {base} digit; write a decimal number, or a hexadecimal one after 0x")]
    Digit {
        /// Which character of the text, from 1.
        position: usize,
        /// "decimal" or "hexadecimal".
        base: &'static str,
    },
    /// More bits than any field has.
    #[error("exceeds {bits} bits")]
    TooLarge {
        /// The bits that fit.
        bits: u32,
    },
}

/// The number that `text` writes.
///
/// # Errors
/// [`NumberError`].
pub fn parse_u128(text: &str) -> Result<u128, NumberError> {
    let (digits, radix, base, skipped) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16, "hexadecimal", 2),
        None => (text, 10, "decimal", 0),
    };
    if digits.is_empty() {
        return Err(NumberError::Empty);
    }
    let mut value = 0_u128;
    for (i, character) in digits.chars().enumerate() {
        let digit =
            character.to_digit(radix).ok_or(NumberError::Digit { position: skipped + i + 1, base })?;
        value = value
            .checked_mul(u128::from(radix))
            .and_then(|v| v.checked_add(u128::from(digit)))
            .ok_or(NumberError::TooLarge { bits: 128 })?;
    }
    Ok(value)
}

/// The number of at most 64 bits that `text` writes.
///
/// # Errors
/// [`NumberError`].
pub fn parse_u64(text: &str) -> Result<u64, NumberError> {
    u64::try_from(parse_u128(text)?).map_err(|_| NumberError::TooLarge { bits: 64 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges() {
        assert_eq!(parse_u128("0"), Ok(0));
        assert_eq!(parse_u128("0xfF"), Ok(255));
        assert_eq!(parse_u128("340282366920938463463374607431768211455"), Ok(u128::MAX));
        assert_eq!(
            parse_u128("340282366920938463463374607431768211456"),
            Err(NumberError::TooLarge { bits: 128 })
        );
        assert_eq!(parse_u64("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_u64("0x10000000000000000"), Err(NumberError::TooLarge { bits: 64 }));
        assert_eq!(parse_u128(""), Err(NumberError::Empty));
        assert_eq!(parse_u128("0x"), Err(NumberError::Empty));
        assert_eq!(parse_u128("12a"), Err(NumberError::Digit { position: 3, base: "decimal" }));
        assert_eq!(parse_u128("0xg"), Err(NumberError::Digit { position: 3, base: "hexadecimal" }));
        for text in ["-1", "+1", "1_000", " 1"] {
            assert!(matches!(parse_u128(text), Err(NumberError::Digit { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_bases_agree(value: u128, narrow: u64) {
            prop_assert_eq!(parse_u128(&value.to_string()), Ok(value));
            prop_assert_eq!(parse_u128(&format!("{value:#x}")), Ok(value));
            prop_assert_eq!(parse_u64(&narrow.to_string()), Ok(narrow));
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = parse_u128(&text);
        }
    }
}
