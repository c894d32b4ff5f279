//! The contract that a calibration comes to, as a person reads and corrects it.

use super::evidence::{named, of_deadline, of_measured, of_timeout, of_too_few};
use super::limit::{Calibration, CallLimit, ClassLimit, Measured, Rounding, as_set, rounded_to};
use super::rule::Rule;
use crate::config_text::{duration, push_comment, quoted};
use crate::contract::Glob;
use crate::counts::counted;
use crate::units::Nanos;

/// What stands above all.
const HEAD: &str = "\
# What traces do not declare, told by durations and outcomes alone (docs/inference.md). Look at
# each value, correct it, and give this file as --contract. [a, b] is a 95 % interval. A line that
# begins with # and no space is not sure enough to hold: where you know it does, take the # away.
";

/// What is said of sampling.
const SAMPLED: &str = "Requests say by their sampling how many they stand for. Where something is cut off \
    does not go by that; counts, shares and percentiles are of what was kept.";

/// Measured values are written with so many significant digits.
const DIGITS: u32 = 3;

/// The text of a contract file (TOML).
pub fn contract_text(of: &Calibration) -> String {
    let mut text = HEAD.to_owned();
    if of.is_sampled {
        push_comment(&mut text, SAMPLED, "");
    }
    of.classes.iter().for_each(|class| push_class(&mut text, class));
    of.calls.iter().for_each(|call| push_call(&mut text, call, is_unsaid(call, of)));
    text
}

/// Whether nobody knows whom a call calls, while others of the same caller and name are known: a table
/// without callee would speak of all of them.
fn is_unsaid(call: &CallLimit, of: &Calibration) -> bool {
    let is_other = |other: &CallLimit| {
        let of_name = |call: &CallLimit| (call.call.caller.clone(), call.call.operation.clone());
        other.call.callee.is_some() && of_name(other) == of_name(call)
    };
    call.call.callee.is_none() && of.calls.iter().any(is_other)
}

/// A table that is being written: its keys, and what is said of them.
struct Table<'t> {
    text: &'t mut String,
    /// Whether it holds, or is only proposed.
    is_sure: bool,
}

impl Table<'_> {
    fn comment(&mut self, sentences: &str) {
        push_comment(self.text, sentences, "");
    }

    /// A line that holds where the table does.
    fn line(&mut self, line: &str) {
        self.proposed(line, self.is_sure);
    }

    /// A line that holds, or is only proposed.
    fn proposed(&mut self, line: &str, is_sure: bool) {
        if !is_sure {
            self.text.push('#');
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn length(&mut self, key: &str, length: Nanos, is_sure: bool) {
        self.proposed(&format!("{key} = {}", quoted(&duration(length))), is_sure);
    }
}

fn push_class(text: &mut String, class: &ClassLimit) {
    text.push('\n');
    // A contract has to have a name.
    let is_sure = !class.class.trim().is_empty();
    let mut table = Table { text, is_sure };
    table.line("[[contract]]");
    table.line(&format!("name = {}", quoted(&class.class)));
    table.line(&format!(
        "match = {{ service = {}, operation = {} }}",
        literal(&class.service),
        literal(&class.operation)
    ));
    table.line("calibrated = true");
    table.comment(&of_deadline(class));
    let deadline = class.deadline();
    if let Some(deadline) = deadline {
        table.length("deadline", deadline, is_sure);
    } else if let Some(atom) = class.limit.atoms.first().filter(|_| class.declared.0 == 0) {
        table.length("deadline", as_set(atom), false);
    }
    let Some(reserve) = &class.reserve else {
        let requests = counted(class.returned, "request");
        table.comment(&of_too_few(&format!("{requests} how long the return takes")));
        return;
    };
    let returns = format!("{} from the last answer to the end", counted(class.returned, "request"));
    table.comment(&of_measured(reserve, &returns, class.returned));
    let value = at_least(reserve);
    let least = [deadline, class.declared.1.map(|(least, _)| least)].into_iter().flatten().min();
    let fits = least.is_none_or(|least| value < least);
    table.length("return_reserve", value, is_sure && fits && Nanos::ZERO < value);
}

fn push_call(text: &mut String, call: &CallLimit, is_unsaid: bool) {
    let timeout = call.timeout();
    let proposed = call.limit.atoms.first().map(as_set).filter(|&it| {
        timeout.is_none() && call.judged.rule != Rule::Propagated && Nanos::ZERO < it
    });
    let allowance = call.allowance.as_ref().filter(|it| Nanos::ZERO < it.estimate.value);
    text.push('\n');
    if timeout.is_none() && proposed.is_none() && allowance.is_none() {
        let needs = of_too_few(&succeeded(call));
        push_comment(text, &format!("{}: {} {needs}", named(&call.call), of_timeout(call)), "");
        return;
    }
    let is_sure = !is_unsaid && (timeout.is_some() || allowance.is_some());
    let mut table = Table { text, is_sure };
    table.line("[[call]]");
    table.line(&format!("caller = {}", literal(call.call.caller.as_deref().unwrap_or_default())));
    if let Some(callee) = &call.call.callee {
        table.line(&format!("callee = {}", literal(callee)));
    }
    table.line(&format!("operation = {}", literal(&call.call.operation)));
    table.line("calibrated = true");
    if is_unsaid {
        table
            .comment("Whom these call is not known; others of this name have tables of their own.");
    }
    table.comment(&of_timeout(call));
    if let Some(value) = timeout.or(proposed) {
        table.length("timeout", value, is_sure && timeout.is_some());
        if call.judged.rule == Rule::MinOfBoth {
            table.proposed("propagates = true", is_sure && timeout.is_some());
        }
    }
    push_allowance(&mut table, call, allowance);
}

fn push_allowance(table: &mut Table<'_>, call: &CallLimit, allowance: Option<&Measured>) {
    let Some(allowance) = allowance else {
        table.comment(&of_too_few(&succeeded(call)));
        return;
    };
    let (all, _) = call.succeeded;
    table.comment(&of_measured(allowance, &succeeded(call), all));
    let most = at_least(allowance);
    let is_sure = table.is_sure;
    table.length("attempt_allowance", most, is_sure);
    if let Some(break_even) = &call.break_even {
        let value = rounded_to(break_even.estimate.value, DIGITS, Rounding::Down);
        let measured = of_measured(break_even, "these", all);
        table.comment(&format!(
            "{measured} With less left at most one in twenty would have succeeded."
        ));
        table.length("break_even", value, is_sure && Nanos::ZERO < value && value <= most);
    }
}

/// The attempts that succeeded, and whose they are.
fn succeeded(call: &CallLimit) -> String {
    let (n, callers) = call.succeeded;
    let whose = match callers {
        0 | 1 => String::new(),
        _ => format!(" of {}", counted(callers as u64, "caller")),
    };
    format!("{} that succeeded{whose}", counted(n, "attempt"))
}

/// A measured value, no smaller than it is.
fn at_least(measured: &Measured) -> Nanos {
    rounded_to(measured.estimate.value, DIGITS, Rounding::Up)
}

/// A pattern that only `text` matches.
fn literal(text: &str) -> String {
    quoted(Glob::literal(text).as_str())
}
