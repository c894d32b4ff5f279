//! How Parquet writes numbers: runs and packed bits for what repeats, differences for whole numbers
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

/// Values in a block of differences.
const BLOCK: usize = 128;

/// Those of a block that share a width.
const MINIBLOCK: usize = 32;

/// Values that are packed together between runs.
const GROUP: usize = 8;

/// How many bits the numbers up to `max` take.
pub(super) const fn bit_width(max: u64) -> u32 {
    u64::BITS - max.leading_zeros()
}

/// Appends runs of equal values and packed groups of others (`RLE`), each value `width` bits.
pub(super) fn write_runs<T>(values: &[T], width: u32, out: &mut Vec<u8>)
where
    T: Copy + PartialEq + Into<u32>,
{
    let (mut packed_from, mut at) = (0, 0);
    while let Some((&first, rest)) = values.get(at..).and_then(<[T]>::split_first) {
        let run = 1 + rest.iter().take_while(|&&value| value == first).count();
        if run < GROUP {
            at = values.len().min(at + GROUP);
            continue;
        }
        write_packed_groups(values.get(packed_from..at).unwrap_or_default(), width, out);
        write_varint((run as u64) << 1, out);
        let bytes = first.into().to_le_bytes();
        out.extend(bytes.iter().take(width.div_ceil(8) as usize));
        at += run;
        packed_from = at;
    }
    write_packed_groups(values.get(packed_from..).unwrap_or_default(), width, out);
}

fn write_packed_groups<T: Copy + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if !values.is_empty() {
        let groups = values.len().div_ceil(GROUP);
        write_varint((groups as u64) << 1 | 1, out);
        let padding = groups * GROUP - values.len();
        if width > 8 {
            let values = values.iter().map(|&value| u64::from(value.into()));
            write_packed(values.chain(std::iter::repeat_n(0, padding)), width, out);
            return;
        }
        // A group fills one word at most.
        for group in values.chunks(GROUP) {
            let pack = |word, &value: &T| word << width | u64::from(value.into());
            let bytes = group.iter().rev().fold(0_u64, pack).to_le_bytes();
            out.extend_from_slice(bytes.get(..width as usize).unwrap_or_default());
        }
    }
}

/// Appends the low `width` bits of each value, the first value's lowest.
pub(super) fn write_packed(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let (mut word, mut filled) = (0, 0);
    for value in values {
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= u64::BITS;
            word = if filled == 0 { 0 } else { value >> (width - filled) };
        }
    }
    let bytes = word.to_le_bytes();
    out.extend(bytes.iter().take(filled.div_ceil(8) as usize));
}

/// A whole number that differences are taken of, at its own width.
pub(super) trait Whole: Copy + Ord {
    /// The difference, wrapping.
    fn less(self, other: Self) -> Self;
    /// As bits without a sign.
    fn bits(self) -> u64;
    /// As a number.
    fn number(self) -> i64;
}

impl Whole for i64 {
    fn less(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn bits(self) -> u64 {
        self.cast_unsigned()
    }

    fn number(self) -> i64 {
        self
    }
}

impl Whole for i32 {
    fn less(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn bits(self) -> u64 {
        u64::from(self.cast_unsigned())
    }

    fn number(self) -> i64 {
        i64::from(self)
    }
}

/// Appends the differences between neighbours (`DELTA_BINARY_PACKED`).
pub(super) fn write_differences<T: Whole>(values: &[T], out: &mut Vec<u8>) {
    let Some((&first, rest)) = values.split_first() else { return };
    write_varint(BLOCK as u64, out);
    write_varint((BLOCK / MINIBLOCK) as u64, out);
    write_varint(values.len() as u64, out);
    write_signed(first.number(), out);
    let mut differences = [first; BLOCK];
    for (befores, afters) in values.chunks(BLOCK).zip(rest.chunks(BLOCK)) {
        for ((difference, &before), &after) in differences.iter_mut().zip(befores).zip(afters) {
            *difference = after.less(before);
        }
        let differences = differences.get(..afters.len()).unwrap_or_default();
        let least = differences.iter().copied().min().unwrap_or(first);
        write_signed(least.number(), out);
        let widths_at = out.len();
        out.extend_from_slice(&[0; BLOCK / MINIBLOCK]);
        for (width_at, miniblock) in (widths_at..).zip(differences.chunks(MINIBLOCK)) {
            let above = |difference: &T| difference.less(least).bits();
            let width = bit_width(miniblock.iter().fold(0, |all, value| all | above(value)));
            if let (Some(place), Ok(width)) = (out.get_mut(width_at), u8::try_from(width)) {
                *place = width;
            }
            let padding = std::iter::repeat_n(0, MINIBLOCK - miniblock.len());
            write_packed(miniblock.iter().map(above).chain(padding), width, out);
        }
    }
}

/// Appends an unsigned number, seven bits a byte.
fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a number of which the sign is the last bit.
fn write_signed(value: i64, out: &mut Vec<u8>) {
    write_varint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}
