//! A scenario as people write it.

use std::fmt::Write as _;

use super::model::Modelled;
use crate::plan::model::{Configuration, Durations, Service};
use crate::units::Nanos;

impl Modelled {
    /// What a scenario rests on, and what is not in it, in sentences.
    pub fn caveats(&self) -> Vec<String> {
        let Self {
            scenario,
            alike,
            requests,
            traces,
            tries,
            timed_out,
            cancelled,
            failed,
            lost,
            ..
        } = self;
        let mut caveats = vec![
            format!(
                "Measured of {requests} requests of {traces} traces, of which {alike} make these very \
                 calls; {} are run.",
                scenario.requests
            ),
            "A call is a service, which takes what tries took that were answered, whatever they called \
             below; each length is drawn by itself, so that the second try of a slow request need not \
             be slow. The first service takes the median of its own time."
                .to_owned(),
            format!(
                "Of {tries} tries {timed_out} ended because their time was up: how long these would have \
                 taken is unknown, here twice the threshold. Left out are {cancelled} that were cut for \
                 another reason, and {failed} that failed otherwise, which the model does not know."
            ),
        ];
        if *lost > 0 {
            caveats.push(format!(
                "An attempt and its hedge are one try, up to the first answer: {lost} attempts that lost \
                 are left out, and hedges are not run."
            ));
        }
        if self.is_weighted {
            caveats.push(
                "Requests say how many they stand for by their sampling; here each counts once: counts \
                 and requests/s are of the traces read."
                    .to_owned(),
            );
        }
        caveats
    }

    /// The scenario file, which says what it rests on.
    pub fn to_toml(&self) -> String {
        let scenario = &self.scenario;
        let mut text = commented(&self.caveats().join(" "));
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        line(format!("name = \"{}\"", scenario.name));
        line(format!("seed = {}", scenario.seed));
        line(format!("requests = {}", scenario.requests));
        line(format!("threshold = {}", quoted(scenario.threshold)));
        scenario
            .base_per_s
            .iter()
            .for_each(|rate| line(format!("base_per_s = {}", rate.decimal())));
        scenario.services.iter().for_each(|service| line(written(service)));
        for regime in &scenario.regimes {
            line(format!(
                "\n[[regime]]\nname = \"{}\"\n{}",
                regime.name,
                durations(&regime.durations)
            ));
            for (name, own) in &regime.services {
                line(format!("\n[[regime.service]]\nname = \"{name}\"\n{}", durations(own)));
            }
        }
        scenario.configurations.iter().for_each(|one| line(configuration(one)));
        text
    }
}

/// Lines of a comment.
fn commented(words: &str) -> String {
    const WIDTH: usize = 105;
    let mut text = String::new();
    let mut line = "#".to_owned();
    for word in words.split(' ') {
        if line.len() + 1 + word.len() > WIDTH {
            text = text + &line + "\n";
            "#".clone_into(&mut line);
        }
        line = line + " " + word;
    }
    text + &line + "\n"
}

fn written(service: &Service) -> String {
    let mut text = format!("\n[[service]]\nname = \"{}\"", service.name);
    let quote = |name: &String| format!("\"{name}\"");
    // Writing to a string cannot fail.
    if let Some(own) = service.own {
        let _ = write!(text, "\nown = {}", quoted(own));
    }
    if service.transit > Nanos::ZERO {
        let _ = write!(text, "\ntransit = {}", quoted(service.transit));
    }
    if !service.arms.is_empty() {
        let arm = |arm: &Vec<String>| {
            format!("    [{}],\n", arm.iter().map(quote).collect::<Vec<_>>().join(", "))
        };
        let _ = write!(text, "\narms = [\n{}]", service.arms.iter().map(arm).collect::<String>());
    }
    text
}

fn durations(durations: &Durations) -> String {
    let list =
        |all: &mut dyn Iterator<Item = Nanos>| all.map(quoted).collect::<Vec<_>>().join(", ");
    match durations {
        Durations::Cycle(all) => format!("cycle = [{}]", list(&mut all.iter().copied())),
        Durations::Between(least, most) => {
            format!("between = [{}]", list(&mut [*least, *most].into_iter()))
        }
        Durations::Pick(all) => {
            let one = |(duration, weight): &(Nanos, u32)| {
                format!("    {{ duration = {}, weight = {weight} }},\n", quoted(*duration))
            };
            format!("pick = [\n{}]", all.iter().map(one).collect::<String>())
        }
    }
}

fn configuration(configuration: &Configuration) -> String {
    let Configuration { name, timeout, max_attempts, backoff, retry_budget, propagate, .. } =
        configuration;
    let mut text = format!(
        "\n[[configuration]]\nname = \"{name}\"\ntimeout = {}\nmax_attempts = {max_attempts}",
        quoted(*timeout)
    );
    if !backoff.is_empty() {
        let waits: Vec<String> = backoff.iter().copied().map(quoted).collect();
        let _ = write!(text, "\nbackoff = [{}]", waits.join(", "));
    }
    if *propagate {
        text.push_str("\npropagate = true");
    }
    if let Some(budget) = retry_budget {
        let _ = write!(text, "\nretry_budget = {}", budget.decimal());
    }
    text
}

/// A length in milliseconds, exact.
fn quoted(length: Nanos) -> String {
    let nanos = length.as_nanos();
    let text = format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    format!("\"{}ms\"", text.trim_end_matches('0').trim_end_matches('.'))
}
