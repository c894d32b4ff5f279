//! The page around sections.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{MOST_BYTES, drawing, short, table, waterfall};
use crate::report::model::{Block, Fact, Figure, Layout, Report, Section};
use crate::report::text::{self, visible};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// How much of a heading is told.
const TITLE: usize = 120;
/// How much of a sentence: names may stand in it.
const SENTENCE: usize = 2_000;

/// Writes a page. Sections of classes that have no room are left out, the last first, and it says so.
pub(super) fn render(report: &Report) -> String {
    let sections: Vec<String> = report.sections.iter().enumerate().map(section).collect();
    let all: usize = sections.iter().map(String::len).sum();
    let mut too_many = (all + STYLE.len() + SCRIPT.len() + 50_000).saturating_sub(MOST_BYTES);
    let mut is_told = vec![true; sections.len()];
    for (index, section) in report.sections.iter().enumerate().rev() {
        let (Some(told), Some(text)) = (is_told.get_mut(index), sections.get(index)) else {
            continue;
        };
        if too_many > 0 && section.class.is_some() {
            *told = false;
            too_many = too_many.saturating_sub(text.len());
        }
    }
    page(report, &sections, &is_told).into_string()
}

fn page(report: &Report, sections: &[String], is_told: &[bool]) -> Markup {
    let told = || report.sections.iter().zip(sections).zip(is_told).enumerate();
    let left_out = is_told.iter().filter(|told| !**told).count() as u64;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy());
                title { (report.title) " · dwindle" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                header {
                    h1 { (report.title) }
                    p.version { "dwindle " (visible(&report.version)) }
                }
                nav aria-label="Sections" {
                    ul {
                        @for (index, ((section, _), told)) in told() {
                            @if *told { li { a href={ "#s" (index) } { (short(&section.title, TITLE)) } } }
                        }
                    }
                }
                main id="main" {
                    @for (_, ((_, text), told)) in told() { @if *told { (PreEscaped(text)) } }
                    @if left_out > 0 {
                        p { "Left out, so that the page stays small: " (text::counted(left_out, "more class"))
                            ". --format json tells all." }
                    }
                }
                (PreEscaped(PATTERNS))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Nothing is loaded from anywhere, and no script runs but ours.
fn policy() -> String {
    let digest = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'")
}

/// What pictures are filled with, so that they can be read without colour.
const PATTERNS: &str = include_str!("patterns.svg");

fn section((index, section): (usize, &Section)) -> String {
    let blocks = grouped(&section.blocks);
    let markup = html! {
        section id={ "s" (index) } aria-labelledby={ "h" (index) } {
            h2 id={ "h" (index) } { (short(&section.title, TITLE)) }
            @for group in blocks {
                @match group {
                    Group::One(block) => (self::block(block)),
                    Group::Tables(tables) if section.class.is_some() => {
                        details.tables {
                            summary { "The numbers: " (text::counted(tables.len() as u64, "table")) }
                            @for block in tables { (self::block(block)) }
                        }
                    }
                    Group::Tables(tables) => { @for block in tables { (self::block(block)) } }
                }
            }
        }
    };
    markup.into_string()
}

/// Blocks as they are laid out: tables that follow each other are folded together.
enum Group<'a> {
    One(&'a Block),
    Tables(Vec<&'a Block>),
}

fn grouped(blocks: &[Block]) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for block in blocks {
        let is_grid = matches!(block, Block::Table(table) if table.layout == Layout::Grid);
        match groups.last_mut() {
            Some(Group::Tables(tables)) if is_grid => tables.push(block),
            _ if is_grid => groups.push(Group::Tables(vec![block])),
            _ => groups.push(Group::One(block)),
        }
    }
    groups
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Note(note) => html! { p { (short(note, SENTENCE)) } },
        Block::Heading(heading) => html! { h3 { (heading) } },
        Block::List(points) => html! {
            ul { @for point in points { li { (short(point, SENTENCE)) } } }
        },
        Block::Commands(commands) => html! {
            pre { @for command in *commands { (command) "\n" } }
        },
        Block::Table(table) => table::draw(table),
        Block::Waterfall(drawn) => html! {
            details { summary { "Span by span" } (waterfall::draw(drawn)) }
        },
        Block::Figure(figure) => self::figure(figure),
    }
}

fn figure(figure: &Figure) -> Markup {
    html! {
        figure {
            h3 { (figure.title) }
            (drawing(figure))
            @if !figure.caption.is_empty() { figcaption { (figure.caption) } }
        }
    }
}

/// Numbers large enough to be read from the back of the room.
pub(super) fn facts(facts: &[Fact]) -> Markup {
    html! {
        ul.facts {
            @for fact in facts {
                li.alarming[fact.is_alarming] {
                    strong { (visible(&fact.value)) }
                    span { (visible(&fact.words)) }
                }
            }
        }
    }
}
