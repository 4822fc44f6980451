//! The table of the demonstration: expenses of a company, made up by rules, with odd rows planted among them.
//!
//! A person belongs to a department and lives in a city, a city has a currency, a shop sells one kind of thing at its usual price
//! and hours. Amounts are in euros, whatever was paid in. Nothing happens on weekends. Four rows of a business trip are unusual and in order. The planted rows break one rule
//! each, see [`Oddity`]. Nothing here knows how rows are scored.

use std::fmt::Write as _;

use diad::table::date_of;

/// Ordinary rows.
const ROWS: usize = 2400;
/// Rows of the business trip.
const TRIP: usize = 4;
/// Planted rows of each kind of slip, and purchases at night.
const SLIPS: usize = 2;
const NIGHTS: usize = 8;
/// Days from the start of 1970 to 1 January 2024, a Monday, and how many weeks there are rows of.
const START: i64 = 19_723;
const WEEKS: usize = 26;

const PEOPLE: [(&str, &str, &str); 20] = [
    ("Anna Weber", "Sales", "Berlin"),
    ("Ben Carter", "Sales", "London"),
    ("Chloé Martin", "Sales", "Paris"),
    ("David Frei", "Sales", "Zurich"),
    ("Emily Clark", "Sales", "New York"),
    ("Farid Haddad", "Sales", "Paris"),
    ("Grace Hill", "Sales", "London"),
    ("Hanna Vogel", "Engineering", "Berlin"),
    ("Ivan Petrov", "Engineering", "Berlin"),
    ("Julia Meier", "Engineering", "Zurich"),
    ("Kofi Mensah", "Engineering", "London"),
    ("Lena Schulz", "Engineering", "Berlin"),
    ("Marc Dubois", "Engineering", "Paris"),
    ("Nora Keller", "Marketing", "Zurich"),
    ("Oscar Reed", "Marketing", "New York"),
    ("Paula Lang", "Marketing", "Berlin"),
    ("Quinn Baker", "Marketing", "London"),
    ("Rosa Blanc", "Finance", "Paris"),
    ("Stefan Huber", "Finance", "Zurich"),
    ("Tara Young", "Finance", "New York"),
];
const CITIES: [(&str, &str); 5] =
    [("Berlin", "EUR"), ("Paris", "EUR"), ("Zurich", "CHF"), ("London", "GBP"), ("New York", "USD")];

/// A shop: its name, what it sells, its usual price, its hours and how frequent it is.
struct Shop {
    name: &'static str,
    category: &'static str,
    usual: f64,
    hours: [usize; 2],
    weight: usize,
}

const fn shop(
    name: &'static str,
    category: &'static str,
    usual: f64,
    hours: [usize; 2],
    weight: usize,
) -> Shop {
    Shop { name, category, usual, hours, weight }
}

const SHOPS: [Shop; 10] = [
    shop("Corner Café", "meals", 8.5, [7, 11], 20),
    shop("Noodle House", "meals", 17.0, [11, 14], 18),
    shop("Trattoria Roma", "meals", 42.0, [18, 22], 12),
    shop("City Taxi", "travel", 24.0, [6, 22], 18),
    shop("Railways", "travel", 68.0, [6, 19], 10),
    shop("Sky Airlines", "travel", 340.0, [7, 19], 4),
    shop("Hotel Astoria", "lodging", 165.0, [17, 21], 7),
    shop("Paper & Pen", "office", 21.0, [9, 17], 8),
    shop("CloudHost", "software", 49.0, [9, 11], 6),
    shop("Book Corner", "training", 36.0, [10, 18], 5),
];

/// What is odd about a planted row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    Decimal,
    Currency,
    Category,
    Price,
    Year,
    Weekend,
    Night,
}

const ODDITIES: [Oddity; 7] = [
    Oddity::Decimal,
    Oddity::Currency,
    Oddity::Category,
    Oddity::Price,
    Oddity::Year,
    Oddity::Weekend,
    Oddity::Night,
];

impl Oddity {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Decimal => "amount 100 times as large: a decimal point slipped",
            Self::Currency => "currency of another country",
            Self::Category => "category that the shop does not sell",
            Self::Price => "a café, at the price of a flight",
            Self::Year => "a year mistyped",
            Self::Weekend => "dated on a Sunday",
            Self::Night => "bought between two and four in the morning",
        }
    }

    /// Whether it was bought at night. The others are slips of the pen.
    pub fn is_at_night(self) -> bool {
        self == Self::Night
    }

    fn plant(self, random: &mut Random) -> Row {
        let mut row = Row::ordinary(random);
        match self {
            Self::Decimal => row.amount *= 100.0,
            Self::Currency => {
                let others: Vec<&str> =
                    CITIES.iter().map(|city| city.1).filter(|&currency| currency != row.currency).collect();
                row.currency = others[random.below(others.len())];
            }
            Self::Category => {
                let others: Vec<&str> =
                    SHOPS.iter().map(|shop| shop.category).filter(|&kind| kind != row.category).collect();
                row.category = others[random.below(others.len())];
            }
            Self::Price => {
                row = Row::at(&SHOPS[0], random);
                row.amount = price(340.0, random);
            }
            // A 2 typed as a 4 or as a 1: 2044 or 2014.
            Self::Year => row.day += [7305, -3652][random.below(2)],
            Self::Weekend => row.day += 6 - (row.day - START).rem_euclid(7),
            Self::Night => row.minute = 120 + random.below(120),
        }
        row
    }
}

/// One expense.
#[derive(Debug, Clone)]
struct Row {
    day: i64,
    minute: usize,
    person: usize,
    city: &'static str,
    currency: &'static str,
    shop: &'static str,
    category: &'static str,
    amount: f64,
    paid_by: &'static str,
}

impl Row {
    fn ordinary(random: &mut Random) -> Self {
        let mut place = random.below(SHOPS.iter().map(|shop| shop.weight).sum());
        let shop = SHOPS.iter().find(|shop| {
            let here = place < shop.weight;
            place = place.wrapping_sub(shop.weight);
            here
        });
        Self::at(shop.unwrap_or(&SHOPS[0]), random)
    }

    fn at(shop: &Shop, random: &mut Random) -> Self {
        let person = random.below(PEOPLE.len());
        // One in three is bought where the person does not live, or happens to.
        let home = CITIES.iter().position(|city| city.0 == PEOPLE[person].2).unwrap_or(0);
        let city = if random.below(3) == 0 { random.below(CITIES.len()) } else { home };
        let [from, to] = shop.hours;
        Self {
            day: START + (7 * random.below(WEEKS) + random.below(5)) as i64,
            minute: 60 * from + random.below(60 * (to - from)),
            person,
            city: CITIES[city].0,
            currency: CITIES[city].1,
            shop: shop.name,
            category: shop.category,
            amount: price(shop.usual, random),
            paid_by: if random.below(4) == 0 { "own card" } else { "company card" },
        }
    }

    /// A row of the business trip: two people in Tokyo for a week in May.
    fn of_trip(place: usize, random: &mut Random) -> Self {
        let shop = [2, 3, 1, 6, 2][place % 5];
        let mut row = Self::at(&SHOPS[shop], random);
        (row.city, row.currency) = ("Tokyo", "JPY");
        row.person = [0, 7][place % 2];
        row.day = START + 7 * 19 + (place / 2) as i64;
        row
    }

    fn line(&self, text: &mut String, id: usize) {
        let (name, department, _) = PEOPLE[self.person];
        let (year, month, day) = date_of(self.day);
        let (hour, minute) = (self.minute / 60, self.minute % 60);
        // A string takes whatever is written to it.
        let _ = writeln!(
            text,
            "{},{year}-{month:02}-{day:02} {hour:02}:{minute:02},{name},{department},{},{},{},{},{:.2},{}",
            name_of(id),
            self.city,
            self.shop,
            self.category,
            self.currency,
            self.amount,
            self.paid_by
        );
    }
}

/// The column that identifies rows.
pub const ID: &str = "id";
const HEADER: &str = "id,date,employee,department,city,shop,category,currency,amount,paid_by\n";

/// What row `row` is called.
pub fn name_of(row: usize) -> String {
    format!("E-{}", 10_001 + row)
}

/// The table, and which rows are planted.
pub struct Expenses {
    /// As a CSV file.
    pub csv: String,
    /// Planted rows, ascending, with what is odd about them.
    pub planted: Vec<(usize, Oddity)>,
}

impl Expenses {
    /// The same table every time.
    pub fn make() -> Self {
        let mut random = Random(20_240_101);
        let mut rows: Vec<(Row, Option<Oddity>)> =
            (0..ROWS).map(|_| (Row::ordinary(&mut random), None)).collect();
        rows.extend((0..TRIP).map(|place| (Row::of_trip(place, &mut random), None)));
        for oddity in ODDITIES {
            let count = if oddity.is_at_night() { NIGHTS } else { SLIPS };
            rows.extend((0..count).map(|_| (oddity.plant(&mut random), Some(oddity))));
        }
        for last in (1..rows.len()).rev() {
            rows.swap(last, random.below(last + 1));
        }
        let mut csv = HEADER.to_owned();
        rows.iter().enumerate().for_each(|(id, (row, _))| row.line(&mut csv, id));
        let planted = rows.iter().enumerate().filter_map(|(row, (_, oddity))| Some((row, (*oddity)?)));
        Self { csv, planted: planted.collect() }
    }

    /// What is odd about a row, if it is planted.
    pub fn oddity(&self, row: usize) -> Option<Oddity> {
        let place = self.planted.binary_search_by_key(&row, |planted| planted.0).ok()?;
        Some(self.planted[place].1)
    }
}

/// A price about the usual one, from a third to twice of it, more often below. Sums and products alone: the same on every machine.
fn price(usual: f64, random: &mut Random) -> f64 {
    let around = 0.6 + 0.4 * (random.unit() + random.unit());
    usual * around * around
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_rows_break_the_rule_they_say_and_others_none() {
        let made = Expenses::make();
        assert_eq!(made.planted.len(), 6 * SLIPS + NIGHTS);
        let lines: Vec<Vec<&str>> = made.csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!(lines.len(), ROWS + TRIP + made.planted.len());
        for (row, cells) in lines.iter().enumerate() {
            let [_, date, employee, department, city, shop, category, currency, amount, _] = cells[..] else {
                panic!("ten cells: {cells:?}")
            };
            let sells = SHOPS.iter().find(|known| known.name == shop).expect("a known shop");
            let person = PEOPLE.iter().find(|known| known.0 == employee).expect("a known person");
            let share = amount.parse::<f64>().unwrap() / sells.usual;
            let (year, hour) = (&date[..4], date[11..13].parse::<usize>().unwrap());
            let dear = if made.oddity(row) == Some(Oddity::Price) { Oddity::Price } else { Oddity::Decimal };
            let broken = [
                (share > 2.0, dear),
                (city != "Tokyo" && !CITIES.contains(&(city, currency)), Oddity::Currency),
                (category != sells.category, Oddity::Category),
                ((2..4).contains(&hour), Oddity::Night),
                (year != "2024", Oddity::Year),
            ];
            let found: Vec<Oddity> = broken.iter().filter(|rule| rule.0).map(|rule| rule.1).collect();
            let expected: Vec<Oddity> =
                made.oddity(row).into_iter().filter(|&oddity| oddity != Oddity::Weekend).collect();
            assert_eq!(found, expected, "{cells:?}");
            assert_eq!(person.1, department);
        }
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(
            [0, START, START + 59, 29_220].map(date_of),
            [(1970, 1, 1), (2024, 1, 1), (2024, 2, 29), (2050, 1, 1)]
        );
    }
}
