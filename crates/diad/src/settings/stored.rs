//! Settings as model files have them.

use std::collections::BTreeMap;

use serde::Deserializer;
use serde::de::{Deserialize, Error as _, Visitor};

use super::Params;

/// The settings of a model file. Those written before there were cuts know no weight for them, and have a setting that is
/// no more.
pub(crate) fn of_any_version<'de, D: Deserializer<'de>>(file: D) -> std::result::Result<Params, D::Error> {
    let mut settings = BTreeMap::<String, Scalar>::deserialize(file)?;
    if !settings.contains_key("weight_cuts") && settings.remove("relation_strength").is_some() {
        settings.insert("weight_cuts".into(), Scalar(0.0.into()));
    }
    let settings = settings.into_iter().map(|(name, Scalar(value))| (name, value));
    serde_json::from_value(settings.collect()).map_err(D::Error::custom)
}

/// A number or a word: all that settings are. Lists and maps are refused before room is made for them.
struct Scalar(serde_json::Value);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(file: D) -> std::result::Result<Self, D::Error> {
        file.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, text: &mut std::fmt::Formatter) -> std::fmt::Result {
        text.write_str("a number or a word")
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Scalar, E> {
        Ok(Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Scalar, E> {
        Ok(Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Scalar, E> {
        Ok(Scalar(value.into()))
    }
}
