//! Settings as model files have them.

use std::collections::BTreeMap;

use serde::Deserializer;
use serde::de::{Deserialize, Error as _, Visitor};

use super::{Params, Value};

/// The settings of a model file. Those of the first version have weights of parts that no longer exist, and the scale
/// `asinh` had another name.
pub(crate) fn of_any_version<'de, D: Deserializer<'de>>(file: D) -> std::result::Result<Params, D::Error> {
    const NO_MORE: [&str; 5] =
        ["weight_columns", "weight_relations", "weight_cuts", "relation_strength", "weight_clusters"];
    let mut settings = BTreeMap::<String, Scalar>::deserialize(file)?;
    if let Some(Scalar(scale)) = settings.get_mut("scale")
        && scale == "bent"
    {
        *scale = "asinh".into();
    }
    let mut first = false;
    for name in NO_MORE {
        first |= settings.remove(name).is_some();
    }
    if first {
        for name in ["weight_isolation", "weight_surprise"] {
            settings.entry(name.into()).or_insert(Scalar(0.0.into()));
        }
    }
    for setting in Params::declared() {
        if let Some(before) = &setting.before {
            settings.entry(setting.name.into()).or_insert_with(|| Scalar::of(before));
        }
    }
    let settings = settings.into_iter().map(|(name, Scalar(value))| (name, value));
    serde_json::from_value(settings.collect()).map_err(D::Error::custom)
}

/// A number or a word: all that settings are. Lists and maps are refused before room is made for them.
struct Scalar(serde_json::Value);

impl Scalar {
    fn of(value: &Value) -> Self {
        Self(match value {
            Value::Count(count) => (*count).into(),
            Value::Number(number) => (*number).into(),
            Value::Switch(switch) => (*switch).into(),
            Value::Word(word) => word.as_str().into(),
        })
    }
}

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
