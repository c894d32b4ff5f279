//! The tables of `fixtures/cases/*.expected.json` as rows. Columns that a case does not have are
//! null, or zero where they may not be; what had passed at a root's end is what its segments sum to.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::DataType;
use dwindle::span::Interner;
use dwindle::tables::{Row, Tables};
use serde_json::Value;

/// The names of all cases, in order.
pub fn names() -> Vec<String> {
    let files = std::fs::read_dir("fixtures/cases").expect("fixtures/cases");
    let name = |file: std::io::Result<std::fs::DirEntry>| {
        let file = file.expect("a readable folder").file_name().into_string().expect("UTF-8");
        file.strip_suffix(".expected.json").map(str::to_owned)
    };
    let mut names: Vec<String> = files.filter_map(name).collect();
    names.sort();
    names
}

/// The tables of one case.
pub fn load(name: &str) -> Tables {
    let path = format!("fixtures/cases/{name}.expected.json");
    let text = std::fs::read_to_string(&path).expect(&path);
    let document: Value = serde_json::from_str(&text).expect(&path);
    let mut strings = Interner::default();
    let mut tables = Tables {
        requests: rows(&document, &mut strings),
        hops: rows(&document, &mut strings),
        attempts: rows(&document, &mut strings),
        segments: rows(&document, &mut strings),
        findings: rows(&document, &mut strings),
        outline: Vec::new(),
        stays: Vec::new(),
        strings,
    };
    for request in &mut tables.requests {
        let id = (request.trace_id, request.root_span_id);
        let segments = tables.segments.iter().filter(|row| (row.trace_id, row.root_span_id) == id);
        request.elapsed_ns = segments.map(|row| row.duration_ns).sum();
    }
    tables
}

fn rows<R: Row>(document: &Value, strings: &mut Interner) -> Vec<R> {
    let rows = document[R::TABLE.name].as_array().expect(R::TABLE.name);
    let schema = R::TABLE.arrow_schema();
    let column = |field: &Arc<arrow_schema::Field>| {
        // What the cases do not tell.
        let untold = match field.name().as_str() {
            "evidence" => Value::from("declared"),
            "certainty" => Value::from("certain"),
            _ => Value::Null,
        };
        let told = |row: &Value| row.get(field.name()).unwrap_or(&untold).clone();
        let cells: Vec<Value> = rows.iter().map(told).collect();
        let cells: Vec<&Value> = cells.iter().collect();
        column(field.data_type(), &cells, field.is_nullable())
    };
    let columns = schema.fields().iter().map(column).collect();
    let batch = RecordBatch::try_new(schema, columns).expect("columns as declared");
    R::from_batch(&batch, strings).expect("rows as declared")
}

fn column(data_type: &DataType, cells: &[&Value], nullable: bool) -> ArrayRef {
    let zero = |missing: Option<i64>| if nullable { missing } else { missing.or(Some(0)) };
    match data_type {
        DataType::Int64 => {
            Arc::new(cells.iter().map(|cell| zero(cell.as_i64())).collect::<Int64Array>())
        }
        DataType::Int32 => {
            let narrow = |cell: &&Value| zero(cell.as_i64()).map(|n| i32::try_from(n).expect("32"));
            Arc::new(cells.iter().map(narrow).collect::<Int32Array>())
        }
        DataType::Float64 => {
            Arc::new(cells.iter().map(|cell| cell.as_f64()).collect::<Float64Array>())
        }
        DataType::Boolean => {
            let truth =
                |cell: &&Value| if nullable { cell.as_bool() } else { Some(**cell == true) };
            Arc::new(cells.iter().map(truth).collect::<BooleanArray>())
        }
        DataType::Utf8 => Arc::new(cells.iter().map(|cell| cell.as_str()).collect::<StringArray>()),
        _ => {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for cell in cells {
                for name in cell.as_array().into_iter().flatten() {
                    builder.values().append_value(name.as_str().expect("text"));
                }
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
    }
}
