package get

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"chainexplorer/client"
)

// Operations are those that a command stands for: what is read with a key, and needs no body.
func Operations() []client.Operation {
	var out []client.Operation
	for _, o := range client.Operations {
		if o.Method == "GET" && (o.Scope == "read" || o.Scope == "partner") && o.ID != "getTokenHoldings" { // which is retired
			out = append(out, o)
		}
	}
	return out
}

// Name is the command of an operation: its path without what varies, so that who knows the
// API knows the command. /v1/{chain}/address/{address}/activity is address-activity. One of a
// list that is named by its id is in the singular: /webhooks/{webhook_id} is webhook.
func Name(o *client.Operation) string {
	var words []string
	for part := range strings.SplitSeq(o.Path, "/") {
		if n := len(words); n > 0 && part == "{"+strings.TrimSuffix(words[n-1], "s")+"_id}" {
			words[n-1] = strings.TrimSuffix(words[n-1], "s")
		}
		if part != "" && part != "v1" && part != "meta" && part[0] != '{' {
			words = append(words, part)
		}
	}
	return strings.Join(words, "-")
}

// Plugins are the commands, for the parser of the command line.
func Plugins() kong.Plugins {
	var out kong.Plugins
	for _, o := range Operations() {
		var fields []reflect.StructField
		for _, p := range o.Parameters {
			if p.Name == "chain" {
				continue
			}
			fields = append(fields, field(&p))
		}
		command := reflect.StructField{Name: "Command", Type: reflect.StructOf(fields), Tag: tag("cmd", "", "name", Name(&o), "help", plain(o.Summary)+".", "group", o.Group)}
		out = append(out, reflect.New(reflect.StructOf([]reflect.StructField{command})).Interface())
	}
	return out
}

func field(p *client.Parameter) reflect.StructField {
	f := reflect.StructField{Name: "P" + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, p.Name), Type: reflect.TypeFor[string]()}
	pairs := []string{"name", flagName(p.Name), "help", plain(p.Description)}
	if p.Repeated {
		f.Type = reflect.TypeFor[[]string]()
		pairs = append(pairs, "sep", "none")
	}
	if p.Required {
		pairs = append([]string{"arg", ""}, pairs...)
	} else {
		pairs = append(pairs, "placeholder", "VALUE")
	}
	if len(p.Enum) > 0 && !p.Repeated {
		pairs = append(pairs, "enum", strings.Join(p.Enum, ",")+",")
		if !p.Required {
			pairs = append(pairs, "default", "")
		}
	}
	f.Tag = tag(pairs...)
	return f
}

// tag writes pairs of names and values.
func tag(pairs ...string) reflect.StructTag {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(pairs[i] + ":" + strconv.Quote(pairs[i+1]) + " ")
	}
	return reflect.StructTag(b.String())
}

// plain is a text without what the parser would replace.
func plain(text string) string {
	return strings.NewReplacer("`", "", "$", "", "{", "", "}", "").Replace(text)
}

// flagName is how a parameter is written on a command line: from_block and fromBlock are
// from-block.
func flagName(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_':
			b.WriteByte('-')
		case unicode.IsUpper(r) && i > 0:
			b.WriteByte('-')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// Selected is the operation that a command line chose, and its parameters; nil when it chose
// something else.
func Selected(k *kong.Context) (*client.Operation, url.Values) {
	node := k.Selected()
	if node == nil || node.Parent == nil || node.Parent.Name != "get" {
		return nil, nil
	}
	for _, o := range Operations() {
		if Name(&o) != node.Name {
			continue
		}
		given := url.Values{}
		read := func(v *kong.Value) {
			for _, p := range o.Parameters {
				if flagName(p.Name) != v.Name || p.Name == "chain" {
					continue
				}
				switch to := v.Target.Interface().(type) {
				case string:
					if to != "" {
						given.Set(p.Name, to)
					}
				case []string:
					if len(to) > 0 {
						given[p.Name] = to
					}
				}
			}
		}
		for _, f := range node.Flags {
			read(f.Value)
		}
		for _, p := range node.Positional {
			read(p)
		}
		return &o, given
	}
	return nil, nil
}
