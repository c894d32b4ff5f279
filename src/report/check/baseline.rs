//! What an earlier check found, as `--format json` wrote it.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::SCHEMA_VERSION;
use crate::finding_id::FindingId;

/// The findings of an earlier check.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    schema_version: u32,
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    id: FindingId,
}

impl Baseline {
    /// The ids of its findings.
    ///
    /// # Errors
    /// It is not what `check --format json` writes.
    pub fn parse(text: &str) -> Result<BTreeSet<FindingId>, String> {
        let expected = "expected what `dwindle check --format json` wrote";
        let baseline: Self =
            serde_json::from_str(text).map_err(|error| format!("{expected}: {error}"))?;
        if baseline.schema_version != SCHEMA_VERSION {
            let version = baseline.schema_version;
            return Err(format!(
                "schema_version is {version}, this dwindle reads {SCHEMA_VERSION}: write it again"
            ));
        }
        Ok(baseline.findings.into_iter().map(|finding| finding.id).collect())
    }
}
