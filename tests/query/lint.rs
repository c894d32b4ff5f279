//! What keeps queries/*.sql the same in both engines, where these differ: what `/` divides, how wide
//! sums are, where nulls go, what a frame is by default, what a number with a point is.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, Statement, Value, Visit, Visitor,
    WindowType, visit_relations,
};
use datafusion::sql::sqlparser::dialect::{Dialect, DuckDbDialect, PostgreSqlDialect};
use datafusion::sql::sqlparser::parser::Parser;
use dwindle::query::NAMED;

/// Functions that both have, and that mean the same in both.
const FUNCTIONS: [&str; 8] =
    ["coalesce", "count", "max", "min", "nullif", "row_number", "sum", "unnest"];

#[derive(Default)]
struct Linter {
    faults: BTreeSet<String>,
    sums: usize,
    cast_sums: usize,
}

impl Linter {
    fn fault(&mut self, is_one: bool, what: &str, place: &dyn Display) {
        if is_one {
            self.faults.insert(format!("{what}: {place}"));
        }
    }

    fn order(&mut self, order: &OrderByExpr) {
        let options = &order.options;
        let is_told = options.asc.is_some() && options.nulls_first.is_some();
        self.fault(!is_told, "ASC or DESC and NULLS FIRST or LAST are told", order);
    }

    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => {
                for item in &select.projection {
                    let is_named = match item {
                        SelectItem::ExprWithAlias { .. } => true,
                        SelectItem::UnnamedExpr(expr) => matches!(expr, Expr::Identifier(_)),
                        _ => false,
                    };
                    self.fault(!is_named, "every column has a name of its own", item);
                }
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            _ => {}
        }
    }

    fn function(&mut self, function: &Function) {
        let name = function.name.to_string().to_lowercase();
        self.fault(
            !FUNCTIONS.contains(&name.as_str()),
            "a function that is not in the list",
            &name,
        );
        self.sums += usize::from(name == "sum");
        if let Some(WindowType::WindowSpec(window)) = &function.over {
            window.order_by.iter().for_each(|order| self.order(order));
            let needs_frame = name != "row_number" && !window.order_by.is_empty();
            self.fault(needs_frame && window.window_frame.is_none(), "a frame is told", function);
        }
    }
}

impl Visitor for Linter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.body(&query.body);
        if let Some(order) = &query.order_by {
            match &order.kind {
                OrderByKind::Expressions(orders) => orders.iter().for_each(|it| self.order(it)),
                OrderByKind::All(_) => self.fault(true, "columns to order by are told", &"ALL"),
            }
        }
        self.fault(query.limit_clause.is_some(), "rows are chosen by row_number", &"LIMIT");
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => self.function(function),
            Expr::Cast { expr: inner, data_type, .. } => {
                let is_shared = matches!(data_type, DataType::BigInt(None) | DataType::Double(_));
                self.fault(!is_shared, "casts are to bigint or double", expr);
                self.cast_sums += usize::from(is_call(inner, "sum"));
            }
            Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => {
                self.fault(!is_double(left), "what is divided is a double", expr);
                let is_guarded =
                    is_call(right, "nullif") && first_argument(right).is_some_and(is_double);
                self.fault(!is_guarded, "a divisor is nullif(a double, 0)", expr);
            }
            Expr::Value(value) => {
                if let Value::Number(digits, _) = &value.value {
                    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
                    self.fault(!is_whole, "numbers are whole", digits);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn is_double(expr: &Expr) -> bool {
    matches!(expr, Expr::Cast { data_type: DataType::Double(_), .. })
}

fn is_call(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case(name))
}

fn first_argument(expr: &Expr) -> Option<&Expr> {
    let Expr::Function(function) = expr else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

fn statement(dialect: &dyn Dialect, text: &str) -> Statement {
    let mut statements = Parser::parse_sql(dialect, text).unwrap();
    assert_eq!(statements.len(), 1, "one statement a file: {text}");
    statements.remove(0)
}

/// What is wrong with a query.
fn faults(text: &str) -> BTreeSet<String> {
    let statement = statement(&DuckDbDialect {}, text);
    let mut linter = Linter::default();
    let _ = statement.visit(&mut linter);
    let has_order = matches!(&statement, Statement::Query(query) if query.order_by.is_some());
    linter.fault(!has_order, "rows have an order", &"no ORDER BY");
    linter.fault(linter.sums > linter.cast_sums, "a sum is cast", &"sum");
    linter.faults
}

/// The tables that a query names, without those that it makes itself.
fn tables(text: &str) -> BTreeSet<String> {
    let Statement::Query(query) = statement(&DuckDbDialect {}, text) else { panic!("no query") };
    let made: BTreeSet<String> = query
        .with
        .iter()
        .flat_map(|with| &with.cte_tables)
        .map(|table| table.alias.name.value.clone())
        .collect();
    let mut named = BTreeSet::new();
    let _ = visit_relations(&*query, |relation| {
        named.insert(relation.to_string());
        ControlFlow::<()>::Continue(())
    });
    named.difference(&made).cloned().collect()
}

#[test]
fn queries_say_nothing_that_engines_take_differently() {
    for query in NAMED {
        let faults = faults(query.text);
        assert!(faults.is_empty(), "queries/{}.sql: {faults:#?}", query.name);
        statement(&PostgreSqlDialect {}, query.text);
    }
}

#[test]
fn queries_tell_their_purpose_and_what_they_read() {
    for query in NAMED {
        let purpose = query.purpose();
        assert!(purpose.ends_with('.') && purpose.len() <= 100, "{}: {purpose}", query.name);
        let inputs = query.text.lines().find_map(|line| line.strip_prefix("-- inputs: "));
        let inputs: BTreeSet<String> =
            inputs.unwrap_or_default().split(", ").map(str::to_owned).collect();
        assert_eq!(inputs, tables(query.text), "queries/{}.sql", query.name);
        let widest = query.text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "queries/{}.sql has a line of {widest:?}", query.name);
    }
}

#[test]
fn the_linter_finds_what_it_looks_for() {
    let order = "ORDER BY a ASC NULLS LAST";
    let samples = [
        ("SELECT a FROM t", "rows have an order"),
        ("SELECT a FROM t ORDER BY a", "NULLS FIRST"),
        ("SELECT a FROM t ORDER BY a NULLS LAST", "ASC or DESC"),
        ("SELECT * FROM t {}", "a name of its own"),
        ("SELECT a + 1 FROM t {}", "a name of its own"),
        ("SELECT t.a FROM t {}", "a name of its own"),
        ("SELECT sum(a) AS a FROM t {}", "a sum is cast"),
        ("SELECT avg(a) AS a FROM t {}", "not in the list"),
        ("SELECT a / nullif(cast(b AS double), 0) AS a FROM t {}", "is a double"),
        ("SELECT cast(a AS double) / cast(b AS double) AS a FROM t {}", "nullif"),
        ("SELECT cast(a AS integer) AS a FROM t {}", "bigint or double"),
        ("SELECT a FROM t WHERE a > 0.5 {}", "numbers are whole"),
        ("SELECT max(a) OVER (ORDER BY b ASC NULLS LAST) AS a FROM t {}", "a frame is told"),
        ("SELECT row_number() OVER (ORDER BY b) AS a FROM t {}", "NULLS FIRST"),
        ("SELECT a FROM t {} LIMIT 5", "row_number"),
    ];
    for (text, expected) in samples {
        let found = faults(&text.replace("{}", order));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found.iter().any(|fault| fault.contains(expected)), "{text}: {found:?}");
    }
    let good = "SELECT cast(sum(a) AS bigint) AS a FROM t ORDER BY a ASC NULLS LAST";
    assert_eq!(faults(good), BTreeSet::new());
}
