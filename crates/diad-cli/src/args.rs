//! Arguments that several commands share.

use std::path::PathBuf;

use clap::ValueEnum;
use diad::encode::Roles;
use diad::table::DateOrder;

/// What most commands look at.
#[derive(clap::Args)]
pub struct ModelAndTable {
    /// The model file, from diad fit
    pub model: PathBuf,
    /// The table, with the columns of the model in any order; - for standard input
    pub table: PathBuf,
}

/// What columns hold.
#[derive(clap::Args)]
pub struct ColumnRoles {
    /// A column to leave out, such as a name or a row number; may be given more than once
    #[arg(long, value_name = "COL")]
    ignore: Vec<String>,
    /// A column whose values are categories, even if they are numbers; may be given more than once
    #[arg(long, value_name = "COL")]
    categorical: Vec<String>,
    /// A column whose values are numbers, even if they seem to identify rows; may be given more than once
    #[arg(long, value_name = "COL")]
    numeric: Vec<String>,
    /// Which comes first in dates such as 01/02/2024: the day (dmy) or the month (mdy) [default: detected for each column]
    #[arg(long, value_name = "ORDER")]
    dates: Option<Order>,
}

/// The order of day and month.
#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// The day first
    Dmy,
    /// The month first
    Mdy,
}

impl ColumnRoles {
    /// The roles of the columns; a label column is left out.
    pub fn roles(&self, label: Option<&str>) -> Roles {
        let roles = label.into_iter().fold(Roles::default(), |roles, name| roles.ignore(name));
        let roles = self.ignore.iter().fold(roles, |roles, name| roles.ignore(name));
        let roles = self.categorical.iter().fold(roles, |roles, name| roles.categorical(name));
        let roles = self.numeric.iter().fold(roles, |roles, name| roles.numeric(name));
        match self.dates {
            Some(Order::Dmy) => roles.dates(DateOrder::Dmy),
            Some(Order::Mdy) => roles.dates(DateOrder::Mdy),
            None => roles,
        }
    }
}

/// How a result is printed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    Text,
    Json,
}
