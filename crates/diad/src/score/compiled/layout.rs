//! Lays out the tables of a compiled score.

use super::Compiled;
use super::axis::Axis;
use super::build::{Draft, Sources, centre};
use super::factors::Product;
use crate::kernel::{AxisCells, CellFunctions, LANES, Lane, PairCells, SLOT};

/// Most bytes of tables.
const MOST_BYTES: usize = 64 << 20;

/// The three coefficients of the parabola on a cell.
pub fn parabola(values: &[f64], cell: usize) -> [f64; 3] {
    let [start, middle, end] = [0, 1, 2].map(|k| values[2 * cell + k]);
    [start, 4.0 * middle - 3.0 * start - end, 2.0 * (start + end) - 4.0 * middle]
}

/// Lays out the tables.
pub(super) fn assemble(
    sources: Sources,
    mut drafts: Vec<Draft>,
    pairs: &[([usize; 2], Vec<Product>)],
    bound: f64,
) -> Option<Compiled> {
    let mut shift = -f64::from(sources.shift);
    for draft in &mut drafts {
        shift += centre(&mut draft.own);
    }
    // Of each axis its own function, then those of its pairs, which start at slots.
    let mut functions: Vec<Vec<Option<&[f64]>>> =
        drafts.iter().map(|draft| vec![Some(&draft.own[..]), None, None, None]).collect();
    let mut pair_cells: Vec<PairCells> = Vec::new();
    for &(axes, ref products) in pairs {
        let slots = products.len().div_ceil(SLOT);
        pair_cells.push(PairCells { axes, places: axes.map(|axis| functions[axis].len()), slots });
        for k in 0..slots * SLOT {
            functions[axes[0]].push(products.get(k).map(|product| &product.first[..]));
            functions[axes[1]].push(products.get(k).map(|product| &product.second[..]));
        }
    }
    let used: Vec<usize> = (0..drafts.len())
        .filter(|&axis| functions[axis].len() > SLOT || drafts[axis].own.iter().any(|&value| value != 0.0))
        .collect();
    let width = |axis: usize| functions[axis].len().div_ceil(LANES);
    let cell_count = |axis: usize| drafts[axis].nodes.len() - 1;
    let lanes: usize = used.iter().map(|&axis| 3 * width(axis) * cell_count(axis)).sum();
    if lanes * size_of::<Lane<f32>>() > MOST_BYTES {
        return None;
    }
    let tables = used
        .iter()
        .map(|&axis| AxisCells::new(tabulate(&functions[axis], width(axis), cell_count(axis)), width(axis)));
    for pair in &mut pair_cells {
        pair.axes = pair.axes.map(|axis| used.partition_point(|&other| other < axis));
    }
    let tables: Vec<AxisCells<f32>> = tables.collect();
    // A model from a stranger may have anything in it.
    let finite = |axis: &AxisCells<f32>| axis.table.iter().flat_map(|lane| lane.0).all(f32::is_finite);
    if !shift.is_finite() || !tables.iter().all(finite) {
        return None;
    }
    let cells = CellFunctions::new(tables, pair_cells);
    let axis = |&axis: &usize| {
        let open = sources.held && sources.encoder.is_open(axis);
        Axis::new(&drafts[axis].nodes, open)
    };
    let axes = used.iter().map(axis).collect::<Option<_>>()?;
    let features = used.iter().map(|&axis| axis as u32).collect();
    Some(Compiled { features, axes, cells, shift, bound })
}

fn tabulate(functions: &[Option<&[f64]>], width: usize, cells: usize) -> Vec<Lane<f32>> {
    let mut table = vec![Lane::default(); 3 * width * cells];
    for (index, values) in functions.iter().enumerate().filter_map(|(index, f)| Some((index, (*f)?))) {
        for (cell, lanes) in table.chunks_exact_mut(3 * width).enumerate() {
            for (order, coefficient) in parabola(values, cell).into_iter().enumerate() {
                lanes[order * width + index / LANES].0[index % LANES] = coefficient as f32;
            }
        }
    }
    table
}
