//! What follows from the declarations.

use super::*;

/// Settings of which no value is another's or its own default, so that no two can be mixed up unseen.
fn distinct() -> Params {
    let mut params = Params::default();
    let mut used: Vec<Value> = Vec::new();
    for setting in Params::declared() {
        let candidates: Vec<Value> = match (setting.kind, &setting.default) {
            (Kind::Word(words), _) => words.iter().map(|word| Value::Word(word.name.into())).collect(),
            (_, Value::Count(count)) => (count + 1..count + 40).chain(0..*count).map(Value::Count).collect(),
            (_, Value::Number(number)) => (1..40)
                .flat_map(|i| [1.0, -1.0].map(|sign| number * (1.0 + sign * f64::from(i) / 50.0)))
                .map(Value::Number)
                .collect(),
            (_, other) => panic!("{}: {other:?}", setting.name),
        };
        let new = candidates.into_iter().find(|value| {
            let mut with = params.clone();
            with.set(setting.name, value).unwrap();
            *value != setting.default && !used.contains(value) && with.validate().is_ok()
        });
        let new = new.unwrap_or_else(|| panic!("{} has no other value", setting.name));
        params.set(setting.name, &new).unwrap();
        used.push(new);
    }
    params
}

#[test]
fn every_setting_is_set_by_its_own_name() {
    let wanted = distinct();
    assert!(wanted.validate().is_ok());
    assert_eq!(Params::of("default", wanted.values()).unwrap(), wanted);
    let mut typed = Params::paper();
    for (setting, (name, text)) in Params::declared().iter().zip(wanted.listed()) {
        assert_eq!(setting.option(), name);
        typed.set(setting.name, &setting.parse(&text).unwrap()).unwrap();
    }
    assert_eq!(typed, wanted);
}

#[test]
fn a_model_file_has_the_names_and_the_order_of_the_declarations() {
    let text = serde_json::to_string(&Params::default()).unwrap();
    let mut from = 0;
    for setting in Params::declared() {
        let place = text[from..].find(&format!(
            "\"{}\":{}",
            setting.name,
            match &setting.default {
                Value::Word(word) => format!("\"{word}\""),
                other => other.typed(),
            }
        ));
        from += place.unwrap_or_else(|| panic!("{} is not in {text} in its place", setting.name));
    }
}

#[test]
fn defaults_and_values_of_the_paper_are_in_range() {
    for params in [Params::default(), Params::paper()] {
        params.validate().unwrap();
    }
    for learner in [Learner::default(), DescentParams::default().into()] {
        learner.validate().unwrap();
    }
    for setting in
        Params::declared().iter().chain(Learner::declared().into_iter().map(|(setting, _)| setting))
    {
        assert!(!setting.help.is_empty() && !setting.help.ends_with('.'), "{}", setting.name);
        assert!(!setting.help.contains("  "), "{}: {}", setting.name, setting.help);
    }
}

#[test]
fn values_outside_their_range_are_named() {
    let said = |params: Params| params.validate().unwrap_err().to_string();
    let plain = Params::default;
    assert_eq!(said(plain().depth(9)), "depth is 9, but it must be from 1 to 6");
    assert_eq!(said(plain().dropout(f64::NAN)), "dropout is NaN, but it must be from 0 to below 1");
    assert_eq!(said(plain().feature_share(0.0)), "feature_share is 0, but it must be above 0 and at most 1");
    assert_eq!(said(plain().interactions(3)), "interactions is 3, but it must be 1 (GAM) or 2 (GA2M)");
    assert_eq!(said(plain().smoothing(0.0)), "smoothing is 0, but it must be from 1e-6 to 1e9");
    assert_eq!(
        said(plain().weight_isolation(2e6)),
        "weight_isolation is 2000000, but it must be from 0 to 1000000"
    );
    assert_eq!(said(plain().warmup(1001)), "warmup is 1001, but it must be at most the number of steps");
    assert_eq!(said(plain().anneal(1000)), "anneal is 1000, but it must be below the number of steps");
    assert_eq!(
        said(plain().layers(8).trees(5000).grove(5000)),
        "trees is 5000, but it must be fewer for so many layers and outputs"
    );
    assert_eq!(
        said(Params::paper().weight_trees(0.0)),
        "weight_trees is 0, but it must be above 0 if all other weights are 0"
    );
    let rounds = FunctionParams::default().rounds(101).validate().unwrap_err().to_string();
    assert_eq!(rounds, "rounds is 101, but it must be at most 100");
}

#[test]
fn values_of_another_kind_are_refused() {
    let said = |name: &str, value: Value| Params::default().set(name, &value).unwrap_err().to_string();
    assert_eq!(said("trees", Value::Number(2.5)), "trees is 2.5, but it must be a whole number");
    assert_eq!(said("dropout", Value::Word("much".into())), "dropout is \"much\", but it must be a number");
    assert_eq!(
        said("scale", Value::Word("odd".into())),
        "scale is \"odd\", but it must be \"linear\", \"asinh\" or \"both\""
    );
    let unknown = said("tree", Value::Count(1));
    assert!(
        unknown.starts_with("there is no setting \"tree\"; the settings are scale, weight_trees, "),
        "{unknown}"
    );
    let preset = Params::of("best", []).unwrap_err().to_string();
    assert_eq!(preset, "preset is \"best\", but it must be \"default\" or \"paper\"");
}

#[test]
fn few_steps_shorten_the_warmup_and_the_annealing_unless_they_are_given() {
    let few = Params::of("default", [("steps", Value::Count(100))]).unwrap();
    assert_eq!((few.warmup, few.anneal), (50, 50));
    let given = [("warmup", Value::Count(80)), ("steps", Value::Count(100))];
    assert_eq!(Params::of("default", given).unwrap().warmup, 80);
}

#[test]
fn settings_of_another_learner_are_refused() {
    use crate::Naming;
    let of = |name, given: &[(&'static str, Value)]| Learner::of(name, given.iter().cloned());
    let steps = of(None, &[("steps", Value::Count(10))]).unwrap_err();
    assert_eq!(steps.to_string(), "steps only applies to learner descent; remove it");
    assert_eq!(steps.message(Naming::Options), "--steps only applies to --learner descent; remove it");
    let loss = ("loss", Value::Word("auc".into()));
    let prior = of(None, &[loss.clone(), ("prior", Value::Number(1.0))]).unwrap_err();
    assert_eq!(prior.to_string(), "prior only applies to learner functions; remove it");
    assert!(of(Some("functions"), &[loss]).is_err());
    assert_eq!(
        of(Some("descent"), &[("seed", Value::Count(4))]).unwrap(),
        DescentParams::default().seed(4).into()
    );
    assert_eq!(of(None, &[("seed", Value::Count(4))]).unwrap(), FunctionParams::default().seed(4).into());
}

#[test]
fn the_asinh_scale_is_read_by_its_old_name() {
    let mut stored = serde_json::to_value(distinct()).unwrap();
    stored["scale"] = "bent".into();
    assert_eq!(of_any_version(stored).unwrap(), distinct().scale(Scale::Asinh));
}

#[test]
fn models_of_before_a_choice_have_what_was_chosen_for_them() {
    let mut stored = serde_json::to_value(distinct()).unwrap();
    let settings = stored.as_object_mut().unwrap();
    for setting in Params::declared().iter().filter(|setting| setting.before.is_some()) {
        assert!(settings.remove(setting.name).is_some());
    }
    let read = of_any_version(stored).unwrap();
    for (setting, (_, value)) in Params::declared().iter().zip(read.values()) {
        assert!(setting.before.as_ref().is_none_or(|before| *before == value), "{}", setting.name);
    }
    assert_eq!((read.annealing, read.leaf_scale), (Annealing::Linear, LeafScale::Layer));
    assert_eq!((read.final_splits, read.match_gradient), (FinalSplits::Soft, MatchGradient::Both));
}

#[test]
fn the_temperature_falls_as_it_is_told() {
    let linear = Params::default();
    assert_eq!([0.0, 0.5, 1.0].map(|share| linear.temperature(share)), [1.0, 0.55, 0.1]);
    let faster = Params::default().annealing(Annealing::Logarithmic).final_splits(FinalSplits::Hard);
    assert_eq!([0.0, 1.0].map(|share| faster.temperature(share)), [1.0, 1e-6]);
    assert!((faster.temperature(0.5) - 0.1f64.sqrt()).abs() < 1e-15);
}
