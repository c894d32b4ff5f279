//! From the text of a query to one statement that reads.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Query, SetExpr, Statement, Visit, Visitor};
use datafusion::sql::sqlparser::dialect::DuckDbDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{
    Location, Token, TokenWithSpan, Tokenizer, TokenizerError,
};

use crate::query::{Place, QueryError, Sql};

/// How deep expressions and queries may be nested.
const MAX_DEPTH: usize = 64;

/// How long chains of operators may be, `a OR b OR c` and the like: what the engine does of one grows
/// with its square.
const MAX_CHAIN: usize = 512;

/// How long a query may be: the engine walks what it nests and chains by recursion.
const MAX_BYTES: usize = 1 << 15;

/// The only statement of a query, which reads.
pub(super) fn parse(sql: &Sql) -> Result<Statement, QueryError> {
    if sql.text.len() > MAX_BYTES {
        return Err(QueryError::new(sql, None, "is longer than 32 KiB"));
    }
    let wrong = |place, message: String| QueryError::new(sql, place, message);
    let tokens = tokens(sql).map_err(|error| wrong(place(error.location), error.message))?;
    let told: Vec<TokenWithSpan> = tokens
        .iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_)))
        .cloned()
        .collect();
    let parser = Parser::new(&DuckDbDialect {}).with_recursion_limit(MAX_DEPTH);
    let statements = parser
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(|error| syntax(sql, error))?;
    let begins_at = |token: &TokenWithSpan| place(token.span.start);
    let mut statements = statements.into_iter();
    match (statements.next(), statements.next()) {
        (None, _) => Err(wrong(None, "holds no statement".to_owned())),
        (Some(Statement::Query(query)), None) if !writes(&query.body) => {
            if query.visit(&mut Chain::default()).is_break() {
                return Err(wrong(None, format!("chains more than {MAX_CHAIN} operators")));
            }
            Ok(Statement::Query(query))
        }
        (Some(_), None) => {
            let is_into = |token: &&TokenWithSpan| matches!(&token.token, Token::Word(word) if word.keyword == Keyword::INTO);
            let first = told.first().filter(|token| !begins_reading(token));
            let word = first.or_else(|| told.iter().find(is_into));
            let name = word.map_or_else(String::new, |word| word.token.to_string().to_uppercase());
            let message =
                format!("{name} is refused: a query reads the tables and does nothing else");
            Err(wrong(word.and_then(begins_at), message))
        }
        (Some(_), Some(_)) => {
            let mut rest = told.iter().skip_while(|token| token.token != Token::SemiColon);
            let second = rest.find(|token| token.token != Token::SemiColon);
            Err(wrong(second.and_then(begins_at), "a query is one statement".to_owned()))
        }
    }
}

/// How deep in expressions the walk is. The parser does not count chains, which lean to the left.
#[derive(Default)]
struct Chain {
    links: usize,
}

impl Visitor for Chain {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if set_operations(&query.body) > MAX_CHAIN {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn pre_visit_expr(&mut self, _expr: &Expr) -> ControlFlow<()> {
        self.links += 1;
        if self.links > MAX_CHAIN { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn post_visit_expr(&mut self, _expr: &Expr) -> ControlFlow<()> {
        self.links -= 1;
        ControlFlow::Continue(())
    }
}

/// How many `UNION` and the like stand side by side.
fn set_operations(body: &SetExpr) -> usize {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            1 + set_operations(left) + set_operations(right)
        }
        _ => 0,
    }
}

/// Whether the rows go to a table in place of the answer.
fn writes(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => select.into.is_some(),
        SetExpr::Query(query) => writes(&query.body),
        SetExpr::SetOperation { left, right, .. } => writes(left) || writes(right),
        SetExpr::Values(_) | SetExpr::Table(_) => false,
        _ => true,
    }
}

fn begins_reading(token: &TokenWithSpan) -> bool {
    let keywords = [Keyword::SELECT, Keyword::WITH, Keyword::FROM];
    matches!(&token.token, Token::Word(word) if keywords.contains(&word.keyword))
}

/// Where a name first stands in the text.
pub(super) fn first_place(sql: &Sql, name: &str) -> Option<Place> {
    let is_name = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) => word.value.eq_ignore_ascii_case(name),
        Token::SingleQuotedString(text) => text == name,
        _ => false,
    };
    tokens(sql).ok()?.iter().find(|token| is_name(token)).and_then(|token| place(token.span.start))
}

fn tokens(sql: &Sql) -> Result<Vec<TokenWithSpan>, TokenizerError> {
    Tokenizer::new(&DuckDbDialect {}, &sql.text).tokenize_with_location()
}

fn place(location: Location) -> Option<Place> {
    let Location { line, column } = location;
    (line > 0).then_some(Place { line, column })
}

/// What the parser says; where it says it stands at the end of its message.
fn syntax(sql: &Sql, error: ParserError) -> QueryError {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
        ParserError::RecursionLimitExceeded => {
            return QueryError::new(sql, None, format!("is nested deeper than {MAX_DEPTH} levels"));
        }
    };
    let told = message.rsplit_once(" at Line: ").and_then(|(message, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let place = Place { line: line.parse().ok()?, column: column.parse().ok()? };
        Some((message.to_owned(), place))
    });
    let (message, place) = told.unwrap_or_else(|| (message, end(sql)));
    QueryError::new(sql, Some(place), message)
}

/// Where the text ends.
fn end(sql: &Sql) -> Place {
    let text = sql.text.trim_end();
    let line = text.split('\n').count() as u64;
    let last = text.rsplit('\n').next().unwrap_or_default();
    Place { line, column: last.chars().count() as u64 + 1 }
}
