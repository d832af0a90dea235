package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// reference makes the API reference from the route table and from the OpenAPI
// document as it is published: what people read is what programs read.
type reference struct {
	s          *Site
	operations map[string]contractOperation // by operation id
	schemas    map[string]*schema
}

// newReference reads the document. That it does not fit is a mistake in the table.
func newReference(s *Site, document []byte) *reference {
	var d struct {
		Paths      map[string]map[string]contractOperation `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		panic(fmt.Sprintf("site: read the OpenAPI document: %v", err))
	}
	ref := &reference{s: s, operations: map[string]contractOperation{}, schemas: d.Components.Schemas}
	for _, item := range d.Paths {
		for _, op := range item {
			ref.operations[op.OperationID] = op
		}
	}
	return ref
}

// families are the headings of the reference, in the order of the table.
func (s *Site) families() (names []string) {
	for _, r := range s.Entries() {
		if !slices.Contains(names, r.Family) {
			names = append(names, r.Family)
		}
	}
	return names
}

// families lists the operations in the order of the table.
func (ref *reference) families(at setting) []web.Family {
	var out []web.Family
	for _, r := range ref.s.Entries() {
		i := slices.IndexFunc(out, func(f web.Family) bool { return f.Name == r.Family })
		if i < 0 {
			out = append(out, web.Family{Name: r.Family, Href: familyHref(r.Family), Purpose: api.FamilyPurposes[r.Family]})
			i = len(out) - 1
		}
		out[i].Operations = append(out[i].Operations, ref.operation(r, at))
	}
	return out
}

// familyHref is the page of a family's operations.
func familyHref(family string) string {
	return "/docs/reference/" + strings.ToLower(strings.ReplaceAll(family, " ", "-"))
}

// hrefOf is where the reference explains the route.
func hrefOf(r *kernel.Route) string { return familyHref(r.Family) + "#" + r.ID }

func (ref *reference) operation(r *kernel.Route, at setting) web.Operation {
	op := ref.operations[r.ID]
	out := web.Operation{
		ID: r.ID, Method: r.Method, Path: r.Path, Summary: r.Summary, Description: r.Description,
		Certification: string(r.Certification), Tier: string(r.Tier), Scope: r.ScopeName(), Class: string(r.Class), Audience: string(r.Audience),
		Evidence: evidenceText(EvidenceFor(r.ID)),
		Example:  web.Code{Text: ref.command(at, r, op), Status: kernel.DefaultTo(r.ExampleStatus, http.StatusOK)},
	}
	for _, p := range op.Parameters {
		sc := p.Schema
		if sc == nil {
			sc = &schema{}
		}
		out.Parameters = append(out.Parameters, web.Parameter{Name: p.Name, In: p.In, Type: ref.typeName(sc), Required: p.Required,
			Default: plain(sc.Default), Bounds: bounds(sc), Description: p.Description})
	}
	usual := http.StatusOK
	if r.Retired {
		usual = http.StatusGone
	}
	if ok, found := op.Responses[strconv.Itoa(usual)]; found && ok.Content[kernel.JSONType].Schema != nil {
		top := ok.Content[kernel.JSONType].Schema
		out.Answer = ref.typeName(top)
		out.Fields = ref.fields(nil, "", top, nil)
	}
	out.Failures = ref.failures(op)
	return out
}

func evidenceText(e Evidence) string {
	if e.Checks == 0 {
		return "no recorded comparison"
	}
	return fmt.Sprintf("%s answers compared with %s (%s, %s)", web.Group(uint64(e.Checks)), e.Oracle, e.EvidenceLevel, e.CertificationScope)
}

// command is a request that works as pasted.
func (ref *reference) command(at setting, r *kernel.Route, op contractOperation) string {
	command := curl(at.origin, ref.target(r, op, at.examples))
	if r.Session {
		command = `curl -H "Authorization: Bearer $SERVICE_SESSION_TOKEN" -X ` + r.Method + " " + at.origin + ref.target(r, op, at.examples)
	}
	if r.ExampleCurl != "" {
		command += " " + r.ExampleCurl
	}
	if r.ExampleBody != nil {
		command += ` -H "Content-Type: application/json" -d '` + r.ExampleBody(at.examples) + `'`
	}
	return command
}

// target is an address that the operation answers: its path and the parameters
// that it needs. A parameter without an example in examples.go takes the
// document's own.
func (ref *reference) target(r *kernel.Route, op contractOperation, e kernel.Examples) string {
	path, query := r.Path, []string{}
	if r.Example != "" {
		query = append(query, r.Example)
	}
	for _, p := range op.Parameters {
		v, ok := forParameter(e, p.Name)
		if !ok && p.Example != nil {
			v = plain(p.Example)
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", escape(v))
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+escape(v))
		case p.In == "query" && (p.Name == "limit" || p.Name == "tx_limit"):
			query = append(query, p.Name+"=2") // an answer that fits a screen
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// failures lists the codes that belong to the statuses of an operation.
func (ref *reference) failures(op contractOperation) (out []web.Failure) {
	paged := slices.ContainsFunc(op.Parameters, func(p contractParameter) bool { return p.Name == "cursor" })
	for _, c := range sortedCodes() {
		info := kernel.Codes[c]
		_, listed := op.Responses[strconv.Itoa(info.Status)]
		if !listed || c == kernel.CodeUnsupportedRoute || c == kernel.CodeInvalidCursor && !paged {
			continue
		}
		out = append(out, web.Failure{Status: info.Status, Code: string(c), Slug: info.Slug, Title: info.Title})
	}
	return out
}

// sortedCodes lists all codes by status and name.
func sortedCodes() []kernel.Code {
	out := make([]kernel.Code, 0, len(kernel.Codes))
	for c := range kernel.Codes {
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := kernel.Codes[out[i]].Status, kernel.Codes[out[j]].Status; a != b {
			return a < b
		}
		return out[i] < out[j]
	})
	return out
}
