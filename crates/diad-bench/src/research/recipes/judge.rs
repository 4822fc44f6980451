//! Recipes, how well they do on every set, and what follows from it.

use anyhow::Result;
use diad::{ScorePart, metrics};
use rayon::prelude::*;

use super::ingredients::{self, Ingredient, Labels};
use crate::render::{self, Grid, number};
use crate::sets::Set;
use crate::stats::{mean, ranks, standard_error};
use crate::study::Page;

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

/// Weights at which a part is tried, the default's first.
fn tried(part: ScorePart) -> &'static [f64] {
    match part {
        ScorePart::Tails => &[3.0],
        ScorePart::Columns => &[6.0, 3.0, 12.0],
        ScorePart::Trees => &[10.0, 5.0, 20.0],
        ScorePart::Relations => &[20.0, 10.0],
        ScorePart::Cuts => &[36.0, 18.0, 72.0],
    }
}

/// Every recipe of the search: at most one ingredient of each kind, at one of a few weights.
pub fn recipes(ingredients: &[Ingredient]) -> Vec<Recipe> {
    let mut recipes = vec![Vec::new()];
    for part in ScorePart::ALL {
        let of_part = (0..ingredients.len()).filter(|&i| ingredients[i].part == part);
        let weighed = of_part.flat_map(|i| tried(part).iter().map(move |&weight| Some((i, weight))));
        let choices: Vec<Option<(usize, f64)>> = std::iter::once(None).chain(weighed).collect();
        let longer = |recipe: &Vec<(usize, f64)>| {
            let recipe = recipe.clone();
            choices.iter().map(move |choice| recipe.iter().copied().chain(*choice).collect())
        };
        recipes = recipes.iter().flat_map(longer).collect();
    }
    // A single part needs one weight alone, and nothing is no recipe.
    recipes.retain(|recipe: &Vec<_>| match recipe[..] {
        [] => false,
        [(ingredient, weight)] => weight == tried(ingredients[ingredient].part)[0],
        _ => true,
    });
    recipes.into_iter().map(Recipe).collect()
}

/// How well every recipe does, from the scores of its ingredients: as a fit does, each part is added by its weight and by how
/// far it agrees with those before it.
pub fn judge(ingredients: &[Ingredient], scores: &[Vec<f32>], labels: &Labels) -> Vec<Found> {
    let judge = |recipe: &Recipe| {
        let mut total = vec![0.0f32; labels.chosen.len()];
        for (place, &(ingredient, weight)) in recipe.0.iter().enumerate() {
            let part = &scores[ingredient];
            let agreement = if place == 0 { 1.0 } else { correlation(&total, part, &labels.weights) };
            let factor = (weight * ingredients[ingredient].part.counted(agreement, labels.columns)) as f32;
            total.iter_mut().zip(part).for_each(|(total, score)| *total += factor * score);
        }
        let percent = |figure: Option<f64>| 100.0 * figure.unwrap_or(f64::NAN);
        Found {
            auc: percent(metrics::roc_auc(&labels.chosen, &total)),
            precision: percent(metrics::average_precision(&labels.chosen, &total)),
        }
    };
    recipes(ingredients).par_iter().map(judge).collect()
}

/// The correlation of two scores over rows that stand for more or fewer others.
fn correlation(first: &[f32], second: &[f32], weights: &[f64]) -> f64 {
    let mut sums = [0.0f64; 6];
    for ((&x, &y), &weight) in first.iter().zip(second).zip(weights) {
        let (x, y) = (f64::from(x), f64::from(y));
        let terms = [1.0, x, y, x * x, x * y, y * y];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
    }
    let [n, x, y, xx, xy, yy] = sums;
    let spread = ((xx - x * x / n) * (yy - y * y / n)).max(0.0).sqrt();
    if spread > 0.0 { (xy - x * y / n) / spread } else { 0.0 }
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
    /// Average precision over the paper's sets and over the further ones.
    precisions: [Option<f64>; 2],
    rank: f64,
    spread: Option<f64>,
    shortfalls: Vec<String>,
}

/// The page and the table of all recipes.
///
/// # Errors
/// If the paper's table is malformed.
pub fn page(judged: &[Judged], command: String, commit: &str) -> Result<Page> {
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
         before a part is its weight; it counts by how far the part agrees with those before it. 18 and 8: averages over the paper's sets and the further ones. AP: average precision, of the \
         rows compared. Rank: mean rank among all recipes. ±: standard deviation of the average over the seeds. Short: sets more than 2 under the paper's DIAD. All \
         recipes are in recipes.csv.\n\n",
        recipes.len(),
        judged.len(),
        judged[0].found.len()
    ));
    let table = |chosen: &[usize]| {
        let mut grid = Grid::new(["recipe", "short", "18", "8", "all", "AP 18", "AP 8", "rank", "±"]);
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
    page.push_str(&format!(
        "## Honest choice\n\n{}",
        leave_one_out(judged, [&aucs, &precisions], &rows, trees_alone(&ingredients, &recipes), index)
    ));
    let (commands, commits) = (vec![command], vec![commit.to_string()]);
    Ok(Page { text: page, commands, commits, csv: csv(&rows, &order), picture: None })
}

fn csv(rows: &[Row], order: &[usize]) -> Grid {
    let header = [
        "recipe",
        "average_18",
        "average_8",
        "average_all",
        "average_precision_18",
        "average_precision_8",
        "mean_rank",
        "seed_deviation",
        "short",
    ];
    let mut csv = Grid::new(header);
    for &recipe in order {
        let row = &rows[recipe];
        csv.push([
            row.name.clone(),
            number(row.paper, 3),
            number(row.extra, 3),
            number(Some(row.all), 3),
            number(row.precisions[0], 3),
            number(row.precisions[1], 3),
            number(Some(row.rank), 1),
            number(row.spread, 3),
            row.shortfalls.join(" "),
        ]);
    }
    csv
}

impl Row {
    fn cells(&self) -> [String; 9] {
        [
            self.name.clone(),
            if self.shortfalls.is_empty() { render::NONE.into() } else { self.shortfalls.join(", ") },
            number(self.paper, 2),
            number(self.extra, 2),
            number(Some(self.all), 2),
            number(self.precisions[0], 2),
            number(self.precisions[1], 2),
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
            precisions: [false, true].map(|extra| of(Some(extra), &|set| precisions[set][index])),
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
        if recipe.0.len() == 1 { name.to_string() } else { format!("{weight} {name}") }
    };
    recipe.0.iter().map(part).collect::<Vec<_>>().join(" + ")
}

/// The recipe that the default settings are.
fn default_recipe(ingredients: &[Ingredient]) -> Recipe {
    let default = diad::Params::default();
    let part = |part: ScorePart| {
        let name = match part {
            ScorePart::Tails => "tails",
            ScorePart::Columns => "columns, bent",
            ScorePart::Trees => "trees, both",
            ScorePart::Relations => "relations",
            ScorePart::Cuts => "cuts",
        };
        let place = ingredients.iter().position(|ingredient| ingredient.name == name)?;
        Some((place, default.weight(part))).filter(|(_, weight)| *weight > 0.0)
    };
    Recipe(ScorePart::ALL.into_iter().filter_map(part).collect())
}

/// The paper's kind of model: trees in the linear scale and nothing else.
fn trees_alone(ingredients: &[Ingredient], recipes: &[Recipe]) -> usize {
    let alone = |recipe: &Recipe| recipe.0.len() == 1 && ingredients[recipe.0[0].0].name == "trees, linear";
    recipes.iter().position(alone).unwrap_or(0)
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
    let of = |recipe: &Recipe, wanted: ScorePart| {
        recipe.0.iter().copied().find(|&(ingredient, _)| ingredients[ingredient].part == wanted)
    };
    let differs = |recipe: &Recipe, part: ScorePart| of(recipe, part) != of(&recipes[default], part);
    let differences =
        |recipe: &Recipe| ScorePart::ALL.into_iter().filter(|&part| differs(recipe, part)).count();
    let near = (0..recipes.len()).filter(|&i| differences(&recipes[i]) == 1);
    let alone = (0..recipes.len()).filter(|&i| {
        recipes[i].0.len() == 1 && parts.contains(&recipes[i].0[0]) || i == trees_alone(ingredients, recipes)
    });
    let mut grid = Grid::new(["recipe", "short", "18", "8", "all", "AP 18", "AP 8", "rank", "±", "gain"]);
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
    [aucs, precisions]: [&[Vec<f64>]; 2],
    rows: &[Row],
    trees: usize,
    default: Option<usize>,
) -> String {
    let read = |left: usize| {
        let total = |recipe: usize| -> f64 {
            (0..aucs.len()).filter(|&set| set != left).map(|set| aucs[set][recipe]).sum()
        };
        (0..rows.len()).max_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0)
    };
    let chosen: Vec<usize> = (0..judged.len()).into_par_iter().map(read).collect();
    let average = |figures: &[Vec<f64>], extra: bool, recipe: &dyn Fn(usize) -> usize| {
        let sets = (0..judged.len()).filter(|&set| judged[set].set.extra == extra);
        number(mean(&sets.map(|set| figures[set][recipe(set)]).collect::<Vec<_>>()), 2)
    };
    let against = |recipe: &dyn Fn(usize) -> usize| {
        let gains: Vec<f64> =
            (0..judged.len()).map(|set| aucs[set][recipe(set)] - aucs[set][trees]).collect();
        format!("{} ± {}", number(mean(&gains), 2), number(standard_error(&gains), 2))
    };
    let mut grid = Grid::new(["choice", "18", "8", "AP 18", "AP 8", "gain over the trees alone"]);
    let mut push = |what: &str, recipe: &dyn Fn(usize) -> usize| {
        let averages = [(aucs, false), (aucs, true), (precisions, false), (precisions, true)];
        let averages = averages.map(|(figures, extra)| average(figures, extra, recipe));
        grid.push(std::iter::once(what.to_string()).chain(averages).chain([against(recipe)]));
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
            let mut parts: Vec<ScorePart> = recipe.0.iter().map(|&(i, _)| ingredients[i].part).collect();
            parts.dedup();
            assert_eq!(parts.len(), recipe.0.len());
            assert!(!recipe.0.is_empty());
        }
        assert!(recipes.contains(&default_recipe(&ingredients)));
        assert_eq!(name(&ingredients, &recipes[trees_alone(&ingredients, &recipes)]), "trees, linear");
    }

    #[test]
    fn a_recipe_is_judged_by_the_sum_of_its_parts_as_far_as_they_agree() {
        let ingredients = ingredients::all();
        let recipes = recipes(&ingredients);
        let place = |name: &str| ingredients.iter().position(|one| one.name == name).unwrap();
        let (tails, columns, trees) = (place("tails"), place("columns, bent"), place("trees, both"));
        let mut scores = vec![vec![0.0; 4]; ingredients.len()];
        scores[tails] = vec![0.0, 3.0, 1.0, 2.0];
        scores[columns] = vec![1.0, 0.0, 5.0, 2.0];
        scores[trees] = vec![3.0, 0.0, 2.0, 1.0];
        let labels = Labels::of(vec![false, false, true, false]);
        let found = judge(&ingredients, &scores, &labels);
        let at = |wanted: Recipe| found[recipes.iter().position(|recipe| *recipe == wanted).unwrap()].auc;
        let third = 100.0 / 3.0;
        assert!((at(Recipe(vec![(tails, 3.0)])) - third).abs() < 1e-9);
        // Columns count whatever they say.
        assert_eq!(at(Recipe(vec![(tails, 3.0), (columns, 6.0)])), 100.0);
        // The trees say the opposite of the tails, so that they do not count at all.
        assert!((correlation(&scores[tails], &scores[trees], &labels.weights) + 1.0).abs() < 1e-12);
        assert!((at(Recipe(vec![(tails, 3.0), (trees, 20.0)])) - third).abs() < 1e-9);
    }

    #[test]
    fn rows_count_in_correlations_as_often_as_they_stand_for_others() {
        let (x, y) = ([0.0, 1.0, 2.0, 2.0, 2.0], [1.0, -1.0, 4.0, 4.0, 4.0]);
        let plain = metrics::correlation(&x, &y);
        let weighed = correlation(&x[..3], &y[..3], &[1.0, 1.0, 3.0]);
        assert!((plain - weighed).abs() < 1e-12, "{plain} {weighed}");
    }
}
