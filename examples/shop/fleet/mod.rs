//! A small shop's fleet and a quarter of an hour of its traffic: stories are told span by span in
//! true time, faults are written down as they are planted, and only then do the hosts' clocks go
//! wrong. Nothing here knows the analyser.

mod cart;
mod checkout;
mod items;
mod orders;
mod otlp;
mod planted;
mod random;
mod search;
mod trace;
mod world;

use planted::Planted;
use random::Random;
use trace::Trace;
use world::Clocks;

/// A microsecond in nanoseconds.
const MICRO: i64 = 1_000;
/// A millisecond in nanoseconds.
const MILLI: i64 = 1_000_000;

/// The seed of `fixtures/shop`.
pub(crate) const SEED: u64 = 0x5107_0f1d_ea11_1ad3;
/// When the traffic begins: 2026-03-02 10:00:00 UTC.
const BEGINNING: i64 = 1_772_445_600_000_000_000;

/// What is generated: file names below `fixtures` and contents.
pub(crate) struct Shop {
    /// The traces, uncompressed: names below `fixtures/shop`.
    pub(crate) traces: Vec<(&'static str, String)>,
    /// `fixtures/shop.planted.json`.
    pub(crate) planted: String,
    /// `fixtures/shop.README.md`.
    pub(crate) readme: String,
}

/// What happens to requests of a class, how often, and on which hosts.
struct Scenario {
    /// The class of the storefront's request.
    class: &'static str,
    /// In words.
    story: &'static str,
    /// How many requests.
    count: u64,
    /// Which clocks they may meet.
    clocks: Clocks,
    /// Tells one.
    tell: fn(&mut Trace),
}

/// The scenarios of one class.
macro_rules! scenarios {
    ($($class:literal { $($count:literal $clocks:ident $tell:path: $story:literal;)+ })+) => {
        &[$($(Scenario {
            class: $class,
            story: $story,
            count: $count,
            clocks: Clocks::$clocks,
            tell: $tell,
        },)+)+]
    };
}

const SCENARIOS: &[Scenario] = scenarios! {
    "storefront GET /items/{id}" {
        960 Any items::fine: "nothing is wrong";
        45 Right items::picked_slowly: "a backend is picked slowly (honest)";
        60 Any items::quoted_again: "a quote is refused once, the retry is funded (honest)";
        90 Any items::old_build: "an old build grants quotes a second";
        36 Behind items::third_try: "the third try of a quote begins unfundable, with a full timeout";
        40 Right items::slow_way_in: "a slow way in: the next hop is stretched (honest)";
        28 Behind items::pool_exhausted: "the catalog's pool is exhausted until after the deadline";
        15 Behind items::pool_dropped: "the same, and the work is dropped when its turn comes";
        25 Behind items::timed_out: "everybody stops at the deadline (honest)";
        22 Behind items::catalog_goes_on: "the catalog goes on after its caller left";
        18 Behind items::cancel_dropped: "the user leaves, pricing does not tell the stock service";
        20 Behind items::cancelled: "the user leaves, everybody stops (honest)";
        12 Right items::no_backend: "no backend until after the deadline";
        14 Any items::stale_and_served: "out of budget in the load balancer's queue, served anyway";
        10 Any items::stale_and_shed: "out of budget in the load balancer's queue, refused";
    }
    "storefront GET /search" {
        470 Any search::fine: "nothing is wrong";
        60 Behind search::hedge_cancelled: "hedged, the loser is cancelled (honest)";
        24 Behind search::hedge_ignored: "hedged, the loser's server goes on";
        16 Behind search::hedge_lingers: "hedged, the loser is cancelled late";
        12 Behind search::hedge_too_late: "hedged with less left than a try needs";
        20 Any search::priced_for_nobody: "a timeout of three seconds: priced after the deadline";
    }
    "storefront POST /cart" {
        330 Any cart::fine: "nothing is wrong";
        26 Any cart::retried_twice_over: "cart and storefront both retry";
        20 Behind cart::ran_after_leaving: "the user leaves while the cart waits for a connection";
        14 Right cart::queued_past_deadline: "a reservation is queued past the deadline";
    }
    "storefront POST /checkout" {
        270 Any checkout::fine: "nothing but the configured timeouts is wrong";
        20 Any checkout::carrier_refused: "the carrier is busy and asked again (honest)";
        18 Any checkout::carrier_blind: "the carrier does not answer and is asked again, blindly";
        25 Any checkout::order_late: "the order waits in the topic for over five seconds";
        20 Behind checkout::scored_blindly: "the fraud check is asked again, blindly";
        20 Behind checkout::scored_with_key: "the same with an idempotency key (honest)";
        24 Behind checkout::charged_after_leaving: "the user is charged after the storefront left";
        16 Any checkout::published_late: "the order is published after the deadline";
    }
};

/// The whole fixture, the same for the same seed.
pub(crate) fn generate(seed: u64) -> Shop {
    let mut random = Random::new(seed);
    let mut planted = Planted::default();
    let mut turns: Vec<&Scenario> = Vec::new();
    for scenario in SCENARIOS {
        planted.story(scenario.class, scenario.story, scenario.count);
        turns.extend((0..scenario.count).map(|_| scenario));
    }
    random.shuffle(&mut turns);

    let mut exported = Vec::new();
    let mut began = BEGINNING;
    for scenario in turns {
        began += random.micros(20_000, 620_000);
        let mut trace = Trace::new(&mut random, &mut planted, scenario.clocks, began);
        (scenario.tell)(&mut trace);
        exported.extend(otlp::export(&trace));
    }
    let spans = exported.len();
    Shop {
        planted: planted.json(seed, spans),
        readme: README.replace("{tables}", &planted.markdown()),
        traces: otlp::files(exported),
    }
}

/// The README around its tables.
const README: &str = "\
# The shop

`fixtures/shop` holds the exported traces of a small, invented fleet: a storefront, cart, catalog,
pricing, stock, payments, fraud check and a warehouse that reads a Kafka topic. Its faults were
planted, so how often each must be found is known. `dwindle report fixtures/shop` reads it;
`--contract fixtures/shop.contract.toml` gives the warehouse's orders a deadline too.

- `shop/*.jsonl.zst`: what three collectors wrote, a line for each batch of one host. The spans of
  a trace lie in two or three files and many lines; one line of each file was sent twice.
- `shop.planted.json`: the tables below, for machines.
- `shop.contract.toml`: the contract.

Everything but the contract, this page too, is written by `cargo run --example shop`
(`examples/shop`): seeded, integers only, no wall clock. A test compares what it writes with what
lies here, and all findings with what was planted: any code and hop that is not listed must be
found nowhere, but for `graveyard-first`: who waited behind expired work was left to chance.

Most hosts' clocks are right, some are up to 40 ms behind or ahead. Callers that leave meet no
clock that is ahead, and long queues and ways in none that is wrong: no trace could tell by how
much.

{tables}";
