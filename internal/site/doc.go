// Package site is the documents of the service: the OpenAPI document with what
// programs that read it want to know, the reference, guides and pages that are
// written from it, and what programs find their way by.
//
// Documents depend on the program, on how the service is reached, and on a few
// things of the chain that examples name. Each is written once and kept; the first
// page, which shows the chain as it is, for a moment.
package site
