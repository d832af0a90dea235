module github.com/cockroachdb/errors

go 1.26.8

require github.com/cockroachdb/redact v1.1.8
