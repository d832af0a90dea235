"""Runs the queries of a JSON list on standard input and prints their rows as JSON, all values as text."""

import json
import sys

import duckdb

answers = []
for query in json.load(sys.stdin):
    rows = duckdb.sql(query).fetchall()
    answers.append([[None if v is None else str(v) for v in row] for row in rows])
json.dump(answers, sys.stdout)
