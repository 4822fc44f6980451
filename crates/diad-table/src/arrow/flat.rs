//! Flatbuffers, as far as Arrow's messages need them. Every place is checked: nothing outside the bytes is ever read.

/// A table: fields by number, each of which may be absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flat<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A vector of tables or structs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Items<'a> {
    bytes: &'a [u8],
    at: usize,
    count: usize,
}

impl<'a> Flat<'a> {
    /// The root table of a message.
    pub(super) fn root(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { bytes, at: follow(bytes, 0)? })
    }

    /// Where a field is; nothing if it is absent.
    fn field(&self, number: usize) -> Option<usize> {
        let distance = i32::from_le_bytes(array(self.bytes, self.at)?);
        let index = usize::try_from(i64::try_from(self.at).ok()? - i64::from(distance)).ok()?;
        let size = u16::from_le_bytes(array(self.bytes, index)?);
        let entry = 4 + 2 * number;
        if entry + 2 > usize::from(size) {
            return None;
        }
        let offset = u16::from_le_bytes(array(self.bytes, index + entry)?);
        (offset != 0).then_some(self.at + usize::from(offset))
    }

    pub(super) fn byte(&self, number: usize, default: u8) -> u8 {
        self.field(number).and_then(|at| self.bytes.get(at).copied()).unwrap_or(default)
    }

    pub(super) fn short(&self, number: usize, default: i16) -> i16 {
        self.field(number).and_then(|at| array(self.bytes, at)).map_or(default, i16::from_le_bytes)
    }

    pub(super) fn int(&self, number: usize, default: i32) -> i32 {
        self.field(number).and_then(|at| array(self.bytes, at)).map_or(default, i32::from_le_bytes)
    }

    pub(super) fn long(&self, number: usize) -> i64 {
        self.field(number).and_then(|at| array(self.bytes, at)).map_or(0, i64::from_le_bytes)
    }

    pub(super) fn table(&self, number: usize) -> Option<Self> {
        Some(Self { bytes: self.bytes, at: follow(self.bytes, self.field(number)?)? })
    }

    pub(super) fn text(&self, number: usize) -> Option<&'a str> {
        let at = follow(self.bytes, self.field(number)?)?;
        let length = u32::from_le_bytes(array(self.bytes, at)?) as usize;
        std::str::from_utf8(self.bytes.get(at + 4..(at + 4).checked_add(length)?)?).ok()
    }

    /// A vector whose items take `size` bytes each; empty if it is absent.
    pub(super) fn items(&self, number: usize, size: usize) -> Option<Items<'a>> {
        let Some(field) = self.field(number) else {
            return Some(Items { bytes: self.bytes, at: 0, count: 0 });
        };
        let at = follow(self.bytes, field)?;
        let count = u32::from_le_bytes(array(self.bytes, at)?) as usize;
        let end = (at + 4).checked_add(count.checked_mul(size)?)?;
        (end <= self.bytes.len()).then_some(Items { bytes: self.bytes, at: at + 4, count })
    }
}

impl<'a> Items<'a> {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The table that the item points to.
    pub(super) fn table(&self, index: usize) -> Option<Flat<'a>> {
        debug_assert!(index < self.count);
        Some(Flat { bytes: self.bytes, at: follow(self.bytes, self.at + 4 * index)? })
    }

    /// A number of an item of `width` numbers.
    pub(super) fn long(&self, index: usize, width: usize, place: usize) -> Option<i64> {
        if index >= self.count {
            return None;
        }
        array(self.bytes, self.at + 8 * (index * width + place)).map(i64::from_le_bytes)
    }
}

/// Where an offset leads to.
fn follow(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(u32::from_le_bytes(array(bytes, at)?) as usize)
}

/// Some bytes at a place.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
