//! The class of a request: what its contract says, else the names of its root.

use rustc_hash::FxHashMap;

use super::request::Request;
use crate::span::{Interner, Span, Sym};

/// The classes that were met, by what they are made of.
#[derive(Debug, Default)]
pub(super) struct Classes(FxHashMap<(Names, Option<Sym>), Sym>);

/// What the class of a request is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Names {
    /// What its contract calls it.
    Contract(Sym),
    /// Service and operation of its root.
    Root(Sym, Sym),
    /// The service that a call enters, what for, and from where.
    Entered(Sym, Sym, Option<Sym>),
}

impl Classes {
    /// The class of a request with this root.
    pub(super) fn of(&mut self, strings: &mut Interner, request: &Request<'_>, root: &Span) -> Sym {
        let contract = request.contract.and_then(|one| one.request_class.as_deref());
        let names = match (request.entered, contract) {
            (Some(entered), _) => {
                Names::Entered(entered.service, entered.operation, entered.caller)
            }
            (None, Some(class)) => Names::Contract(strings.intern(class)),
            (None, None) => {
                Names::Root(root.service, root.route_operation.unwrap_or(root.operation))
            }
        };
        *self.0.entry((names, root.split)).or_insert_with(|| {
            let class = names.class(strings);
            let class = match root.split {
                Some(split) => format!("{class} · {}", strings.get(split)),
                None => class,
            };
            strings.intern(&class)
        })
    }
}

impl Names {
    fn class(self, strings: &Interner) -> String {
        let text = |sym| strings.get(sym);
        match self {
            Self::Contract(class) => text(class).to_owned(),
            Self::Root(service, operation) => format!("{} {}", text(service), text(operation)),
            Self::Entered(service, operation, Some(caller)) => {
                format!("{} {} from {}", text(service), text(operation), text(caller))
            }
            Self::Entered(service, operation, None) => {
                format!("{} {}, caller not traced", text(service), text(operation))
            }
        }
    }
}
