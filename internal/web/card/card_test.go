package card_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"chainexplorer/internal/web/card"
)

// most is how large a picture may be.
const most = 60 << 10

func drawn(t *testing.T, c card.Card) []byte {
	t.Helper()
	text, err := c.PNG()
	if err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if size := p.Bounds().Size(); size.X != card.Wide || size.Y != card.High || len(text) > most {
		t.Errorf("%q: %v in %d bytes", c.Title, size, len(text))
	}
	return text
}

// TestCard: pictures have their size whatever they say, the same words have the same
// picture, and other words another one.
func TestCard(t *testing.T) {
	var cells [5][5]bool
	cells[1][2], cells[4][4] = true, true
	full := card.Card{Kind: "Block", Title: "1,234,567", Facts: []string{"12 transactions", "2026-01-01 10:00:00 UTC", "accepted on L1", "four"}, Foot: "SN_MAIN · Chain Explorer"}
	plain := drawn(t, full)
	if !bytes.Equal(plain, drawn(t, full)) {
		t.Error("the same words are drawn otherwise")
	}
	for what, change := range map[string]func(*card.Card){
		"kind": func(c *card.Card) { c.Kind = "Token" }, "title": func(c *card.Card) { c.Title = "1,234,568" }, "a fact": func(c *card.Card) { c.Facts = []string{"13 transactions"} },
		"foot": func(c *card.Card) { c.Foot = "SN_SEPOLIA" }, "cells": func(c *card.Card) { c.Cells = &cells },
	} {
		other := full
		if change(&other); bytes.Equal(plain, drawn(t, other)) {
			t.Errorf("another %s makes no difference", what)
		}
	}
}

// TestHostileCard: what strangers write is cut, and has no letters but ours.
func TestHostileCard(t *testing.T) {
	drawn(t, card.Card{Kind: strings.Repeat("W", 5000), Title: strings.Repeat("0x", 5000), Facts: []string{strings.Repeat("M", 9000), "", "\x00\n", "x", "five", "six"}, Foot: strings.Repeat("#", 999)})
	drawn(t, card.Card{})
	hidden := drawn(t, card.Card{Kind: "Token", Title: "\u202eUSDC\u0441\u0000💰"})
	if !bytes.Equal(hidden, drawn(t, card.Card{Kind: "Token", Title: "USDC"})) {
		t.Error("characters without a drawing are drawn")
	}
}

func BenchmarkCard(b *testing.B) {
	c := card.Card{Kind: "Block", Title: "1,234,567", Facts: []string{"12 transactions", "2026-01-01 10:00:00 UTC"}, Foot: "SN_MAIN"}
	for b.Loop() {
		if _, err := c.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}
