package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/webhook"
)

// maxItemBytes is the usual bound of a message's items.
const maxItemBytes = 256 << 10

// envelope is the body of every message.
type envelope struct {
	Type      string  `json:"type"`
	Timestamp string  `json:"timestamp"` // when it was made
	Data      content `json:"data"`
}

type content struct {
	Subscription string            `json:"subscription"`
	Sequence     int64             `json:"sequence"`
	Chain        string            `json:"chain"`
	Block        *about            `json:"block,omitempty"`
	Part         int64             `json:"part,omitempty"`
	Last         *bool             `json:"last,omitempty"`
	Items        []json.RawMessage `json:"items,omitempty"`
	Messages     []string          `json:"messages,omitempty"`
}

// about is the block that a message is of.
type about struct {
	Number    uint64    `json:"number"`
	Hash      felt.Felt `json:"hash"`
	Timestamp string    `json:"timestampIso,omitempty"`
}

func iso(seconds uint64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339) }

func ptr[T any](v T) *T { return &v }

// message makes the next one of a subscription.
func (j *Job) message(s *sub, kind string, c content) (*webhook.Message, error) {
	now := j.Webhooks.Now()
	c.Subscription, c.Sequence, c.Chain = s.id, s.Sequence+1, s.Chain
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(envelope{kind, now.Format(time.RFC3339Nano), c}); err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	body := string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return &webhook.Message{Sequence: c.Sequence, Type: kind, Body: body, MadeAt: now, NextAt: now}, nil
}
