//! Kinds of tables as offices keep them: what their columns are called and how they depend on each other.

/// A kind of table. The amount and the hours depend on the kind of row; the place implies another category.
#[derive(Debug)]
pub struct Spec {
    /// What the table is.
    pub name: &'static str,
    /// The time stamp.
    pub time: &'static str,
    /// Whether nothing happens on Saturdays and Sundays.
    pub weekdays: bool,
    /// The column with the kind of a row, and the kinds.
    pub group: (&'static str, &'static [Group]),
    /// The column with the place, and the column that the place implies.
    pub place: [&'static str; 2],
    /// The places, what each implies, and how frequent each is.
    pub places: &'static [(&'static str, &'static str, u32)],
    /// A category that depends on nothing, with how frequent each value is.
    pub free: (&'static str, &'static [(&'static str, u32)]),
    /// A value of it that is rare.
    pub rare: &'static str,
    /// The column with the amount.
    pub amount: &'static str,
    /// Further numbers. The first is of another size than the amount.
    pub numbers: &'static [(&'static str, Law)],
}

/// A kind of row.
#[derive(Debug)]
pub struct Group {
    /// What it is called.
    pub name: &'static str,
    /// How frequent it is.
    pub weight: u32,
    /// The median of its amounts.
    pub usual: f64,
    /// The standard deviation of their logarithm.
    pub spread: f64,
    /// The first and the last hour of the day it occurs in.
    pub hours: [u32; 2],
}

/// How a number is distributed.
#[derive(Debug)]
pub enum Law {
    /// Normal, with that mean and deviation, in whole numbers and never below one.
    Whole(f64, f64),
    /// The logarithm is normal: the median, and the deviation of the logarithm.
    Skewed(f64, f64),
    /// A share of the amount, with that deviation of the logarithm.
    Follows(f64, f64),
}

const fn group(name: &'static str, weight: u32, usual: f64, spread: f64, hours: [u32; 2]) -> Group {
    Group { name, weight, usual, spread, hours }
}

/// All kinds of tables.
pub const SPECS: [Spec; 6] = [
    Spec {
        name: "bank transactions",
        time: "booked_at",
        weekdays: true,
        group: (
            "merchant",
            &[
                group("groceries", 30, 45.0, 0.4, [8, 20]),
                group("fuel", 15, 60.0, 0.3, [6, 22]),
                group("restaurant", 20, 32.0, 0.4, [11, 22]),
                group("rent", 6, 1200.0, 0.2, [8, 10]),
                group("travel", 8, 380.0, 0.5, [7, 21]),
                group("electronics", 9, 240.0, 0.5, [10, 19]),
                group("pharmacy", 12, 15.0, 0.4, [8, 18]),
            ],
        ),
        place: ["country", "currency"],
        places: &[
            ("Germany", "EUR", 40),
            ("France", "EUR", 15),
            ("Switzerland", "CHF", 15),
            ("United Kingdom", "GBP", 12),
            ("United States", "USD", 10),
            ("Poland", "PLN", 8),
        ],
        free: ("channel", &[("card", 50), ("app", 30), ("web", 20)]),
        rare: "cheque",
        amount: "amount",
        numbers: &[("balance", Law::Skewed(4000.0, 0.4)), ("fee", Law::Follows(0.01, 0.2))],
    },
    Spec {
        name: "expense reports",
        time: "submitted_at",
        weekdays: true,
        group: (
            "category",
            &[
                group("meal", 35, 28.0, 0.4, [11, 21]),
                group("taxi", 20, 22.0, 0.4, [6, 22]),
                group("hotel", 15, 420.0, 0.3, [7, 10]),
                group("flight", 12, 650.0, 0.4, [6, 20]),
                group("training", 6, 1500.0, 0.3, [9, 16]),
                group("stationery", 12, 12.0, 0.5, [9, 17]),
            ],
        ),
        place: ["department", "cost_centre"],
        places: &[
            ("sales", "C100", 35),
            ("engineering", "C200", 30),
            ("marketing", "C310", 15),
            ("finance", "C400", 10),
            ("human resources", "C520", 10),
        ],
        free: ("paid_by", &[("company card", 60), ("own card", 30), ("transfer", 10)]),
        rare: "cash advance",
        amount: "amount",
        numbers: &[("distance_km", Law::Skewed(3200.0, 0.3)), ("people", Law::Whole(3.0, 1.0))],
    },
    Spec {
        name: "machine sensors",
        time: "measured_at",
        weekdays: false,
        group: (
            "machine",
            &[
                group("pump", 30, 55.0, 0.08, [6, 22]),
                group("press", 25, 85.0, 0.08, [6, 21]),
                group("lathe", 20, 42.0, 0.08, [7, 19]),
                group("oven", 10, 640.0, 0.05, [5, 11]),
                group("compressor", 15, 110.0, 0.1, [6, 22]),
            ],
        ),
        place: ["hall", "line"],
        places: &[
            ("north", "N1", 30),
            ("north annex", "N1", 10),
            ("south", "S1", 25),
            ("east", "E2", 20),
            ("west", "W4", 15),
        ],
        free: ("state", &[("running", 80), ("idle", 15), ("cleaning", 5)]),
        rare: "override",
        amount: "temperature",
        numbers: &[
            ("speed_rpm", Law::Skewed(9000.0, 0.1)),
            ("pressure_bar", Law::Follows(0.05, 0.05)),
            ("vibration", Law::Skewed(2.5, 0.3)),
        ],
    },
    Spec {
        name: "hospital admissions",
        time: "admitted_at",
        weekdays: false,
        group: (
            "treatment",
            &[
                group("check-up", 35, 180.0, 0.3, [8, 16]),
                group("emergency", 25, 900.0, 0.5, [6, 23]),
                group("surgery", 15, 8200.0, 0.3, [7, 11]),
                group("dialysis", 15, 420.0, 0.2, [7, 19]),
                group("birth", 10, 3100.0, 0.2, [6, 23]),
            ],
        ),
        place: ["diagnosis", "ward"],
        places: &[
            ("heart failure", "cardiology", 25),
            ("arrhythmia", "cardiology", 10),
            ("fracture", "orthopaedics", 25),
            ("stroke", "neurology", 15),
            ("kidney disease", "nephrology", 15),
            ("pneumonia", "pulmonology", 10),
        ],
        free: ("insurance", &[("public", 75), ("private", 20), ("student", 5)]),
        rare: "embassy",
        amount: "cost",
        numbers: &[("age", Law::Whole(56.0, 12.0)), ("nurse_minutes", Law::Follows(0.4, 0.2))],
    },
    Spec {
        name: "web orders",
        time: "ordered_at",
        weekdays: false,
        group: (
            "product",
            &[
                group("book", 35, 16.0, 0.3, [7, 22]),
                group("toy", 20, 28.0, 0.4, [8, 21]),
                group("phone", 15, 580.0, 0.3, [8, 22]),
                group("furniture", 10, 310.0, 0.5, [9, 21]),
                group("groceries", 20, 52.0, 0.3, [6, 10]),
            ],
        ),
        place: ["country", "warehouse"],
        places: &[
            ("Netherlands", "Venlo", 35),
            ("Belgium", "Venlo", 15),
            ("Italy", "Bologna", 20),
            ("Spain", "Zaragoza", 20),
            ("Sweden", "Malmö", 10),
        ],
        free: ("browser", &[("Chrome", 60), ("Safari", 25), ("Firefox", 15)]),
        rare: "Lynx",
        amount: "price",
        numbers: &[
            ("customer_points", Law::Skewed(5200.0, 0.3)),
            ("shipping", Law::Follows(0.08, 0.2)),
            ("items", Law::Whole(3.0, 1.0)),
        ],
    },
    Spec {
        name: "invoices",
        time: "issued_at",
        weekdays: true,
        group: (
            "supplier_kind",
            &[
                group("cleaning", 25, 340.0, 0.3, [8, 17]),
                group("energy", 10, 5200.0, 0.3, [8, 10]),
                group("software", 20, 890.0, 0.5, [8, 19]),
                group("catering", 25, 160.0, 0.4, [9, 18]),
                group("construction", 8, 14000.0, 0.4, [8, 17]),
                group("post", 12, 24.0, 0.4, [8, 18]),
            ],
        ),
        place: ["country", "tax_code"],
        places: &[
            ("Germany", "DE19", 45),
            ("Austria", "AT20", 20),
            ("Netherlands", "NL21", 15),
            ("Denmark", "DK25", 10),
            ("Hungary", "HU27", 10),
        ],
        free: ("approved_by", &[("Adams", 40), ("Baker", 35), ("Clark", 25)]),
        rare: "Voss",
        amount: "net",
        numbers: &[("order_number", Law::Whole(72000.0, 4000.0)), ("tax", Law::Follows(0.2, 0.05))],
    },
];
