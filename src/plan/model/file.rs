//! Scenario files (TOML): docs/planning.md tells the keys.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

use super::scenario::{Configuration, Contradiction, Durations, Place, Regime, Scenario, Service};
use crate::config_error::{self, ConfigError, key_after};
use crate::config_values::{duration, durations, optional_count, optional_duration};
use crate::plan::policy::{CallPolicy, Share, optional_share};
use crate::units::Nanos;

/// The scenario that is run where no other is named.
pub const BUILT_IN: &str = include_str!("built_in.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default, deserialize_with = "seed")]
    seed: u64,
    #[serde(deserialize_with = "count")]
    requests: u32,
    #[serde(deserialize_with = "duration")]
    threshold: Nanos,
    #[serde(default, deserialize_with = "optional_share")]
    base_per_s: Option<Share>,
    #[serde(default)]
    service: Vec<Spanned<ServiceTable>>,
    #[serde(default)]
    regime: Vec<Spanned<RegimeTable>>,
    #[serde(default)]
    configuration: Vec<Spanned<ConfigurationTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceTable {
    name: String,
    #[serde(default, deserialize_with = "optional_duration")]
    own: Option<Nanos>,
    #[serde(default, deserialize_with = "duration")]
    transit: Nanos,
    #[serde(default)]
    arms: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegimeTable {
    name: String,
    #[serde(default, deserialize_with = "optional_durations")]
    cycle: Option<Vec<Nanos>>,
    #[serde(default, deserialize_with = "optional_durations")]
    between: Option<Vec<Nanos>>,
    #[serde(default)]
    pick: Option<Vec<Picked>>,
    /// Services that take otherwise.
    #[serde(default)]
    service: Vec<Self>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Picked {
    #[serde(deserialize_with = "duration")]
    duration: Nanos,
    #[serde(deserialize_with = "count")]
    weight: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigurationTable {
    name: String,
    #[serde(deserialize_with = "duration")]
    timeout: Nanos,
    #[serde(default = "one", deserialize_with = "count")]
    max_attempts: u32,
    #[serde(default, deserialize_with = "durations")]
    backoff: Vec<Nanos>,
    #[serde(default, deserialize_with = "optional_share")]
    retry_budget: Option<Share>,
    #[serde(default)]
    propagate: bool,
    #[serde(default)]
    stop_on_cancel: bool,
    #[serde(default)]
    reject_unfundable: bool,
    #[serde(default, deserialize_with = "optional_duration")]
    return_reserve: Option<Nanos>,
    #[serde(default, deserialize_with = "optional_duration")]
    hedge_after: Option<Nanos>,
    #[serde(default)]
    call: Vec<Spanned<CallPolicy>>,
}

const fn one() -> u32 {
    1
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    optional_count(deserializer).map(Option::unwrap_or_default)
}

fn seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let seed = value.as_integer().and_then(|number| u64::try_from(number).ok());
    seed.ok_or_else(|| D::Error::custom("expected a whole number, not negative"))
}

fn optional_durations<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Nanos>>, D::Error> {
    durations(deserializer).map(Some)
}

impl Scenario {
    /// The scenario that is run where no other is named.
    ///
    /// # Errors
    /// None: a test reads it.
    pub fn built_in() -> Result<Self, ConfigError> {
        Self::parse("built-in scenario", BUILT_IN)
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// Unknown keys, bad durations and numbers, values that cannot be meant.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let parsed: File = config_error::parse_toml(file, text)?;
        let starts = Starts {
            service: starts(&parsed.service),
            regime: starts(&parsed.regime),
            configuration: starts(&parsed.configuration),
            call: parsed.configuration.iter().map(|it| starts(&it.get_ref().call)).collect(),
        };
        let located = |error: Contradiction| {
            let start = starts.of(error.place);
            let key = error.key;
            let table = || text.find(&format!("[[{key}]]"));
            let byte = key_after(text, start, key).or_else(table).unwrap_or(start);
            ConfigError::at_byte(file, text, byte, Some(key.to_owned()), error.message)
        };
        let scenario = parsed.scenario().map_err(located)?;
        scenario.contradiction().map_err(located)?;
        Ok(scenario)
    }
}

/// Where the tables begin.
struct Starts {
    service: Vec<usize>,
    regime: Vec<usize>,
    configuration: Vec<usize>,
    /// By configuration.
    call: Vec<Vec<usize>>,
}

fn starts<T>(tables: &[Spanned<T>]) -> Vec<usize> {
    tables.iter().map(|table| table.span().start).collect()
}

impl Starts {
    fn of(&self, place: Place) -> usize {
        let start = match place {
            Place::Top => None,
            Place::Service(number) => self.service.get(number),
            Place::Regime(number) => self.regime.get(number),
            Place::Configuration(number) => self.configuration.get(number),
            Place::Call(configuration, number) => {
                self.call.get(configuration).and_then(|calls| calls.get(number))
            }
        };
        start.copied().unwrap_or(0)
    }
}

impl File {
    fn scenario(self) -> Result<Scenario, Contradiction> {
        let regimes = self.regime.into_iter().enumerate();
        let regimes = regimes
            .map(|(number, table)| table.into_inner().regime(Place::Regime(number)))
            .collect::<Result<_, _>>()?;
        let services = self.service.into_iter().map(|table| table.into_inner().service());
        let configurations = self.configuration.into_iter();
        let configurations = configurations.map(|table| table.into_inner().configuration());
        Ok(Scenario {
            name: self.name,
            seed: self.seed,
            requests: self.requests,
            threshold: self.threshold,
            base_per_s: self.base_per_s,
            services: services.collect(),
            regimes,
            configurations: configurations.collect(),
        })
    }
}

impl ServiceTable {
    fn service(self) -> Service {
        let Self { name, own, transit, arms } = self;
        Service { name, own, transit, arms }
    }
}

impl RegimeTable {
    fn regime(self, place: Place) -> Result<Regime, Contradiction> {
        let durations = Self::durations(self.cycle, self.between.as_deref(), self.pick, place)?;
        let services = self.service.into_iter().map(|own| {
            if !own.service.is_empty() {
                let message = "expected no [[regime.service]] within another";
                return Err(Contradiction::new(place, "service", message));
            }
            Ok((own.name, Self::durations(own.cycle, own.between.as_deref(), own.pick, place)?))
        });
        Ok(Regime { name: self.name, durations, services: services.collect::<Result<_, _>>()? })
    }

    fn durations(
        cycle: Option<Vec<Nanos>>,
        between: Option<&[Nanos]>,
        pick: Option<Vec<Picked>>,
        place: Place,
    ) -> Result<Durations, Contradiction> {
        match (cycle, between, pick) {
            (Some(cycle), None, None) => Ok(Durations::Cycle(cycle)),
            (None, Some(&[least, most]), None) => Ok(Durations::Between(least, most)),
            (None, Some(_), None) => {
                let message = "expected the shortest and the longest duration";
                Err(Contradiction::new(place, "between", message))
            }
            (None, None, Some(pick)) => {
                let weighted = pick.into_iter().map(|picked| (picked.duration, picked.weight));
                Ok(Durations::Pick(weighted.collect()))
            }
            _ => {
                let message = "expected durations, as one of cycle, between and pick";
                Err(Contradiction::new(place, "cycle", message))
            }
        }
    }
}

impl ConfigurationTable {
    fn configuration(self) -> Configuration {
        let Self { name, timeout, max_attempts, backoff, retry_budget, .. } = self;
        let Self { propagate, stop_on_cancel, reject_unfundable, .. } = self;
        Configuration {
            name,
            timeout,
            max_attempts,
            backoff,
            retry_budget,
            propagate,
            stop_on_cancel,
            reject_unfundable,
            return_reserve: self.return_reserve,
            hedge_after: self.hedge_after,
            calls: self.call.into_iter().map(Spanned::into_inner).collect(),
        }
    }
}
