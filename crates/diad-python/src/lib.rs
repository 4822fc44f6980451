//! DIAD for Python. Everything here converts, calls the library and names errors; it decides nothing.

// A test program would have to link Python itself. What is here is tested from Python, in `tests/`.
#![cfg(not(test))]

mod error;
mod explain;
mod input;
mod model;
mod run;
mod settings;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule(gil_used = true)]
fn _diad(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let names = diad::Params::default().listed().into_iter().map(|(name, _)| name.replace('-', "_"));
    // The seed is given as `random_state`.
    module.add("SETTINGS", names.filter(|name| name != "seed").collect::<Vec<String>>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(input::hold, module)?)?;
    module.add_class::<input::Held>()?;
    module.add_class::<model::Model>()
}
