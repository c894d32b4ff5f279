"""Runs every queries/*.sql of a folder of Parquet tables in DuckDB, unchanged.

Prints one JSON object a line: name, columns and rows; or name and error.
"""

import decimal
import json
import pathlib
import sys

import duckdb


def plain(value):
    return int(value) if isinstance(value, decimal.Decimal) else value


tables, queries = map(pathlib.Path, sys.argv[1:])
connection = duckdb.connect()
for table in sorted(tables.glob("*.parquet")):
    connection.execute(f"CREATE VIEW {table.stem} AS SELECT * FROM read_parquet('{table}')")
for query in sorted(queries.glob("*.sql")):
    try:
        answer = connection.execute(query.read_text())
        columns = [column[0] for column in answer.description]
        rows = [[plain(value) for value in row] for row in answer.fetchall()]
        print(json.dumps({"name": query.stem, "columns": columns, "rows": rows}))
    except duckdb.Error as error:
        print(json.dumps({"name": query.stem, "error": str(error)}))
