//! Bytes that are read ahead. A buffer is filled again and again: fresh memory, and setting it to
//! zero, would cost more than what is read into it.

use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes are asked for at a time.
const READ_BYTES: usize = 256 << 10;

/// Some bytes, and room that holds whatever was there before.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    room: Vec<u8>,
    len: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.room.get(..self.len).unwrap_or_default()
    }
}

impl Buffer {
    /// Makes room for `len` bytes; what is new of it is zero.
    fn make_room(&mut self, len: usize) {
        if self.room.len() < len {
            self.room.resize(len, 0);
        }
    }

    /// Reads until there are `len` bytes. Returns whether the source has more; what was read before
    /// an error stays.
    pub(super) fn fill(&mut self, source: &mut impl Read, len: usize) -> io::Result<bool> {
        while self.len < len {
            let end = len.min(self.len + READ_BYTES);
            self.make_room(end);
            match source.read(self.room.get_mut(self.len..end).unwrap_or_default()) {
                Ok(0) => return Ok(false),
                Ok(got) => self.len += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Moves what is behind the first `at` bytes to `rest`, which is empty.
    pub(super) fn split_to(&mut self, at: usize, rest: &mut Self) {
        let moved = self.get(at..).unwrap_or_default();
        rest.make_room(moved.len());
        if let Some(room) = rest.room.get_mut(..moved.len()) {
            room.copy_from_slice(moved);
            rest.len = moved.len();
        }
        self.len = self.len.min(at);
    }

    /// Forgets the first `count` bytes.
    pub(super) fn forget(&mut self, count: usize) {
        self.room.copy_within(count.min(self.len)..self.len, 0);
        self.len = self.len.saturating_sub(count);
    }

    /// Gives back room beyond `len` bytes.
    pub(super) fn shrink_to(&mut self, len: usize) {
        self.room.truncate(len.max(self.len));
        self.room.shrink_to_fit();
    }
}

/// Buffers that are to be filled again.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare(Arc<Mutex<Vec<Buffer>>>);

impl Spare {
    /// A buffer with nothing in it.
    pub(super) fn take(&self) -> Buffer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps a buffer, unless it has more room than `most` bytes.
    pub(super) fn give_back(&self, mut buffer: Buffer, most: usize) {
        if buffer.room.len() <= most {
            buffer.len = 0;
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}
