//! Where a tuned detector came from.

use serde::{Deserialize, Serialize};

use crate::table::quoted;

/// Where a tuned detector came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Origin {
    /// The identity of the detector it was tuned from.
    pub model: Digest,
    /// The digest of the labelled rows and their labels.
    pub labels: Digest,
    /// Rows labelled as anomalies.
    pub anomalies: u64,
    /// Rows labelled as normal.
    pub normals: u64,
}

/// A digest of 128 bits (FNV-1a), shown as 32 hexadecimal digits. It detects accidental differences; it does not resist
/// deliberate collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(u128);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        Self(bytes.into_iter().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME)))
    }

    /// The same information in another order, in which similar rows are far apart.
    pub(crate) fn scattered(self) -> Self {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        let mixed = (self.0 ^ (self.0 >> 64)).wrapping_mul(ODD);
        Self((mixed ^ (mixed >> 64)).wrapping_mul(ODD))
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl std::str::FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let plain =
            text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let number = plain.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(Self).ok_or_else(|| format!("{} is no digest", quoted(text)))
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
