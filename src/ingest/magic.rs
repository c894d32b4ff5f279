//! Files that are known by their first bytes, and are not read as they are.

use super::refusal::Refusal;

/// Where the bytes of a tar archive stand that tell it.
const TAR_AT: usize = 257;

/// Why a stream that starts so, once decompressed, is not read; `None` where nothing tells.
pub(crate) fn refusal(start: &[u8]) -> Option<Refusal> {
    let unpack = |name, command| Some(Refusal::Packed { name, command });
    match start {
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => unpack("bzip2", "bzip2 -dc FILE | dwindle ... -"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => unpack("xz", "xz -dc FILE | dwindle ... -"),
        [0x04, 0x22, 0x4d, 0x18, ..] => unpack("LZ4", "lz4 -dc FILE | dwindle ... -"),
        [0xff, 6, 0, 0, b's', b'N', b'a', b'P', b'p', b'Y', ..] => {
            unpack("framed Snappy", "snzip -dc FILE | dwindle ... -")
        }
        [0x1f, 0x8b, 8, ..] => unpack("gzip within compressed data", "gzip -d FILE"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack("zstd within compressed data", "zstd -d FILE"),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => {
            unpack("a zip archive", "unzip FILE -d FOLDER")
        }
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => unpack("a 7z archive", "7z x FILE"),
        _ if start.get(TAR_AT..).is_some_and(is_tar) => unpack("a tar archive", "tar -xf FILE"),
        // The first two bytes could be a length; with the zero behind them they cannot.
        [0xff, 0xfe, _, 0, ..] | [0xfe, 0xff, 0, ..] | [b'{' | b'[', 0, ..] => Some(Refusal::Utf16),
        _ => None,
    }
}

fn is_tar(rest: &[u8]) -> bool {
    rest.starts_with(b"ustar\0") || rest.starts_with(b"ustar  \0")
}
