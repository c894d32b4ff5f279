//! Compressed streams: how they are told, and what comes out of them within limits.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use serde::{Deserialize, Serialize};
use zstd::stream::read::Decoder as ZstdDecoder;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;

use super::limits::{FREE_FRAME_BYTES, Limits};
use super::problems::Code;

/// How a stream was compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compression {
    /// Not at all.
    None,
    /// Gzip, perhaps of several members.
    Gzip,
    /// Zstandard, perhaps of several frames.
    Zstd,
}

impl Compression {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// What the first bytes of a stream say. Zstandard may begin with a frame to be skipped.
    pub(crate) const fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// What comes out of `packed`, of which `free_bytes` may expand at any ratio.
    pub(crate) fn unpacked<'s>(
        self,
        packed: impl Read + Send + 's,
        limits: Limits,
        free_bytes: u64,
    ) -> io::Result<Box<dyn Read + Send + 's>> {
        let tally = |inner| BufReader::with_capacity(PACKED_BYTES, Tally { inner, len: 0 });
        let decoder = match self {
            Self::None => return Ok(Box::new(packed)),
            Self::Gzip => {
                Decoder::Gzip(Box::new(Gzip { member: Some(GzDecoder::new(tally(packed))) }))
            }
            Self::Zstd => Decoder::Zstd(ZstdDecoder::with_buffer(tally(packed))?),
        };
        Ok(Box::new(Unpacked { decoder, len: 0, limits, free_bytes }))
    }
}

/// Decompresses one record; where that breaks or goes beyond the limits, says how.
pub(crate) fn unpack(bytes: &[u8], limits: Limits) -> (Vec<u8>, Option<Code>) {
    let mut unpacked = Vec::new();
    let one_more = (limits.record_bytes as u64).saturating_add(1);
    let outcome = Compression::of(bytes)
        .unpacked(bytes, limits, FREE_FRAME_BYTES)
        .and_then(|decoder| decoder.take(one_more).read_to_end(&mut unpacked));
    let trouble = match outcome.map_err(Fault::code) {
        Ok(len) if limits.record_bytes < len => Some(Code::RecordTooLarge),
        Ok(_) => None,
        Err(Ok(code @ (Code::ExpansionTooLarge | Code::WindowTooLarge))) => Some(code),
        Err(_) => Some(Code::FrameDamaged),
    };
    (unpacked, trouble)
}

/// Why nothing more comes out of a compressed stream, among the errors of reading.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message())]
pub(crate) struct Fault(Code);

impl Fault {
    /// What is wrong with the compression, or the error that has nothing to do with it.
    pub(crate) fn code(error: io::Error) -> Result<Code, io::Error> {
        error.downcast::<Self>().map(|fault| fault.0)
    }

    /// What `error` means where it came from a decompressor. Errors of the system stay as they are.
    fn from_decoder(error: io::Error) -> io::Error {
        // The library tells the name of an error, not its number.
        let said = error.get_ref().map(ToString::to_string);
        let is_zstd = |kind: ZSTD_ErrorCode| {
            let name = zstd::zstd_safe::get_error_name((kind as usize).wrapping_neg());
            said.as_deref() == Some(name)
        };
        let code = match error.kind() {
            _ if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Self>) => {
                return error;
            }
            _ if is_zstd(ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) => {
                Code::WindowTooLarge
            }
            _ if is_zstd(ZSTD_ErrorCode::ZSTD_error_prefix_unknown) => Code::BytesBehind,
            io::ErrorKind::UnexpectedEof => Code::CompressionCutOff,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other
                if error.raw_os_error().is_none() =>
            {
                Code::CompressionDamaged
            }
            _ => return error,
        };
        Self(code).into()
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::other(fault)
    }
}

/// How many compressed bytes are read at a time.
const PACKED_BYTES: usize = 1 << 17;

/// A stream that knows how many bytes went through.
struct Tally<R> {
    inner: R,
    len: u64,
}

impl<R: Read> Read for Tally<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.len += len as u64;
        Ok(len)
    }
}

type Packed<R> = BufReader<Tally<R>>;

enum Decoder<R: Read> {
    Gzip(Box<Gzip<Packed<R>>>),
    Zstd(ZstdDecoder<'static, Packed<R>>),
}

/// What comes out of a compressed stream, up to where it is more than any honest one holds.
struct Unpacked<R: Read> {
    decoder: Decoder<R>,
    /// How much came out.
    len: u64,
    limits: Limits,
    free_bytes: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let outcome = match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.read(buffer),
            Decoder::Zstd(zstd) => zstd.read(buffer),
        };
        let len = outcome.map_err(Fault::from_decoder)?;
        self.len += len as u64;
        let packed = match &self.decoder {
            Decoder::Gzip(gzip) => gzip.member.as_ref().map(GzDecoder::get_ref),
            Decoder::Zstd(zstd) => Some(zstd.get_ref()),
        };
        // Behind the last member nothing comes out.
        let packed_len = packed.map_or(u64::MAX, |packed| packed.get_ref().len);
        if self.limits.unpacked_bytes(packed_len, self.free_bytes) < self.len {
            return Err(Fault(Code::ExpansionTooLarge).into());
        }
        Ok(len)
    }
}

/// The members of a gzip stream. Zeros behind one are padding, as for GNU gzip; anything else that
/// is no member is not read, and told.
struct Gzip<R> {
    /// The current one; `None` behind the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gzip<R> {
    fn next_member(&mut self) -> io::Result<()> {
        let Some(mut packed) = self.member.take().map(GzDecoder::into_inner) else { return Ok(()) };
        loop {
            let behind = packed.fill_buf()?;
            let zeros = behind.iter().take_while(|&&byte| byte == 0).count();
            match behind.get(zeros) {
                None if behind.is_empty() => return Ok(()),
                None => packed.consume(zeros),
                Some(0x1f) => break packed.consume(zeros),
                Some(_) => return Err(Fault(Code::BytesBehind).into()),
            }
        }
        self.member = Some(GzDecoder::new(packed));
        Ok(())
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let len = member.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            self.next_member()?;
        }
        Ok(0)
    }
}
