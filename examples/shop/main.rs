//! Writes `fixtures/shop` and what belongs to it: `cargo run --example shop`.

mod fleet;

use std::fs;
use std::io;
use std::path::Path;

/// The strongest level that needs no long-distance window from its reader.
const ZSTD_LEVEL: i32 = 19;

fn main() -> io::Result<()> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let shop = fleet::generate(fleet::SEED);
    fs::create_dir_all(fixtures.join("shop"))?;
    for (name, lines) in &shop.traces {
        let compressed = zstd::encode_all(lines.as_bytes(), ZSTD_LEVEL)?;
        fs::write(fixtures.join("shop").join(name), compressed)?;
    }
    fs::write(fixtures.join("shop.planted.json"), &shop.planted)?;
    fs::write(fixtures.join("shop.README.md"), &shop.readme)
}
