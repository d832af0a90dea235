// Package card draws the picture that chats and other sharers show of a page: 1200 by 630
// points, a few words and numbers on calm paper, as PNG, because hardly any of them takes
// SVG.
//
// What it draws comes from the facts of a page and never from an address that somebody
// typed. It has its own letters (font.go), so that nothing is loaded and a stranger's
// text can draw nothing but them. A picture has few colours and whole cells, and so a few
// kilobytes.
//
// Cost: a buffer of three quarters of a megabyte, which is used again, and some
// milliseconds of one processor, most of them for the compression.
package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"
)

// Wide and High are the size that sharers ask for.
const Wide, High = 1200, 630

// Card is what a picture says.
type Card struct {
	// Kind is what the page is of, such as Block, and Title which one.
	Kind, Title string
	// Facts are at most four short lines.
	Facts []string
	// Foot says where that is.
	Foot string
	// Cells is a picture of five by five cells, by rows, which helps to tell addresses
	// apart; nil for none.
	Cells *[5][5]bool
}

// The colours, which are those of the light pages.
const (
	paper = iota
	ink
	quiet
	accent
	pale
)

var palette = color.Palette{
	paper:  color.RGBA{0xfb, 0xfa, 0xf8, 0xff},
	ink:    color.RGBA{0x1c, 0x1c, 0x22, 0xff},
	quiet:  color.RGBA{0x63, 0x63, 0x6e, 0xff},
	accent: color.RGBA{0x2a, 0x5d, 0xb0, 0xff},
	pale:   color.RGBA{0xe3, 0xe1, 0xdc, 0xff},
}

// The places of things, in points.
const (
	margin   = 80
	kindAt   = 84
	titleAt  = 168
	factsAt  = 320
	lineHigh = 58
	footAt   = High - 76
	picture  = 200 // of a side
)

var (
	canvases = sync.Pool{New: func() any { return image.NewPaletted(image.Rect(0, 0, Wide, High), palette) }}
	encoder  = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &buffers{}}
)

// buffers keeps what the encoder needs.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	kept, _ := b.pool.Get().(*png.EncoderBuffer)
	return kept
}

func (b *buffers) Put(kept *png.EncoderBuffer) { b.pool.Put(kept) }

// PNG draws the picture.
func (c *Card) PNG() ([]byte, error) {
	on := canvases.Get().(*image.Paletted)
	defer canvases.Put(on)
	clear(on.Pix)
	box(on, 0, 0, 20, High, accent)
	box(on, margin, footAt-28, Wide-2*margin, 2, pale)
	write(on, margin, kindAt, 5, quiet, fit(c.Kind, 34))
	room := Wide - 2*margin
	if c.Cells != nil {
		room -= picture + 40
		c.draw(on, Wide-margin-picture, kindAt)
	}
	// The title is as large as it fits.
	title := fit(c.Title, 40)
	size := 12
	for size > 4 && len(title)*advance*size > room {
		size--
	}
	if most := room / (advance * size); len(title) > most {
		title = append(title[:most-1], '…')
	}
	write(on, margin, titleAt, size, ink, title)
	for i, text := range c.Facts[:min(len(c.Facts), 4)] {
		write(on, margin, factsAt+i*lineHigh, 4, ink, fit(text, (Wide-2*margin)/(advance*4)))
	}
	write(on, margin, footAt, 3, quiet, fit(c.Foot, 56))
	var out bytes.Buffer
	if err := encoder.Encode(&out, on); err != nil {
		return nil, fmt.Errorf("draw a card: %w", err)
	}
	return out.Bytes(), nil
}

// draw puts the cells into a square.
func (c *Card) draw(on *image.Paletted, left, top int) {
	const side = picture / 5
	for y, row := range c.Cells {
		for x, set := range row {
			if set {
				box(on, left+x*side, top+y*side, side, side, accent)
			}
		}
	}
}

// write puts letters on a line; size is that of a cell.
func write(on *image.Paletted, left, top, size int, shade uint8, text []rune) {
	for i, r := range text {
		for y, row := range glyphs[r] {
			for x := range glyphWide {
				if row>>x&1 == 1 {
					box(on, left+(i*advance+x)*size, top+y*size, size, size, shade)
				}
			}
		}
	}
}

// box fills a part of the picture, as far as it lies in it.
func box(on *image.Paletted, left, top, wide, high int, shade uint8) {
	area := image.Rect(left, top, left+wide, top+high).Intersect(on.Rect)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		line := on.Pix[y*on.Stride+area.Min.X : y*on.Stride+area.Max.X]
		for i := range line {
			line[i] = shade
		}
	}
}
