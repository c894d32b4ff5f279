//! `--memory`: how much a run may take, and what that is where nobody says.

use std::env;

use bytesize::ByteSize;
use clap::Args;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::ingest::Memory;

/// Of what the machine has, this part is taken where nobody says otherwise.
const DEFAULT_PART: u64 = 4;

/// What is taken of a machine that does not say what it has.
const UNTOLD_BYTES: u64 = 1 << 30;

/// How much memory.
#[derive(Debug, Args)]
pub(super) struct MemoryFlag {
    /// How much memory to use, such as 4GiB [default: a quarter of the machine's, or of its
    /// container's]. Spans beyond it go to a file without a name in the temporary directory (TMPDIR,
    /// which must not itself lie in memory), about 80 bytes each; the results are the same to the byte
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<ByteSize>,
}

/// A size with its unit: nobody means 4 bytes by 4.
fn size(text: &str) -> Result<ByteSize, String> {
    if text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("a size has a unit, as in 4GiB or 512MiB".to_owned());
    }
    text.parse()
}

impl MemoryFlag {
    /// How much, and where the rest goes.
    pub(super) fn memory(&self) -> Memory {
        let bytes = self.memory.map_or_else(default_bytes, |size| size.as_u64());
        Memory { bytes, folder: env::temp_dir() }
    }

    /// The flag, if it was given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        self.memory.map(|_| "--memory")
    }
}

fn default_bytes() -> u64 {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(memory) else { return UNTOLD_BYTES };
    let of_container = system.cgroup_limits().map(|limits| limits.total_memory);
    let bytes = of_container.unwrap_or(u64::MAX).min(system.total_memory());
    if bytes == 0 { UNTOLD_BYTES } else { bytes / DEFAULT_PART }
}
