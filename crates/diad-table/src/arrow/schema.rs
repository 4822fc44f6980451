//! The columns of an Arrow file and what they are made of.

use super::flat::Flat;

/// How deep columns may be nested.
const DEEPEST: usize = 32;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Null,
    Int {
        bytes: usize,
        signed: bool,
    },
    Float {
        bytes: usize,
    },
    Bool,
    /// Bytes of a value, and what it is divided by.
    Decimal {
        bytes: usize,
        unit: f64,
    },
    /// Bytes of a value, and how many units are a second.
    Time {
        bytes: usize,
        unit: f64,
    },
    /// Whether offsets have eight bytes.
    Text {
        large: bool,
    },
    TextView,
    /// Something that is not read, in words.
    Other(&'static str),
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The number of its dictionary and the kind of its indices.
    pub(super) dictionary: Option<(i64, Kind)>,
    /// What it takes of a batch, with all that is nested in it.
    pub(super) taken: Taken,
}

/// How many entries a column has in the lists of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) nodes: usize,
    pub(super) buffers: usize,
    /// How many of its parts have a number of buffers that the batch says.
    pub(super) views: usize,
}

impl Taken {
    pub(super) fn add(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            buffers: self.buffers + other.buffers,
            views: self.views + other.views,
        }
    }
}

/// The columns of a schema; an error in words if it cannot be read.
pub(super) fn fields(schema: Flat<'_>) -> Result<Vec<Field>, &'static str> {
    const SENSELESS: &str = "its schema makes no sense";
    if schema.short(0, 0) != 0 {
        return Err("its numbers have the most significant byte first");
    }
    let items = schema.items(1, 4).ok_or(SENSELESS)?;
    (0..items.len()).map(|i| items.table(i).and_then(|item| field(item, 0)).ok_or(SENSELESS)).collect()
}

fn field(flat: Flat<'_>, depth: usize) -> Option<Field> {
    if depth > DEEPEST {
        return None;
    }
    let (tag, kind) = (flat.byte(2, 0), flat.table(3)?);
    let children = flat.items(5, 4)?;
    let nested = (0..children.len())
        .map(|i| field(children.table(i)?, depth + 1).map(|child| child.taken))
        .collect::<Option<Vec<Taken>>>()?;
    let nested = nested.into_iter().fold(Taken::default(), Taken::add);
    let (kind, buffers, views) = kind_of(tag, kind);
    let dictionary = match flat.table(4) {
        None => None,
        Some(encoding) => Some((encoding.long(0), index_kind(encoding.table(1))?)),
    };
    let own = match dictionary {
        Some(_) => Taken { nodes: 1, buffers: 2, views: 0 },
        None => Taken { nodes: 1, buffers, views }.add(nested),
    };
    Some(Field { name: flat.text(0).unwrap_or_default().to_owned(), kind, dictionary, taken: own })
}

fn index_kind(int: Option<Flat<'_>>) -> Option<Kind> {
    let kind = int.map_or(Kind::Int { bytes: 4, signed: true }, |int| int_kind(&int));
    matches!(kind, Kind::Int { .. }).then_some(kind)
}

fn int_kind(int: &Flat<'_>) -> Kind {
    match int.int(0, 0) {
        bits @ (8 | 16 | 32 | 64) => Kind::Int { bytes: bits as usize / 8, signed: int.byte(1, 0) != 0 },
        _ => Kind::Other("number of an odd size"),
    }
}

/// What a type is, how many buffers it has, and how many of its parts are views.
fn kind_of(tag: u8, flat: Flat<'_>) -> (Kind, usize, usize) {
    let second = |unit: i16| [1.0, 1e3, 1e6, 1e9].get(unit as usize).copied();
    match tag {
        1 => (Kind::Null, 0, 0),
        2 => (int_kind(&flat), 2, 0),
        3 => {
            let bytes = [2, 4, 8].get(flat.short(0, 0) as usize).copied();
            (bytes.map_or(Kind::Other("number of an odd size"), |bytes| Kind::Float { bytes }), 2, 0)
        }
        4 | 19 => (Kind::Other("binary"), 3, 0),
        5 => (Kind::Text { large: false }, 3, 0),
        6 => (Kind::Bool, 2, 0),
        7 => {
            let (scale, bits) = (flat.int(1, 0), flat.int(2, 128));
            let unit = 10f64.powi(scale);
            let kind = match bits {
                32 | 64 | 128 if unit.is_normal() => Kind::Decimal { bytes: bits as usize / 8, unit },
                _ => Kind::Other("decimal number of more than 38 digits"),
            };
            (kind, 2, 0)
        }
        8 if flat.short(0, 1) == 0 => (Kind::Time { bytes: 4, unit: 1.0 / 86_400.0 }, 2, 0),
        8 => (Kind::Time { bytes: 8, unit: 1e3 }, 2, 0),
        10 => {
            let unit = second(flat.short(0, 0));
            (unit.map_or(Kind::Other("timestamp"), |unit| Kind::Time { bytes: 8, unit }), 2, 0)
        }
        // A time of a day.
        9 => {
            let (unit, bits) = (second(flat.short(0, 1)), flat.int(1, 32));
            let time = unit
                .filter(|_| matches!(bits, 32 | 64))
                .map(|unit| Kind::Time { bytes: bits as usize / 8, unit });
            (time.unwrap_or(Kind::Other("time")), 2, 0)
        }
        11 | 18 => (Kind::Other("interval"), 2, 0),
        12 | 17 | 21 => (Kind::Other("list"), 2, 0),
        13 => (Kind::Other("struct"), 1, 0),
        14 => (Kind::Other("union"), 1 + usize::from(flat.short(0, 0) == 1), 0),
        15 => (Kind::Other("binary"), 2, 0),
        16 => (Kind::Other("list"), 1, 0),
        20 => (Kind::Text { large: true }, 3, 0),
        22 => (Kind::Other("run-end encoded"), 0, 0),
        23 => (Kind::Other("binary"), 2, 1),
        24 => (Kind::TextView, 2, 1),
        25 | 26 => (Kind::Other("list"), 3, 0),
        _ => (Kind::Other("unknown"), 2, 0),
    }
}
