//! What contracts know of calls beyond what their spans declare (docs/inference.md).

use dwindle::contract::CallTerms;
use dwindle::span::Kind;

use super::Trace;

impl<'a> Trace<'a> {
    /// Gives attempts that declare nothing what is known of such calls.
    pub(super) fn apply_terms(&mut self) {
        for span in self.ids() {
            let granted = |&span: &usize| self.nodes[span].span.grant.is_some();
            let declared = granted(&span) || self.nodes[span].servers.iter().any(granted);
            let timed = self.term(span, |terms| terms.timeout.is_some()).filter(|_| !declared);
            self.nodes[span].timed = timed;
            if let Some(timeout) = timed.and_then(|terms| terms.timeout) {
                self.nodes[span].grant = Some(timeout.as_nanos());
            }
        }
    }

    /// The first table about attempt `span` that says something.
    pub(super) fn term(
        &self,
        span: usize,
        says: impl Fn(&CallTerms) -> bool,
    ) -> Option<&'a CallTerms> {
        let node = &self.nodes[span];
        let is_attempt = node.kind == Kind::Client
            && !node.is_wait
            && !node.is_call_span
            && !node.attached
            && node.up.is_some();
        if !is_attempt {
            return None;
        }
        let servers = self.in_order(node.servers.clone());
        let servers = servers.iter().map(|&server| self.nodes[server].service);
        let callee = servers.into_iter().find(|service| !service.is_empty());
        let callee = callee.or_else(|| node.span.peer_service.map(|peer| self.strings.get(peer)));
        let matching = self.policy.calls.all().iter().filter(|terms| {
            terms.caller.as_ref().is_none_or(|glob| glob.matches(node.service))
                && terms.operation.as_ref().is_none_or(|glob| glob.matches(node.name))
                && if let Some(callee) = callee {
                    terms.callee.as_ref().is_none_or(|glob| glob.matches(callee))
                } else {
                    let says = [&terms.caller, &terms.operation];
                    terms.callee.is_none() || says.iter().any(|glob| glob.is_some())
                }
        });
        let saying: Vec<&CallTerms> = matching.filter(|terms| says(terms)).collect();
        let first = *saying.first()?;
        let ambiguous = callee.is_none() && first.callee.is_some() && saying.len() > 1;
        (!ambiguous).then_some(first)
    }
}
