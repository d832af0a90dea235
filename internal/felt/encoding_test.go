package felt_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
)

func TestSelector(t *testing.T) {
	for name, want := range map[string]string{
		"Transfer":            "0x99cd8bde557814842a3121e8ddfd433a539b8c9f14bf31ebf108d12e6196e9",
		"Approval":            "0x134692b230b9e1ffa39098904722134159652b09c5bc41d88d6698779d228ff",
		"ApprovalForAll":      "0x6ad9ed7b6318f1bcffefe19df9aeb40d22c36bed567e1925a5ccde0536edd",
		"TransferSingle":      "0x182d859c0807ba9db63baf8b9d9fdbfeb885d820be6e206b9dab626d995c433",
		"TransferBatch":       "0x2563683c757f3abe19c4b7237e2285d8993417ddffe0b54a19eb212ea574b08",
		"URI":                 "0x278764b0e84f45a602e24e86f19a3e2af7956f2a9112d825c8b5ca7991c711f",
		"ConsecutiveTransfer": "0x213d5dc7a27b411f4182ed0cb162d63533d4ee1e8bae1ae6921ee5c245215b8",
		"name":                "0x361458367e696363fbcc70777d07ebbd2394e89fd0adcaf147faccd1d294d60",
		"symbol":              "0x216b05c387bab9ac31918a3e61672f4618601f3c598a2f3f2710f37053e1ea4",
		"decimals":            "0x4c4fb1ab068f6039d5780c68dd0fa2f8742cceb3426d19667778ca7f3518a9",
		"totalSupply":         "0x80aa9fdbfaf9615e4afc7f5f722e265daca5ccc655360fa5ccacf9c267936d",
		"balanceOf":           "0x2e4263afad30923c891518314c3c95dbe830a16874e8abc5777a9a20b54c76e",
		"owner_of":            "0x3552df12bdc6089cf963c40c4cf56fbfd4bd14680c244d1c5494c2790f1ea5c",
		"supports_interface":  "0xfe80f537b66d12a00b6d3c072b44afbb716e78dde5c3f0ef116ee93d3e3283",
		"transfer":            "0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e",
		"approve":             "0x219209e083275171774dab1df80982e9df2096516f06319c5c6d71ae0a8480c",
	} {
		if got := felt.Selector(name); got.String() != want {
			t.Errorf("selector of %s is %s, want %s", name, got, want)
		}
	}
}

func TestShortString(t *testing.T) {
	for text, want := range map[string]string{
		"ETH": "0x455448", "VALID": "0x56414c4944", "SN_MAIN": "0x534e5f4d41494e", "SN_SEPOLIA": "0x534e5f5345504f4c4941", "\u00e9": "0xc3a9",
		strings.Repeat("z", 31): "0x" + strings.Repeat("7a", 31),
	} {
		f, err := felt.FromShortString(text)
		if err != nil || f.String() != want {
			t.Errorf("%q is %s (%v), want %s", text, f, err, want)
		}
		if back, ok := f.ShortString(); !ok || back != text {
			t.Errorf("%s reads as %q, %v", f, back, ok)
		}
	}
	if _, err := felt.FromShortString(strings.Repeat("z", 32)); !errors.Is(err, felt.ErrTooLong) {
		t.Errorf("32 bytes: %v", err)
	}
	for name, f := range map[string]felt.Felt{
		"zero": {}, "32 bytes": felt.MustParse("0x0" + strings.Repeat("61", 31) + "6"), "control character": felt.MustParse("0x610a"),
		"delete": felt.MustParse("0x7f"), "not UTF-8": felt.MustParse("0x61ff"), "zero inside": felt.MustParse("0x610061"),
	} {
		if name == "32 bytes" {
			f[0] = 1
		}
		if text, ok := f.ShortString(); ok {
			t.Errorf("%s reads as text %q", name, text)
		}
	}
}

func TestU256(t *testing.T) {
	low, high := felt.MustParse("0xffffffffffffffffffffffffffffffff"), felt.MustParse("0x1")
	v, err := felt.U256(low, high)
	want := append(append(make([]byte, 15), 1), bytes.Repeat([]byte{0xff}, 16)...)
	if err != nil || !bytes.Equal(v[:], want) {
		t.Errorf("U256 is %x (%v)", v, err)
	}
	if l, h := felt.SplitU256(v); l != low || h != high {
		t.Errorf("split into %s and %s", l, h)
	}
	big := felt.MustParse("0x100000000000000000000000000000000")
	for _, pair := range [][2]felt.Felt{{big, felt.Zero}, {felt.Zero, big}} {
		if _, err := felt.U256(pair[0], pair[1]); !errors.Is(err, felt.ErrRange) {
			t.Errorf("U256 of %v: %v", pair, err)
		}
	}
	all := [32]byte(bytes.Repeat([]byte{0xff}, 32))
	if v, err := felt.U256(felt.SplitU256(all)); err != nil || v != all {
		t.Errorf("the largest u256 is %x (%v)", v, err)
	}
}

func TestByteArray(t *testing.T) {
	hello := []felt.Felt{felt.Zero, felt.MustParse("0x48656c6c6f"), felt.FromUint64(5)}
	if got := felt.EncodeByteArray([]byte("Hello")); !slices.Equal(got, hello) {
		t.Errorf("Hello is %v", got)
	}
	for n := range 100 {
		data := bytes.Repeat([]byte{0, 'x', 0xff}, n)[:n]
		fs := felt.EncodeByteArray(data)
		back, used, err := felt.DecodeByteArray(append(slices.Clone(fs), felt.FromUint64(9)))
		if err != nil || !bytes.Equal(back, data) || used != len(fs) {
			t.Errorf("%d bytes read as %x of %d felts (%v)", n, back, used, err)
		}
	}
	word, huge := felt.MustParse("0x0"+strings.Repeat("61", 31)), felt.MustParse(beforePrime)
	for name, fs := range map[string][]felt.Felt{
		"nothing":             nil,
		"cut off":             hello[:2],
		"more words than are": {felt.FromUint64(2), word, felt.Zero, felt.Zero},
		"huge length":         {huge, word, felt.Zero, felt.Zero},
		"largest length":      {felt.FromUint64(1<<64 - 1), word, felt.Zero, felt.Zero},
		"word of 32 bytes":    {felt.FromUint64(1), huge, felt.Zero, felt.Zero},
		"pending of 31 bytes": {felt.Zero, word, felt.FromUint64(31)},
		"pending too long":    {felt.Zero, felt.MustParse("0x616263"), felt.FromUint64(2)},
		"huge pending length": {felt.Zero, felt.Zero, huge},
	} {
		if data, _, err := felt.DecodeByteArray(fs); !errors.Is(err, felt.ErrByteArray) {
			t.Errorf("%s reads as %q (%v)", name, data, err)
		}
	}
}

func FuzzDecodeByteArray(f *testing.F) {
	f.Add([]byte("Hello"), uint8(0))
	f.Add(bytes.Repeat([]byte("z"), 80), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, at uint8) {
		fs := felt.EncodeByteArray(data)
		if back, used, err := felt.DecodeByteArray(fs); err != nil || !bytes.Equal(back, data) || used != len(fs) {
			t.Fatalf("%x reads as %x (%v)", data, back, err)
		}
		// One felt changed: whatever reads must print as it was read.
		fs[int(at)%len(fs)] = felt.FromUint64(uint64(at))
		if back, used, err := felt.DecodeByteArray(fs); err == nil && !slices.Equal(felt.EncodeByteArray(back), fs[:used]) {
			t.Fatalf("%v reads as %x", fs, back)
		}
	})
}
