package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"chainexplorer/internal/backoff"
)

// StreamFilter says what a stream tells of. Values of one field are alternatives, fields must
// all match; docs/streams.md tells which kind takes which.
type StreamFilter struct {
	// Kind is block, transaction, event, transfer, finality or fork.
	Kind    string
	Address []string
	// Topics are the values of an event's keys, by position.
	Topics          [][]string
	Token, From, To []string
	// FromBlock is the first block; nil begins with the next one.
	FromBlock *int64
	// LastEventID goes on behind a message that was heard before. FromBlock does not count then.
	LastEventID string
}

// StreamMessage is what a stream tells of one block.
type StreamMessage struct {
	// ID is the place behind the message: keep it, as LastEventID of the next stream.
	ID string `json:"id"`
	// Type is the kind of the filter, or retracted: forget everything that came from blocks
	// above Block then.
	Type  string `json:"type"`
	Chain string `json:"chain"`
	Block struct {
		Ref
		TimestampISO string `json:"timestampIso"`
	} `json:"block"`
	// Part counts the messages of a block with many items, from 1, and LastPart is true for
	// the last of them.
	Part     int  `json:"part"`
	LastPart bool `json:"lastPart"`
	// Items are rows of the lists of the same things, such as EventRow; of a retraction the
	// blocks that are gone, as far as they are known.
	Items []json.RawMessage `json:"items"`

	code string // of an end
}

// Retracted says that a fork took back everything above Block.
func (m *StreamMessage) Retracted() bool { return m.Type == "retracted" }

const (
	// streamSilence is how long a stream may say nothing: it gives a sign of life much more often.
	streamSilence = time.Minute
	// streamPatience is how many times Options.Attempts a stream is asked for in vain.
	streamPatience = 4
)

// Stream tells what happens on the chain, as it happens. It comes back by itself when it was
// cut off, behind the last message, also through forks. It ends with the context, and with an
// error that coming back does not help against; stream_place_gone is the Reason of one when
// what was missed can only be read from the lists.
func (c *Chain) Stream(ctx context.Context, f StreamFilter) iter.Seq2[StreamMessage, error] {
	return func(yield func(StreamMessage, error) bool) {
		s := &streamer{chain: c, filter: f, id: f.LastEventID, pause: time.Second}
		for failed := 0; ; {
			heard, stopped, err := s.listen(ctx, yield)
			if stopped {
				return
			}
			if heard {
				failed = 0
			}
			wait := min(s.pause, c.client.options.MaxWait)
			if err != nil {
				failed++
				later, again := c.client.retry(request{again: true}, err, min(failed, c.client.options.Attempts))
				if !again || failed >= streamPatience*c.client.options.Attempts || later > c.client.options.MaxWait {
					yield(StreamMessage{}, err)
					return
				}
				wait = max(wait, later)
			}
			if err := backoff.Wait(ctx, wait); err != nil {
				yield(StreamMessage{}, err)
				return
			}
		}
	}
}

// streamer is a stream and how far it has come.
type streamer struct {
	chain  *Chain
	filter StreamFilter
	id     string
	pause  time.Duration // before it comes back, as the service says
}

func (s *streamer) query() url.Values {
	v := url.Values{}
	addText(v, "kind", s.filter.Kind)
	addTexts(v, "address", s.filter.Address)
	addTexts(v, "token", s.filter.Token)
	addTexts(v, "from", s.filter.From)
	addTexts(v, "to", s.filter.To)
	for i, values := range s.filter.Topics {
		addTexts(v, "topic"+strconv.Itoa(i), values)
	}
	if s.filter.FromBlock != nil && s.id == "" {
		v.Set("from_block", number(*s.filter.FromBlock))
	}
	return v
}

// listen tells what one connection brings. heard says that it brought anything, stopped that
// nobody listens any more. An error is why there was no stream; one that was cut off has none.
func (s *streamer) listen(ctx context.Context, yield func(StreamMessage, error) bool) (heard, stopped bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := s.chain.client
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+"/v1/"+url.PathEscape(s.chain.id)+"/stream?"+s.query().Encode(), nil)
	if err != nil {
		return false, false, fmt.Errorf("streamFeed: %w", err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", c.options.UserAgent)
	if c.options.APIKey != "" {
		req.Header.Set("X-Service-Api-Key", c.options.APIKey)
	}
	if s.id != "" {
		req.Header.Set("Last-Event-ID", s.id)
	}
	lasting := *c.http
	lasting.Timeout = 0 // silence ends a stream, and not its age
	silent := time.AfterFunc(streamSilence, cancel)
	defer silent.Stop()
	res, err := lasting.Do(req)
	if err != nil {
		return false, false, &transportError{operation: "streamFeed", err: err}
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if res.StatusCode != http.StatusOK {
		data, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		if err != nil {
			return false, false, &transportError{operation: "streamFeed", err: err}
		}
		return false, false, errorOf("streamFeed", res, data)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 64<<10), int(min(c.options.MaxAnswer, 1<<30)))
	var data []byte
	id := s.id
	for lines.Scan() {
		silent.Reset(streamSilence)
		heard = true
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(name) == "id":
			id = string(value)
		case string(name) == "retry":
			if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 && ms < 1<<30 {
				s.pause = time.Duration(ms) * time.Millisecond
			}
		case string(name) == "data":
			data = append(data[:0], value...) // of ours each has one line
		case len(lines.Bytes()) > 0: // a comment, or the name of the event, which its data has too
		default:
			s.id = id // only now is it known that nothing of it was cut off
			if len(data) == 0 {
				continue
			}
			m, err := messageOf(data)
			if data = data[:0]; err != nil {
				return heard, false, err
			}
			switch {
			case m.Type != "end":
				if !yield(m, nil) {
					return heard, true, nil
				}
			case m.code == "stream_place_gone":
				return heard, false, &Error{Operation: "streamFeed", Status: http.StatusBadRequest, Code: "invalid_cursor", Reason: m.code, Message: "A fork is deeper than the stream can tell."}
			default:
				return heard, false, nil
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return heard, false, fmt.Errorf("streamFeed: a message has more than %d bytes", c.options.MaxAnswer)
	}
	return heard, false, nil // it was cut off: that is what ids are for
}

func messageOf(data []byte) (m StreamMessage, err error) {
	var end struct {
		Code string `json:"code"`
	}
	if err := errors.Join(json.Unmarshal(data, &m), json.Unmarshal(data, &end)); err != nil {
		return m, fmt.Errorf("streamFeed: a message cannot be read: %w", err)
	}
	m.code = end.Code
	return m, nil
}
