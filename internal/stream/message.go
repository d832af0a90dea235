package stream

import (
	"encoding/json"
	"strings"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// message is the data of an event.
type message struct {
	ID    string   `json:"id"`
	Type  string   `json:"type"`
	Chain string   `json:"chain"`
	Block *blockOf `json:"block,omitempty"`
	Part  uint32   `json:"part,omitempty"`
	Last  *bool    `json:"lastPart,omitempty"`
	Items any      `json:"items,omitempty"`
	// Code and Message are of an end.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type blockOf struct {
	Number    uint64    `json:"number"`
	Hash      felt.Felt `json:"hash"`
	Timestamp string    `json:"timestampIso,omitempty"`
}

func partMessage(chain, kind, id string, b *feed.Block) string {
	return frame(&message{ID: id, Type: kind, Chain: chain, Block: &blockOf{b.Number, b.Hash, kernel.TimestampISO(b.Timestamp)}, Part: b.Part, Last: &b.Last, Items: b.Items})
}

// retractedMessage names the block that everything goes back to, and the blocks that are gone.
func retractedMessage(chain, id string, to block.Ref, gone []block.Ref) string {
	items := make([]blockOf, len(gone))
	for i, b := range gone {
		items[i] = blockOf{Number: b.Number, Hash: b.Hash}
	}
	return frame(&message{ID: id, Type: "retracted", Chain: chain, Block: &blockOf{Number: to.Number, Hash: to.Hash}, Items: items})
}

func endMessage(chain, id string, why *end) string {
	text := frame(&message{ID: id, Type: "end", Chain: chain, Code: why.code, Message: why.message})
	if why == endDone {
		return text
	}
	return "retry: " + pause() + "\n" + text
}

// frame writes a message as an event: its data is one line, as JSON has no raw line ends.
func frame(m *message) string {
	var data strings.Builder
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic(err) // texts, numbers, and rows that are JSON already
	}
	return "id: " + m.ID + "\nevent: " + m.Type + "\ndata: " + data.String() + "\n"
}
