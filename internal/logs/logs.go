// Package logs is how a process writes what it has to say of itself: as text for a person and as JSON
// for a machine, alike in what they say.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"
)

// New writes records as text or as JSON: durations as a person reads them, names and not numbers,
// and no key twice. What it writes as JSON it writes by the line, and those of requests by itself.
func New(w io.Writer, text bool, level slog.Level) slog.Handler {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if text {
		return newUniqueKeys(slog.NewTextHandler(w, opts), nil)
	}
	all := &lines{w: w}
	return &requests{newUniqueKeys(slog.NewJSONHandler(all, opts), nil), all}
}

// readable writes values out that JSON would have as numbers.
func readable(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindDuration:
		a.Value = slog.StringValue(roundDuration(a.Value.Duration()).String())
	case slog.KindAny:
		if s, ok := a.Value.Any().(fmt.Stringer); ok {
			a.Value = slog.StringValue(s.String())
		}
	}
	return a
}

// roundDuration keeps what matters of a duration: 1.234567891s reads 1.235s.
func roundDuration(d time.Duration) time.Duration {
	switch size := d.Abs(); {
	case size >= time.Minute:
		return d.Round(time.Second)
	case size >= time.Second:
		return d.Round(time.Millisecond)
	case size >= time.Millisecond:
		return d.Round(time.Microsecond)
	default:
		return d
	}
}

// uniqueKeys keeps a key from standing twice in a record, which readers of JSON take
// in different ways. The last one, which is nearest to the event, stays.
type uniqueKeys struct {
	slog.Handler              // without attrs
	attrs        []slog.Attr  // that all records have
	with         slog.Handler // the same with attrs, for records that repeat none
}

func newUniqueKeys(h slog.Handler, attrs []slog.Attr) *uniqueKeys {
	return &uniqueKeys{h, attrs, h.WithAttrs(attrs)}
}

// WithAttrs keeps the attributes until it is known which of them stay.
func (h *uniqueKeys) WithAttrs(attrs []slog.Attr) slog.Handler {
	return newUniqueKeys(h.Handler, unique(slices.Concat(h.attrs, attrs)))
}

// WithGroup begins names of their own.
func (h *uniqueKeys) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return newUniqueKeys(h.with.WithGroup(name), nil)
}

// Handle writes a record with every key once. Hardly any has one twice, the one of every
// request least of all: such a record is passed on as it is.
func (h *uniqueKeys) Handle(ctx context.Context, r slog.Record) error {
	if !h.repeats(r) {
		return h.with.Handle(ctx, r)
	}
	all := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		all = append(all, a)
		return true
	})
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	out.AddAttrs(unique(all)...)
	return h.Handler.Handle(ctx, out)
}

// repeats says that a record has a key twice, or too many to tell quickly.
func (h *uniqueKeys) repeats(r slog.Record) (twice bool) {
	var keys [24]string
	n := 0
	r.Attrs(func(a slog.Attr) bool {
		twice = n == len(keys) || slices.Contains(keys[:n], a.Key) ||
			len(h.attrs) > 0 && slices.ContainsFunc(h.attrs, func(b slog.Attr) bool { return b.Key == a.Key })
		if !twice {
			keys[n] = a.Key
			n++
		}
		return !twice
	})
	return twice
}

// unique drops every attribute whose key comes again.
func unique(attrs []slog.Attr) []slog.Attr {
	kept := attrs[:0]
	for i, a := range attrs {
		if !slices.ContainsFunc(attrs[i+1:], func(b slog.Attr) bool { return b.Key == a.Key }) {
			kept = append(kept, a)
		}
	}
	return kept
}
