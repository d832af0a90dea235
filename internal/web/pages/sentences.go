package pages

import (
	"regexp"
	"strconv"
	"strings"
)

// What the API refuses it tells programs: a message names the parameter as the request did.
// People see a page with fields and links, and are told the same in sentences.

// lead is how messages of the API begin that are about a parameter.
var lead = regexp.MustCompile(`^(path|query|body|header)(?:\.([a-zA-Z0-9_\[\]-]+))?: `)

// parameterWords are what people call the parameters of routes and of pages.
var parameterWords = map[string]string{
	"number_or_hash": "block", "block_number": "block", "block": "block", "ref": "block", "block_tag": "block",
	"from_block": "first block", "to_block": "last block", "timestamp": "moment", "at": "moment",
	"timestampFrom": "first day", "timestampTo": "last day", "since": "first day", "until": "last day",
	"tx_hash": "hash of the transaction", "txHash": "hash of the transaction", "class_hash": "hash of the class",
	"messageHash": "hash of the message", "message_hash": "hash of the message",
	"address": "address", "token": "token", "contract": "contract", "bridge": "bridge", "chain": "chain", "q": "search",
	"direction": "direction", "type": "kind", "sort": "order", "instanceSort": "order", "order": "order", "range": "range",
	"cursor": "place in the list", "instanceCursor": "place in the list", "before": "place in the list", "from": "place in the list",
	"limit": "number of rows", "rows": "number of rows", "instanceLimit": "number of rows",
	"topic0": "event", "event": "event", "calldata": "calldata", "function": "function",
}

// machineWords stand inside of messages.
var machineWords = strings.NewReplacer("topic1 to topic15", "the keys", "from_block to to_block", "the range", "from_block", "the first block", "to_block", "the last block", "timestampTo", "the last day", "topic0", "an event",
	"expected length <=", "it is too long: the most is", "expected length >=", "it is too short: the least is")

// offered is how the API lists the values of a parameter. People choose one of a list.
var offered = regexp.MustCompile(`expected value to be one of "[^"]*"`)

// sentence tells people what a message of the API says.
func sentence(message string) string {
	m := lead.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	name, rest := m[2], message[len(m[0]):]
	if rest == "" {
		return message
	}
	if rest = offered.ReplaceAllString(machineWords.Replace(rest), "it is none of those that can be chosen"); !strings.HasSuffix(rest, ".") {
		rest += "."
	}
	what := parameterWords[name]
	if n, ok := strings.CutPrefix(name, "topic"); ok && what == "" {
		if i, err := strconv.Atoi(n); err == nil {
			what = "key " + strconv.Itoa(i)
		}
	}
	switch {
	case what == "":
		return strings.ToUpper(rest[:1]) + rest[1:]
	case strings.HasPrefix(what, "key "):
		return strings.ToUpper(what[:1]) + what[1:] + " is wrong: " + rest
	}
	return "The " + what + " is wrong: " + rest
}
