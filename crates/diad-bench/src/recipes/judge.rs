//! Recipes, how well they do on every set, and what follows from it.

use std::path::Path;

use anyhow::Result;
use diad::metrics;
use rayon::prelude::*;

use super::ingredients::{self, Ingredient, Kind};
use crate::render::{self, Grid, number};
use crate::sets::Set;
use crate::stats::{mean, ranks, standard_error};

/// How many recipes the page shows; all are in the CSV file.
const SHOWN: usize = 15;
/// The paper's DIAD may be undercut by no more than this, on none of its sets.
const ALLOWED: f64 = 2.0;

/// A recipe: how much of each ingredient, by its place in [`ingredients::all`].
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe(pub Vec<(usize, f64)>);

/// All recipes on one set.
#[derive(Debug)]
pub struct Judged {
    /// The set.
    pub set: Set,
    /// `[seed][recipe]`.
    pub found: Vec<Vec<Found>>,
}

/// A recipe on a set, in %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// ROC-AUC.
    pub auc: f64,
    /// Average precision.
    pub precision: f64,
}

/// Every recipe of the search: at most one ingredient of each kind, at one of a few weights.
pub fn recipes(ingredients: &[Ingredient]) -> Vec<Recipe> {
    let choices = |kind: Kind, weights: &[f64]| -> Vec<Option<(usize, f64)>> {
        let of_kind = (0..ingredients.len()).filter(|&i| ingredients[i].kind == kind);
        let weighed = of_kind.flat_map(|i| weights.iter().map(move |&weight| Some((i, weight))));
        std::iter::once(None).chain(weighed).collect()
    };
    let kinds = [
        choices(Kind::Trees, &[0.5, 1.0, 2.0]),
        choices(Kind::Tails, &[0.5, 1.0]),
        choices(Kind::Columns, &[0.5, 1.0, 1.5]),
        choices(Kind::Relations, &[0.5, 1.0]),
    ];
    let mut recipes = vec![Vec::new()];
    for choices in &kinds {
        let longer = |recipe: &Vec<(usize, f64)>| {
            let recipe = recipe.clone();
            choices.iter().map(move |choice| recipe.iter().copied().chain(*choice).collect())
        };
        recipes = recipes.iter().flat_map(longer).collect();
    }
    // A single part needs no weight but 1, and nothing is no recipe.
    recipes.retain(|recipe: &Vec<_>| match recipe[..] {
        [] => false,
        [(_, weight)] => weight == 1.0,
        _ => true,
    });
    recipes.into_iter().map(Recipe).collect()
}

/// How well every recipe does, from the scores of its ingredients.
pub fn judge(ingredients: &[Ingredient], scores: &[Vec<f32>], labels: &[bool]) -> Vec<Found> {
    let judge = |recipe: &Recipe| {
        let mut total = vec![0.0f32; labels.len()];
        for &(ingredient, weight) in &recipe.0 {
            let part = &scores[ingredient];
            total.iter_mut().zip(part).for_each(|(total, score)| *total += weight as f32 * score);
        }
        let percent = |figure: Option<f64>| 100.0 * figure.unwrap_or(f64::NAN);
        Found {
            auc: percent(metrics::roc_auc(labels, &total)),
            precision: percent(metrics::average_precision(labels, &total)),
        }
    };
    recipes(ingredients).par_iter().map(judge).collect()
}

/// Mean of a figure over the seeds, `[set][recipe]`.
fn over_seeds(judged: &[Judged], figure: fn(&Found) -> f64) -> Vec<Vec<f64>> {
    let of_set = |judged: &Judged| {
        let recipes = judged.found[0].len();
        let one = |recipe: usize| {
            let seeds: Vec<f64> = judged.found.iter().map(|seed| figure(&seed[recipe])).collect();
            mean(&seeds).unwrap_or(f64::NAN)
        };
        (0..recipes).map(one).collect()
    };
    judged.iter().map(of_set).collect()
}

/// What is said of a recipe.
#[derive(Debug, Clone)]
struct Row {
    name: String,
    paper: Option<f64>,
    extra: Option<f64>,
    all: f64,
    precision: Option<f64>,
    rank: f64,
    spread: Option<f64>,
    shortfalls: Vec<String>,
}

/// Writes the page and the table of all recipes.
pub fn write(folder: &Path, judged: &[Judged], command: &str, commit: &str) -> Result<()> {
    let ingredients = ingredients::all();
    let recipes = recipes(&ingredients);
    let aucs = over_seeds(judged, |found| found.auc);
    let precisions = over_seeds(judged, |found| found.precision);
    let rows = rows(&ingredients, &recipes, judged, &aucs, &precisions)?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[b].all.total_cmp(&rows[a].all));

    let mut page = String::from("# The search for the default settings\n\n");
    page.push_str(&format!(
        "Every way to put the score together from at most one of each kind of part ({} recipes), judged by ROC-AUC in % on {} \
         sets, {} seeds; of large sets 40,000 normal rows and 20,000 anomalies are compared, after fits on all rows. A number \
         before a part is its weight. 18 and 8: averages over the paper's sets and the further ones. AP: average precision over all sets, of the \
         rows compared. Rank: mean rank among all recipes. ±: standard deviation of the average over the seeds. Short: sets more than 2 under the paper's DIAD. All \
         recipes are in recipes.csv.\n\n",
        recipes.len(),
        judged.len(),
        judged[0].found.len()
    ));
    let table = |chosen: &[usize]| {
        let mut grid = Grid::new(["recipe", "short", "18", "8", "all", "AP", "rank", "±"]);
        chosen.iter().for_each(|&recipe| grid.push(rows[recipe].cells()));
        grid.markdown(2)
    };
    page.push_str(&format!("## The best by average\n\n{}\n", table(&order[..SHOWN.min(order.len())])));
    let default = default_recipe(&ingredients);
    let index = recipes.iter().position(|recipe| *recipe == default);
    if let Some(index) = index {
        page.push_str(&format!(
            "## The default, and what each of its parts is good for\n\nThe default, then the same without one part or with another choice of \
             it, then each part alone. Gain: how much the default is above, with the standard error of the difference over the sets.\n\n{}\n",
            neighbours(&recipes, &rows, &aucs, &ingredients, index)
        ));
    }
    page.push_str(&format!("## Honest choice\n\n{}\n", leave_one_out(judged, &aucs, &rows, &recipes, index)));
    page.push_str(&render::origin(&[command], [commit]));

    let header = [
        "recipe",
        "average_18",
        "average_8",
        "average_all",
        "average_precision",
        "mean_rank",
        "seed_deviation",
        "short",
    ];
    let mut csv = Grid::new(header);
    for &recipe in &order {
        let row = &rows[recipe];
        csv.push([
            row.name.clone(),
            number(row.paper, 3),
            number(row.extra, 3),
            number(Some(row.all), 3),
            number(row.precision, 3),
            number(Some(row.rank), 1),
            number(row.spread, 3),
            row.shortfalls.join(" "),
        ]);
    }
    render::write(folder, "recipes", &page, &csv.csv())
}

impl Row {
    fn cells(&self) -> [String; 8] {
        [
            self.name.clone(),
            if self.shortfalls.is_empty() { render::NONE.into() } else { self.shortfalls.join(", ") },
            number(self.paper, 2),
            number(self.extra, 2),
            number(Some(self.all), 2),
            number(self.precision, 2),
            number(Some(self.rank), 0),
            number(self.spread, 2),
        ]
    }
}

fn rows(
    ingredients: &[Ingredient],
    recipes: &[Recipe],
    judged: &[Judged],
    aucs: &[Vec<f64>],
    precisions: &[Vec<f64>],
) -> Result<Vec<Row>> {
    let paper = crate::paper::PaperTable::unsupervised()?;
    let ranks_of_sets: Vec<Vec<f64>> = aucs.par_iter().map(|set| ranks(set)).collect();
    let row = |index: usize| {
        let of = |extra: Option<bool>, aucs: &dyn Fn(usize) -> f64| {
            let sets =
                (0..judged.len()).filter(|&set| extra.is_none_or(|extra| judged[set].set.extra == extra));
            mean(&sets.map(aucs).collect::<Vec<_>>())
        };
        let found = |set: usize| aucs[set][index];
        let seeds = judged[0].found.len();
        let by_seed: Vec<f64> =
            (0..seeds).filter_map(|seed| of(None, &|set| judged[set].found[seed][index].auc)).collect();
        let shortfall = |set: usize| {
            let theirs = paper.row(judged[set].set.name)?.first()?.mean;
            let short = theirs - found(set);
            (short > ALLOWED).then(|| format!("{} {short:.1}", judged[set].set.name))
        };
        Row {
            name: name(ingredients, &recipes[index]),
            paper: of(Some(false), &found),
            extra: of(Some(true), &found),
            all: of(None, &found).unwrap_or(f64::NAN),
            precision: of(None, &|set| precisions[set][index]),
            rank: of(None, &|set| ranks_of_sets[set][index]).unwrap_or(f64::NAN),
            spread: standard_error(&by_seed).map(|error| error * (seeds as f64).sqrt()),
            shortfalls: (0..judged.len()).filter_map(shortfall).collect(),
        }
    };
    Ok((0..recipes.len()).map(row).collect())
}

fn name(ingredients: &[Ingredient], recipe: &Recipe) -> String {
    let part = |&(ingredient, weight): &(usize, f64)| {
        let name = ingredients[ingredient].name;
        if weight == 1.0 { name.to_string() } else { format!("{weight} {name}") }
    };
    recipe.0.iter().map(part).collect::<Vec<_>>().join(" + ")
}

/// The recipe that the default settings are.
fn default_recipe(ingredients: &[Ingredient]) -> Recipe {
    let default = diad::Params::default();
    let relations = format!("relations, {}", default.relation_strength);
    let wanted = [
        ("trees, both", default.weight_trees),
        ("tails", default.weight_tails),
        ("columns, bent", default.weight_columns),
        (relations.as_str(), default.weight_relations),
    ];
    let place = |name: &str| ingredients.iter().position(|ingredient| ingredient.name == name);
    let part =
        |&(name, weight): &(&str, f64)| place(name).filter(|_| weight > 0.0).map(|place| (place, weight));
    Recipe(wanted.iter().filter_map(part).collect())
}

/// The paper's kind of model: trees in the linear scale, the first ingredient, and nothing else.
fn trees_alone(recipes: &[Recipe]) -> usize {
    recipes.iter().position(|recipe| recipe.0 == [(0, 1.0)]).unwrap_or(0)
}

/// The default, its neighbours and its parts.
fn neighbours(
    recipes: &[Recipe],
    rows: &[Row],
    aucs: &[Vec<f64>],
    ingredients: &[Ingredient],
    default: usize,
) -> String {
    let parts = &recipes[default].0;
    let kind = |&(ingredient, _): &(usize, f64)| ingredients[ingredient].kind as usize;
    let by_kind = |recipe: &Recipe, wanted: usize| recipe.0.iter().copied().find(|part| kind(part) == wanted);
    let differences =
        |recipe: &Recipe| (0..4).filter(|&k| by_kind(recipe, k) != by_kind(&recipes[default], k)).count();
    let near = (0..recipes.len()).filter(|&i| differences(&recipes[i]) == 1);
    let alone = (0..recipes.len()).filter(|&i| {
        recipes[i].0.len() == 1 && parts.contains(&(recipes[i].0[0].0, 1.0)) || i == trees_alone(recipes)
    });
    let mut grid = Grid::new(["recipe", "short", "18", "8", "all", "AP", "rank", "±", "gain"]);
    for index in std::iter::once(default).chain(near).chain(alone) {
        let gains: Vec<f64> = aucs.iter().map(|set| set[default] - set[index]).collect();
        let gain = match (mean(&gains), standard_error(&gains)) {
            (Some(gain), Some(error)) if index != default => format!("{gain:.2} ± {error:.2}"),
            _ => render::NONE.into(),
        };
        grid.push(rows[index].cells().into_iter().chain([gain]));
    }
    grid.markdown(2)
}

/// For each set, the recipe that is best on all others: what a choice by these sets is worth on a set it has not seen.
fn leave_one_out(
    judged: &[Judged],
    aucs: &[Vec<f64>],
    rows: &[Row],
    recipes: &[Recipe],
    default: Option<usize>,
) -> String {
    let trees = trees_alone(recipes);
    let read = |left: usize| {
        let total = |recipe: usize| -> f64 {
            (0..aucs.len()).filter(|&set| set != left).map(|set| aucs[set][recipe]).sum()
        };
        (0..rows.len()).max_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0)
    };
    let chosen: Vec<usize> = (0..judged.len()).into_par_iter().map(read).collect();
    let average = |extra: bool, recipe: &dyn Fn(usize) -> usize| {
        let sets = (0..judged.len()).filter(|&set| judged[set].set.extra == extra);
        number(mean(&sets.map(|set| aucs[set][recipe(set)]).collect::<Vec<_>>()), 2)
    };
    let against = |recipe: &dyn Fn(usize) -> usize| {
        let gains: Vec<f64> =
            (0..judged.len()).map(|set| aucs[set][recipe(set)] - aucs[set][trees]).collect();
        format!("{} ± {}", number(mean(&gains), 2), number(standard_error(&gains), 2))
    };
    let mut grid = Grid::new(["choice", "18", "8", "gain over the trees alone"]);
    let mut push = |what: &str, recipe: &dyn Fn(usize) -> usize| {
        grid.push([what.to_string(), average(false, recipe), average(true, recipe), against(recipe)]);
    };
    push("best on all other sets", &|set| chosen[set]);
    if let Some(default) = default {
        push("the default", &|_| default);
    }
    push("trees in the linear scale alone", &|_| trees);
    let mut names: Vec<&str> = chosen.iter().map(|&recipe| rows[recipe].name.as_str()).collect();
    names.sort_unstable();
    let counted = names.chunk_by(|a, b| a == b).map(|same| format!("{} ({} times)", same[0], same.len()));
    format!(
        "For each set the recipe with the highest average over all other sets is chosen and read on the set left out. Gains are means \
         over the sets with the standard error of the mean.\n\n{}\nChosen were: {}.\n",
        grid.markdown(1),
        counted.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_have_one_of_each_kind_at_most_and_the_default_is_among_them() {
        let ingredients = ingredients::all();
        let recipes = recipes(&ingredients);
        for recipe in &recipes {
            let mut kinds: Vec<usize> = recipe.0.iter().map(|&(i, _)| ingredients[i].kind as usize).collect();
            kinds.dedup();
            assert_eq!(kinds.len(), recipe.0.len());
            assert!(!recipe.0.is_empty());
        }
        assert!(recipes.contains(&default_recipe(&ingredients)));
        assert_eq!(name(&ingredients, &recipes[trees_alone(&recipes)]), "trees, linear");
    }

    #[test]
    fn a_recipe_is_judged_by_the_weighted_sum_of_its_parts() {
        let ingredients = ingredients::all();
        let recipes = recipes(&ingredients);
        let mut scores = vec![vec![0.0; 3]; ingredients.len()];
        scores[0] = vec![0.0, 3.0, 1.0];
        scores[4] = vec![1.0, 0.0, 5.0];
        let labels = [false, false, true];
        let found = judge(&ingredients, &scores, &labels);
        let at = |wanted: Recipe| found[recipes.iter().position(|recipe| *recipe == wanted).unwrap()].auc;
        assert_eq!(at(Recipe(vec![(0, 1.0)])), 50.0);
        assert_eq!(at(Recipe(vec![(0, 2.0), (4, 0.5)])), 50.0);
        assert_eq!(at(Recipe(vec![(0, 1.0), (4, 1.0)])), 100.0);
    }
}
