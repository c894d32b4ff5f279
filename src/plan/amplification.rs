//! What layers of retries around retries make of one request.

use super::retries::{Retries, wide};
use crate::names::names;

/// How often each layer tries at most, the outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers(Vec<u32>);

/// Layers that each retry, the outermost first; an attempt of a layer is a call of the next, an attempt
/// of the innermost a leaf attempt.
///
/// The model: every leaf attempt fails after its whole allowance, every layer then tries again as
/// often as it may, and waits its backoff before. A layer makes an attempt only if what is available by
/// its clock holds the wait and the allowance of one leaf attempt; else it fails to its caller. Nothing
/// else takes time, and no caller leaves before its callee has answered. All on a logical clock that
/// begins with what is available, so counts are exact.
#[derive(Clone, Debug)]
pub struct Amplification<'a> {
    /// How often each layer tries at most.
    pub layers: &'a Layers,
    /// What is available, what an attempt needs and how long layers wait; each layer has its own maximum.
    pub retries: &'a Retries,
}

names! {
    /// By what a layer decides whether there is time for an attempt.
    pub enum Clock {
        /// There always is.
        None = "no_deadline",
        /// What is left of one deadline, which all layers share.
        Shared = "shared_deadline",
        /// All that is available, from when the layer was called.
        Restarted = "restarted_at_each_layer",
    }
}

/// What happens by one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// The clock.
    pub clock: Clock,
    /// How many attempts each layer begins, the outermost first.
    pub attempts: Vec<u64>,
    /// The leaf attempts among them that end after what was available at first.
    pub late: u64,
    /// When the outermost layer gives up, from the beginning, in nanoseconds.
    pub ends_ns: i128,
}

/// More layers than this are nobody's.
const MAX_LAYERS: usize = 16;

/// So many leaf attempts are counted one by one.
const MAX_LEAVES: u64 = 1_000_000;

impl Layers {
    /// Reads the maxima of layers, outermost first, such as `3,3,3`; the product of them is bounded.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read = |part: &str| part.trim().parse::<u32>().ok().filter(|&most| most > 0);
        let layers: Option<Vec<u32>> = text.split(',').map(read).collect();
        let layers = layers.ok_or("expected the most attempts of each layer, such as 3,3,3")?;
        if layers.len() > MAX_LAYERS {
            return Err(format!("expected at most {MAX_LAYERS} layers"));
        }
        let product = layers.iter().try_fold(1, |all: u64, &most| all.checked_mul(most.into()));
        if product.is_none_or(|product| product > MAX_LEAVES) {
            return Err(format!("expected a product of at most {MAX_LEAVES}"));
        }
        Ok(Self(layers))
    }

    /// The maxima.
    pub fn maxima(&self) -> &[u32] {
        &self.0
    }
}

impl Amplification<'_> {
    /// What happens by each clock.
    pub fn courses(&self) -> Vec<Course> {
        Clock::ALL.iter().map(|&clock| self.course(clock)).collect()
    }

    fn course(&self, clock: Clock) -> Course {
        let attempts = vec![0; self.layers.maxima().len()];
        let mut course = Course { clock, attempts, late: 0, ends_ns: 0 };
        self.call(0, &mut course);
        course
    }

    /// Calls a layer, which tries until it may not or nothing is funded. `ends_ns` is what
    /// the clock shows.
    fn call(&self, layer: usize, course: &mut Course) {
        let Some(&most) = self.layers.maxima().get(layer) else {
            course.ends_ns += wide(self.retries.attempt);
            course.late += u64::from(course.ends_ns > wide(self.retries.available()));
            return;
        };
        let called_ns = course.ends_ns;
        for attempt in 1..=most {
            let begins_ns = course.ends_ns + wide(self.retries.backoff_before(attempt));
            let needed_ns = begins_ns + wide(self.retries.attempt);
            let available_ns = wide(self.retries.available());
            let is_funded = match course.clock {
                Clock::None => true,
                Clock::Shared => needed_ns <= available_ns,
                Clock::Restarted => needed_ns - called_ns <= available_ns,
            };
            if !is_funded {
                return;
            }
            course.ends_ns = begins_ns;
            if let Some(begun) = course.attempts.get_mut(layer) {
                *begun += 1;
            }
            self.call(layer + 1, course);
        }
    }
}
