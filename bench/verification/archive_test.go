// Package verification measures what exact verification costs the service: reading an archive with all its checks,
// against expanding and digesting the same bytes without a look at them (MB/s are of the tar inside); a job in the
// control database, against one transaction; a build, against the compiler alone. It also measures whether the time of an
// answer tells a job of others from none.
package verification

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"chainexplorer/internal/verification/archive"
)

// words are what sources are made of, so that they are compressed as those are.
var words = strings.Fields(`use mod fn let mut impl of trait struct felt252 u256 ContractAddress starknet storage read write self ref
	assert return if else match Option Some None Result Ok Err event emit #[external] #[storage] #[derive] ( ) { } ; :: -> => , 0x1 0`)

// source is a tree with as many files, like a contract with the libraries that it vendors.
func source(files int) fstest.MapFS {
	rng := rand.New(rand.NewPCG(1, 2))
	tree := fstest.MapFS{archive.Manifest: {Data: []byte("[package]\n")}, archive.Lockfile: {Data: []byte("version = 1\n")}}
	for i := range files {
		var text strings.Builder
		for text.Len() < 8<<10 {
			fmt.Fprintf(&text, "%s %s_%d ", words[rng.IntN(len(words))], words[rng.IntN(len(words))], rng.IntN(500))
		}
		tree[fmt.Sprintf("lib/part%02d/src/file%04d.cairo", i%40, i)] = &fstest.MapFile{Data: []byte(text.String())}
	}
	return tree
}

func packed(b *testing.B, files int) ([]byte, archive.Summary) {
	b.Helper()
	data, summary, err := archive.Pack(source(files), archive.Standard)
	if err != nil {
		b.Fatal(err)
	}
	return data, summary
}

// BenchmarkRead reads and expands in turn, so that a busy machine slows both. It reports
// the speed of reading, and its share of the limit as "of-limit".
func BenchmarkRead(b *testing.B) {
	for _, files := range []int{10, 1000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			data, summary := packed(b, files)
			var read, limit time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := archive.Read(bytes.NewReader(data), archive.Standard, nil); err != nil {
					b.Fatal(err)
				}
				read += time.Since(start)
				start = time.Now()
				if err := expand(data); err != nil {
					b.Fatal(err)
				}
				limit += time.Since(start)
			}
			b.ReportMetric(float64(summary.Expanded)*float64(b.N)/1e6/read.Seconds(), "MB/s")
			b.ReportMetric(limit.Seconds()/read.Seconds(), "of-limit")
		})
	}
}

// expand is the limit: what no reader can do without.
func expand(data []byte) error {
	hash := sha256.New()
	gz, err := gzip.NewReader(io.TeeReader(bytes.NewReader(data), hash))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, gz); err != nil {
		return err
	}
	hash.Sum(nil)
	return nil
}

func BenchmarkPack(b *testing.B) {
	tree := source(100)
	var size int64
	for b.Loop() {
		_, summary, err := archive.Pack(tree, archive.Standard)
		if err != nil {
			b.Fatal(err)
		}
		size = summary.Expanded
	}
	b.SetBytes(size)
}
