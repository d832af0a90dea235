package traces

import (
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// encode writes an ExportTraceServiceRequest of OTLP in Protocol Buffers. The numbers are
// those of opentelemetry/proto/trace/v1/trace.proto and its neighbours. All spans are of
// one process and one tracer, so that there is one resource and one scope.
func encode(spans []sdk.ReadOnlySpan) []byte {
	var scoped []byte
	scope := spans[0].InstrumentationScope()
	scoped = message(scoped, 1, text(text(nil, 1, scope.Name), 2, scope.Version))
	for _, s := range spans {
		scoped = message(scoped, 2, encodeSpan(s))
	}
	var resource []byte
	for _, a := range spans[0].Resource().Attributes() {
		resource = message(resource, 1, encodeAttribute(a))
	}
	return message(nil, 1, message(message(nil, 1, resource), 2, scoped))
}

func encodeSpan(s sdk.ReadOnlySpan) []byte {
	traceID, spanID := s.SpanContext().TraceID(), s.SpanContext().SpanID()
	b := message(nil, 1, traceID[:])
	b = message(b, 2, spanID[:])
	b = text(b, 3, s.SpanContext().TraceState().String())
	if parent := s.Parent().SpanID(); parent.IsValid() {
		b = message(b, 4, parent[:])
	}
	b = text(b, 5, s.Name())
	b = number(b, 6, uint64(s.SpanKind())) // the SDK's numbers are the protocol's
	b = moment(b, 7, s.StartTime())
	b = moment(b, 8, s.EndTime())
	for _, a := range s.Attributes() {
		b = message(b, 9, encodeAttribute(a))
	}
	if status := s.Status(); status.Code != codes.Unset {
		code := uint64(1) // it went well
		if status.Code == codes.Error {
			code = 2
		}
		b = message(b, 15, number(text(nil, 2, status.Description), 3, code))
	}
	return b
}

// encodeAttribute writes a KeyValue. What is neither text, number nor truth is told as text.
func encodeAttribute(a attribute.KeyValue) []byte {
	var value []byte
	switch a.Value.Type() {
	case attribute.BOOL:
		value = protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), protowire.EncodeBool(a.Value.AsBool()))
	case attribute.INT64:
		value = protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(a.Value.AsInt64()))
	default:
		// A path may hold any bytes, and a collector refuses a whole batch for text that is none.
		value = message(nil, 1, []byte(strings.ToValidUTF8(a.Value.String(), "\ufffd")))
	}
	return message(text(nil, 1, string(a.Key)), 2, value)
}

func message(b []byte, field protowire.Number, part []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), part)
}

// text leaves the empty one out, as the protocol has it.
func text(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func moment(b []byte, field protowire.Number, t time.Time) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), uint64(t.UnixNano()))
}
