//! DIAD for Python. Everything here converts, calls the library and names errors; it decides nothing.

// A test program would have to link Python itself. What is here is tested from Python, in `tests/`.
#![cfg(not(test))]

mod alerts;
mod engine;
mod error;
mod explain;
mod input;
mod model;
mod next;
mod roles;
mod run;
mod settings;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule(gil_used = true)]
fn _diad(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FIT_SETTINGS", settings::described(diad::Params::declared()))?;
    let tuning = diad::Learner::declared().into_iter().map(|(setting, _)| setting);
    module.add("TUNE_SETTINGS", settings::described(tuning))?;
    module.add("SEVERITIES", diad::calibrate::Severity::CUTS.map(|(severity, _)| severity.name()))?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(input::hold, module)?)?;
    module.add_function(wrap_pyfunction!(input::take, module)?)?;
    module.add_function(wrap_pyfunction!(engine::counting, module)?)?;
    module.add_function(wrap_pyfunction!(engine::count_rows, module)?)?;
    module.add_function(wrap_pyfunction!(engine::add_counts, module)?)?;
    module.add_class::<input::Held>()?;
    module.add_class::<input::Frame>()?;
    module.add_class::<input::Taken>()?;
    module.add_class::<model::Model>()
}
