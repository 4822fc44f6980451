//! From a table to a detector.

mod unseen;

use std::ops::ControlFlow;

use crate::encode::{Copies, Counted, Encoder, Matrix, Roles, Survey};
use crate::table::Source;
use crate::train::{self, Observe, Progress};
use crate::{Checkpoints, Detector, Error, Params, Result, calibrate, explain, recipe};
use unseen::Unseen;

impl Params {
    /// Fits a detector to the rows of a table, without labels.
    ///
    /// Runs on the current rayon thread pool; the result does not depend on its size.
    ///
    /// ```
    /// use diad::{Params, table::Table};
    ///
    /// let table = Table::new(vec!["x".into()], vec![(0..40).map(|i| f64::from(i % 7)).collect()])?;
    /// let detector = Params::default().with_steps(10).trees(4).fit(&table)?;
    /// assert_eq!(detector.score(&table)?.len(), 40);
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a setting is out of range, the table cannot be read, has nothing to learn from or does not fit into memory, or the
    /// training diverged.
    pub fn fit(&self, table: &dyn Source) -> Result<Detector> {
        self.fitting(table).run()
    }

    /// A fit with options: the roles of columns, a progress callback, and checkpoints.
    ///
    /// ```
    /// use diad::{Params, encode::Roles, table::Table};
    /// use std::ops::ControlFlow;
    ///
    /// let numbers = |step| (0..40).map(|i| f64::from(i * step % 7)).collect();
    /// let table = Table::new(vec!["x".into(), "label".into()], vec![numbers(1), numbers(3)])?;
    /// let params = Params::default().with_steps(10).trees(4);
    /// let mut losses = Vec::new();
    /// let detector = params
    ///     .fitting(&table)
    ///     .roles(Roles::default().ignore("label"))
    ///     .progress(&mut |progress| {
    ///         losses.push(progress.loss);
    ///         ControlFlow::Continue(())
    ///     })
    ///     .run()?;
    /// assert_eq!((detector.encoder().columns().len(), losses.len()), (1, 10));
    /// # Ok::<(), diad::Error>(())
    /// ```
    pub fn fitting<'a>(&self, table: &'a dyn Source) -> Fitting<'a> {
        Fitting {
            params: self.clone(),
            table,
            roles: Roles::default(),
            known: None,
            observe: None,
            checkpoints: None,
        }
    }
}

/// A fit that is being prepared; see [`Params::fitting`].
#[must_use = "a fit does nothing until it is run"]
pub struct Fitting<'a> {
    params: Params,
    table: &'a dyn Source,
    roles: Roles,
    known: Option<Counted>,
    observe: Option<Observe<'a>>,
    checkpoints: Option<&'a mut Checkpoints>,
}

impl<'a> Fitting<'a> {
    /// Says which columns to ignore, and which hold categories or numbers.
    pub fn roles(self, roles: Roles) -> Self {
        Self { roles, ..self }
    }

    /// Leaves a column out, such as one of labels.
    pub fn ignore(self, column: impl Into<String>) -> Self {
        Self { roles: self.roles.ignore(column), ..self }
    }

    /// Says that the table is a sample of a larger one, and what was counted of all rows of that: see
    /// [`Counting`](crate::encode::Counting). The model then knows the ranges, categories and gaps of all rows. If the sample is all
    /// rows, the fit is the same as without.
    pub fn sampled_from(self, all: Counted) -> Self {
        Self { known: Some(all), ..self }
    }

    /// Calls `observe` after each step. It may stop the fit, which then ends with [`Error::Stopped`](crate::Error::Stopped).
    pub fn progress(self, observe: Observe<'a>) -> Self {
        Self { observe: Some(observe), ..self }
    }

    /// Resumes from a checkpoint if there is one, and writes checkpoints. The model is the same, bit for bit, as without any
    /// interruption. A fit that is stopped leaves a checkpoint of its last step.
    pub fn checkpoints(self, checkpoints: &'a mut Checkpoints) -> Self {
        Self { checkpoints: Some(checkpoints), ..self }
    }

    /// Reads the table and trains.
    ///
    /// # Errors
    /// As [`Params::fit`], or if the fit was stopped, or a checkpoint is of another fit or cannot be read or written.
    pub fn run(self) -> Result<Detector> {
        self.read()?.run()
    }

    /// Reads the table; [`Training::run`] trains.
    ///
    /// # Errors
    /// If a setting is out of range, or the table cannot be read, has nothing to learn from or does not fit into memory.
    pub fn read(self) -> Result<Training<'a>> {
        let Self { params, table, roles, known, observe, checkpoints } = self;
        params.validate()?;
        let mut survey = Survey::of(table, &roles)?;
        if let Some(counted) = known {
            survey = survey.knowing(counted, &roles)?;
        }
        let (encoder, matrix) = Encoder::encode_surveyed(table, &survey, params.scale)?;
        let (rows, mut notes) = (survey.rows(), survey.notes());
        if (matrix.rows() as u64) < rows {
            notes.push(format!(
                "the table has {} rows; {} of them, drawn at random, are trained on",
                explain::count(rows),
                explain::count(matrix.rows() as u64)
            ));
        }
        Ok(Training { params, encoder, matrix, rows, notes, observe, checkpoints })
    }
}

/// A fit whose table has been read; see [`Fitting::read`].
#[must_use = "a training does nothing until it is run"]
pub struct Training<'a> {
    params: Params,
    encoder: Encoder,
    matrix: Matrix,
    /// Of the table.
    rows: u64,
    notes: Vec<String>,
    observe: Option<Observe<'a>>,
    checkpoints: Option<&'a mut Checkpoints>,
}

impl Training<'_> {
    /// What the model will look at.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Notes for the user about how the table was read, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The number of rows it is trained on: those of the table, or of a sample of it.
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Trains.
    ///
    /// # Errors
    /// If the training was stopped or diverged, or a checkpoint is of another fit or cannot be read or
    /// written.
    pub fn run(self) -> Result<Detector> {
        let go_on = &mut |_: Progress| ControlFlow::Continue(());
        let observe = self.observe.unwrap_or(go_on);
        let rows = self.rows;
        let data = (self.matrix, rows);
        let detector = fit_encoded(&self.params, self.encoder, data, self.checkpoints, observe)?;
        Ok(detector.sampled_from(rows))
    }
}

/// Trains the trees on an encoded matrix, of a table of so many rows, and combines them with the other parts of the score.
pub(crate) fn fit_encoded(
    params: &Params,
    encoder: Encoder,
    (matrix, rows): (Matrix, u64),
    checkpoints: Option<&mut Checkpoints>,
    observe: Observe,
) -> Result<Detector> {
    let (found, expected) = (matrix.width, encoder.features().len());
    if found != expected || matrix.values.len() != matrix.rows() * found {
        return Err(Error::Width { found, expected });
    }
    let copies = Copies::of(&matrix);
    let features = encoder.distinct_tree_features(&copies);
    let mut model = match checkpoints {
        Some(checkpoints) => checkpoints.train(params, &encoder, (&matrix, &features), observe)?,
        None => train::train(params, (&matrix, &features), None, observe)?,
    };
    // Copies are all the same to the training, and share what it made of the first of them.
    model.take_turns(&encoder.tree_copies(&copies));
    let ingredients = recipe::Ingredients::of((&matrix, &copies, rows), &encoder, params.seed);
    let (few, unseen) = (calibrate::usual_rows(&matrix), Unseen::of(matrix, params.seed));
    let detector = recipe::combine(params, encoder, ingredients, model);
    tracing::info!("combined the parts of the score");
    let detector = match unseen.calibration(params, &detector) {
        Some(calibration) => detector.calibrated(calibration),
        None => detector,
    };
    let usual = calibrate::usual(&detector, &few);
    tracing::info!("calibrated the score");
    Ok(detector.knowing(usual))
}

/// As a fit of a table, for tests that have encoded rows.
#[cfg(test)]
pub(crate) fn fit(params: &Params, encoder: Encoder, matrix: &Matrix) -> Result<Detector> {
    let data = (matrix.clone(), matrix.rows() as u64);
    fit_encoded(params, encoder, data, None, &mut |_| ControlFlow::Continue(()))
}
