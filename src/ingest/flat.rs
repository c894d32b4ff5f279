//! A span in a row of its own, with its resource beside it.

use std::borrow::Cow;

use super::admit::{Desk, Draft};
use crate::conventions::raw::{Attribute, Value};

/// The resource attribute that names the service.
const SERVICE_NAME: &str = "service.name";

/// A span and its resource as a row tells them.
#[derive(Clone, Debug)]
pub(crate) struct FlatSpan<'a> {
    /// The span.
    pub draft: Draft<'a>,
    /// The service, where the row names it by itself.
    pub service: Cow<'a, str>,
    /// What else is known of the resource.
    pub resource: Vec<Attribute<'a>>,
}

impl FlatSpan<'_> {
    /// Nothing found yet.
    pub(crate) fn new() -> Self {
        Self { draft: Draft::new(), service: Cow::Borrowed(""), resource: Vec::new() }
    }

    /// Hands over the span of the row that begins at byte `offset` of the record.
    pub(crate) fn hand_over(mut self, desk: &mut Desk<'_>, offset: usize) {
        if !self.service.is_empty() {
            self.resource.retain(|(key, _)| key != SERVICE_NAME);
            self.resource.push((Cow::Borrowed(SERVICE_NAME), Value::Text(self.service)));
        }
        let resource = desk.resource(&self.resource);
        desk.take(&self.draft, resource, offset);
    }
}
