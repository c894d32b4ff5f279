//! SEMANTICS §3, and who is what to whom (§1, §2).

use dwindle::span::Kind;

use super::Trace;

impl Trace<'_> {
    pub(super) fn build_tree(&mut self) {
        self.find_parents();
        self.cut_cycles();
        self.find_roots();
        self.place();
        self.pair();
    }

    fn find_parents(&mut self) {
        for span in self.ids() {
            let named = self.nodes[span].span.parent_span_id.map(|id| id.0);
            self.nodes[span].parent = self.ids().find(|&other| Some(self.nodes[other].id) == named);
        }
    }

    fn cut_cycles(&mut self) {
        for span in self.ids() {
            let mut seen = vec![span];
            let mut next = self.nodes[span].parent;
            while let Some(above) = next.filter(|above| !seen.contains(above)) {
                seen.push(above);
                next = self.nodes[above].parent;
            }
            // The spans are tried in order, so this is the earliest of its cycle.
            if next == Some(span) {
                self.nodes[span].parent = None;
                self.nodes[span].was_cycle = true;
                self.blind_spots.insert("cycle");
            }
        }
    }

    fn names_parent(&self, span: usize) -> bool {
        self.nodes[span].span.parent_span_id.is_some()
    }

    fn find_roots(&mut self) {
        if let Some(root) = self.ids().find(|&span| !self.names_parent(span)) {
            self.root = root;
        } else if let Some(root) = self.ids().find(|&span| self.nodes[span].parent.is_none()) {
            self.root = root;
            self.blind_spots.insert("missing_root");
        }
        if self.ids().any(|span| span != self.root && !self.names_parent(span)) {
            self.blind_spots.insert("extra_roots");
        }
        let is_orphan = |&span: &usize| {
            let node = &self.nodes[span];
            span != self.root && self.names_parent(span) && node.parent.is_none() && !node.was_cycle
        };
        if self.ids().any(|span| is_orphan(&span)) {
            self.blind_spots.insert("orphans");
        }
    }

    /// Which spans head a request, which are attached, and what that makes their parent.
    fn place(&mut self) {
        for span in self.ids() {
            let node = &self.nodes[span];
            let under_consumer =
                node.parent.is_some_and(|parent| self.nodes[parent].kind == Kind::Consumer);
            let is_extra_root = !self.names_parent(span);
            let asks_itself = is_extra_root || node.kind == Kind::Consumer && !under_consumer;
            let heads = span == self.root || asks_itself && !node.is_wait;
            let attached = !heads && node.parent.is_none();
            let up = if heads {
                None
            } else if attached {
                Some(self.root)
            } else {
                node.parent
            };
            let node = &mut self.nodes[span];
            node.heads_request = heads;
            node.attached = attached;
            node.up = up;
        }
    }

    fn pair(&mut self) {
        for span in self.ids() {
            let children =
                |&other: &usize| self.nodes[other].up == Some(span) && !self.nodes[other].attached;
            let children: Vec<usize> = self.ids().filter(children).collect();
            let is_attempt = |&child: &usize| {
                let child = &self.nodes[child];
                child.span.flags.is_attempt && child.kind == Kind::Client && !child.is_wait
            };
            let node = &self.nodes[span];
            let is_call_span =
                node.kind == Kind::Client && !node.is_wait && children.iter().any(is_attempt);
            let changes_service = node.up.is_some_and(|up| self.nodes[up].service != node.service);
            let is_server = !node.is_wait
                && match node.kind {
                    Kind::Server | Kind::Consumer => true,
                    Kind::Internal => changes_service,
                    Kind::Client | Kind::Producer => false,
                };
            let node = &mut self.nodes[span];
            node.children = children;
            node.is_call_span = is_call_span;
            node.is_server = is_server;
        }
        for span in self.ids() {
            if self.nodes[span].opens_hop() {
                let children = self.nodes[span].children.clone();
                self.nodes[span].servers =
                    children.into_iter().filter(|&child| self.nodes[child].is_server).collect();
            }
        }
    }
}
