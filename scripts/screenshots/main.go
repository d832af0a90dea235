// Command screenshots makes the pictures of the README: it starts the demo, opens its
// pages in a browser, and writes what it sees into docs.
//
//	go run ./scripts/screenshots            at the root of the module
//
// The chains of the demo have the same history each time, but for their times and what
// follows from them: hashes, and ages.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"os/signal"
	"path/filepath"

	"chainexplorer/internal/web/walk"
)

// largest bounds a picture: every clone of the sources has it.
const largest = 200 << 10

// picture is one of the README.
type picture struct {
	file string
	path func(context.Context, *walk.Demo) (string, error)
	dark bool
}

var pictures = []picture{
	{"home.png", at("/"), false},
	{"transaction.png", busiest, true},
}

// busiest is the transaction that moved the most tokens, of the newest.
func busiest(ctx context.Context, d *walk.Demo) (string, error) {
	const chain = "SN_SEPOLIA"
	var list struct{ Items []struct{ TxHash string } }
	if err := d.JSON(ctx, "/v1/"+chain+"/txs?limit=40", &list); err != nil {
		return "", err
	}
	path, most := "", -1
	for _, i := range list.Items {
		var tx struct{ TokenTransfers []struct{} }
		if err := d.JSON(ctx, "/v1/"+chain+"/tx/"+i.TxHash, &tx); err != nil {
			return "", err
		}
		if n := len(tx.TokenTransfers); n > most {
			path, most = "/"+chain+"/tx/"+i.TxHash, n
		}
	}
	return path, nil
}

func at(path string) func(context.Context, *walk.Demo) (string, error) {
	return func(context.Context, *walk.Demo) (string, error) { return path, nil }
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "screenshots-")
	if err != nil {
		return fmt.Errorf("a folder for the program: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of no use to anybody
	exe, err := walk.Build(ctx, dir)
	if err != nil {
		return err
	}
	d, err := walk.Start(ctx, exe, dir, "--seed=1", "--blocks=200", "--interval=30s", "--fork-rate=0")
	if err != nil {
		return err
	}
	defer d.Stop() //nolint:errcheck // the pictures are made
	b, end, err := walk.Open(ctx, "")
	if err != nil {
		return err
	}
	defer end()
	for _, p := range pictures {
		if err := take(ctx, d, b, p); err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
	}
	return nil
}

func take(ctx context.Context, d *walk.Demo, b *walk.Browser, p picture) error {
	path, err := p.path(ctx, d)
	if err != nil {
		return err
	}
	screen := walk.Screen{Width: 1200, Height: 850, Dark: p.dark}
	if err := b.Show(screen); err != nil {
		return err
	}
	look, err := b.Visit(d.Base + path)
	if err != nil {
		return err
	}
	if problems := look.Problems(screen, d.Base); len(problems) > 0 {
		return fmt.Errorf("the page is not fit to be shown: %q", problems)
	}
	taken, err := b.Picture()
	if err != nil {
		return err
	}
	// The browser compresses for speed, and in all colours.
	img, err := png.Decode(bytes.NewReader(taken))
	if err != nil {
		return fmt.Errorf("read the picture: %w", err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, paletted(img)); err != nil {
		return fmt.Errorf("compress the picture: %w", err)
	}
	if small.Len() > largest {
		return fmt.Errorf("the picture has %d bytes", small.Len())
	}
	fmt.Printf("%s: %s, %d bytes\n", p.file, path, small.Len())
	return os.WriteFile(filepath.Join("docs", p.file), small.Bytes(), 0o644)
}
