//! The headers of Parquet files, looked at before the library does: values in Thrift's compact
//! protocol. The library takes a field for what it should be, whatever its type says, and passes
//! over lists by their count alone; a few damaged bytes would keep it busy for hours.

/// What a field of a header has to be.
#[derive(Debug)]
pub(super) enum Shape {
    /// True or false, which the type tells.
    Bool,
    /// One byte.
    Byte,
    /// An integer of 16, 32 or 64 bits.
    Integer,
    /// Text or bytes.
    Binary,
    /// A struct.
    Struct(Fields),
    /// A list.
    List(&'static Self),
}

/// The known fields of a struct, by number. Others may be anything but lists and maps.
pub(super) type Fields = &'static [(i64, Shape)];

use Shape::{Binary, Bool, Byte, Integer, List, Struct};

/// Structs within one another; headers need six.
const MAX_DEPTH: usize = 12;

const EMPTY: Fields = &[];
const UNIT: Fields = &[(1, Struct(EMPTY)), (2, Struct(EMPTY)), (3, Struct(EMPTY))];
const TIME: Fields = &[(1, Bool), (2, Struct(UNIT))];
/// What a column means: a union, of which most members are empty.
const LOGICAL: Fields = &[
    (5, Struct(&[(1, Integer), (2, Integer)])),
    (7, Struct(TIME)),
    (8, Struct(TIME)),
    (10, Struct(&[(1, Byte), (2, Bool)])),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, Integer)])),
];
const COLUMN: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Binary),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, Integer),
    (9, Integer),
    (10, Struct(LOGICAL)),
];
const PAIR: Fields = &[(1, Binary), (2, Binary)];
const STATISTICS: Fields = &[
    (1, Binary),
    (2, Binary),
    (3, Integer),
    (4, Integer),
    (5, Binary),
    (6, Binary),
    (7, Bool),
    (8, Bool),
    (9, Integer),
];
const SIZES: Fields = &[(1, Integer), (2, List(&Integer)), (3, List(&Integer))];
const CHUNK_DATA: Fields = &[
    (1, Integer),
    (2, List(&Integer)),
    (3, List(&Binary)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, List(&Struct(PAIR))),
    (9, Integer),
    (10, Integer),
    (11, Integer),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, Integer), (2, Integer), (3, Integer)]))),
    (14, Integer),
    (15, Integer),
    (16, Struct(SIZES)),
];
const CHUNK: Fields = &[
    (1, Binary),
    (2, Integer),
    (3, Struct(CHUNK_DATA)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
];
const GROUP: Fields = &[
    (1, List(&Struct(CHUNK))),
    (2, Integer),
    (3, Integer),
    (4, List(&Struct(&[(1, Integer), (2, Bool), (3, Bool)]))),
    (5, Integer),
    (6, Integer),
    (7, Integer),
];
/// What stands at the end of a file.
const FILE: Fields = &[
    (1, Integer),
    (2, List(&Struct(COLUMN))),
    (3, Integer),
    (4, List(&Struct(GROUP))),
    (5, List(&Struct(PAIR))),
    (6, Binary),
    (7, List(&Struct(&[(1, Struct(EMPTY))]))),
    (9, Binary),
];
/// What stands before a page.
pub(super) const PAGE: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Struct(&[(1, Integer), (2, Integer), (3, Integer), (4, Integer), (5, Struct(STATISTICS))])),
    (6, Struct(EMPTY)),
    (7, Struct(&[(1, Integer), (2, Integer), (3, Bool)])),
    (
        8,
        Struct(&[
            (1, Integer),
            (2, Integer),
            (3, Integer),
            (4, Integer),
            (5, Integer),
            (6, Integer),
            (7, Bool),
            (8, Struct(STATISTICS)),
        ]),
    ),
];

/// Whether the end of a Parquet file is made as it should be.
pub(super) fn is_sound_at_end(file: &[u8]) -> bool {
    let end = file.split_last_chunk::<8>().and_then(|(before, end)| {
        let (len, _) = end.split_first_chunk::<4>()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        before.get(before.len().checked_sub(len)?..)
    });
    end.is_some_and(|end| Thrift { bytes: end, at: 0 }.check(FILE, 0).is_some())
}

/// The values of a struct, one after another.
pub(super) struct Thrift<'a> {
    /// What is read.
    pub bytes: &'a [u8],
    /// How much of it was.
    pub at: usize,
}

impl Thrift<'_> {
    /// Goes past a struct, if it is made so.
    pub(super) fn check(&mut self, fields: Fields, depth: usize) -> Option<()> {
        let mut id = 0;
        loop {
            let field = self.byte()?;
            let kind = field & 0xf;
            if kind == 0 {
                return Some(());
            }
            id = match field >> 4 {
                0 => self.integer()?,
                step => i64::from(step).checked_add(id)?,
            };
            let known = fields.iter().find(|(known, _)| *known == id);
            self.check_value(kind, known.map(|(_, shape)| shape), depth)?;
        }
    }

    fn check_value(&mut self, kind: u8, shape: Option<&Shape>, depth: usize) -> Option<()> {
        match (kind, shape) {
            (1 | 2, Some(Bool) | None) => Some(()),
            (3, Some(Byte) | None) => self.skip(1),
            (4..=6, Some(Integer) | None) => self.integer().map(drop),
            (7, None) => self.skip(8),
            (8, Some(Binary) | None) => {
                let len = self.varint()?;
                self.skip(usize::try_from(len).ok()?)
            }
            (9, Some(List(element))) => self.check_list(element, depth),
            (12, Some(Struct(fields))) if depth < MAX_DEPTH => self.check(fields, depth + 1),
            (12, None) if depth < MAX_DEPTH => self.check(EMPTY, depth + 1),
            (13, None) => self.skip(16),
            _ => None,
        }
    }

    /// Every element takes a byte or more, so that a count that lies ends with the bytes.
    fn check_list(&mut self, element: &Shape, depth: usize) -> Option<()> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        (0..count).try_for_each(|_| self.check_value(head & 0xf, Some(element), depth))
    }

    /// The byte that comes next.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// Goes past `len` bytes.
    pub(super) fn skip(&mut self, len: usize) -> Option<()> {
        self.at = self.at.checked_add(len).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    /// A number of as many bytes as it takes.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed integer, of which the sign is the last bit.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}
