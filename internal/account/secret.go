package account

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"chainexplorer/internal/control"
)

// An API key is
//
//	svc_live_ or svc_test_ · 32 random characters · 6 of checksum
//
// both of 0-9 A-Z a-z. The random part has 190 bits. The checksum is the CRC-32
// (IEEE) of everything before it, in base 62 with leading zeros: it tells a
// mistyped or cut off key from one that was never issued or is no longer good,
// without asking the database. It is no protection, and need not be.

// Environment is what a key is meant for.
type Environment string

// The environments.
const (
	Live Environment = "live"
	Test Environment = "test"
)

const (
	livePrefix = "svc_live_"
	testPrefix = "svc_test_"
	prefixSize = len(livePrefix)
	randomSize = 32
	checkSize  = 6
	keySize    = prefixSize + randomSize + checkSize
	hintSize   = 4
)

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base36 = "0123456789abcdefghijklmnopqrstuvwxyz"
)

func (e Environment) prefix() string {
	if e == Test {
		return testPrefix
	}
	return livePrefix
}

// ParseKey checks the form of a key and tells its environment. Whether it was
// ever issued only the database knows.
func ParseKey(presented string) (Environment, error) {
	if len(presented) != keySize {
		return "", ErrMalformed
	}
	var env Environment
	switch presented[:prefixSize] {
	case livePrefix:
		env = Live
	case testPrefix:
		env = Test
	default:
		return "", ErrMalformed
	}
	for i := prefixSize; i < keySize; i++ {
		if c := presented[i]; !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return "", ErrMalformed
		}
	}
	var want [checkSize]byte
	checksum(&want, presented[:keySize-checkSize])
	if presented[keySize-checkSize:] != string(want[:]) {
		return "", ErrMalformed
	}
	return env, nil
}

// HoldsKey says whether a text has something in it that begins like a key.
func HoldsKey(text string) bool {
	for i := 0; ; i++ { // both begin like this
		at := strings.IndexByte(text[i:], '_')
		if at < 0 {
			break
		}
		if i += at; i < len("svc") {
			continue
		}
		if rest := text[i-len("svc"):]; hasPrefixFold(rest, livePrefix) || hasPrefixFold(rest, testPrefix) {
			return true
		}
	}
	return false
}

// hasPrefixFold is strings.HasPrefix in any case of its letters.
func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// tokenText begins like the token of a session or of a sign-in link, codeText is like a
// code to redeem, and secretText like one of these or a key, whole or cut off.
var (
	tokenText  = regexp.MustCompile(`(ses|lnk)\.[0-9A-Za-z_-]{20,}`)
	codeText   = regexp.MustCompile(`\b[0-9A-Za-z]{5}(-[0-9A-Za-z]{5}){3}\b`)
	bareCode   = regexp.MustCompile(`(?i)\b[0-9A-TV-Z]{20}\b`) // as it is typed, O, I and L for digits included
	bareKey    = regexp.MustCompile(fmt.Sprintf(`[0-9A-Za-z]{%d,}`, keySize-prefixSize))
	secretText = regexp.MustCompile(`(?i:svc_(live|test)_)[0-9A-Za-z]*|` + tokenText.String() + `|` + codeText.String())
)

// HoldsSecret says whether a text has something in it that looks like a key, like
// the token of a session or of a sign-in link, or like a code in groups, or that is
// concealed.
func HoldsSecret(text string) bool {
	return HoldsKey(text) || HoldsConcealed(text) || strings.Count(text, "-") >= 3 && codeText.MatchString(text) || (strings.Contains(text, "ses.") || strings.Contains(text, "lnk.")) && tokenText.MatchString(text)
}

// Hide takes keys, tokens and codes out of a text that others may see. A code may have
// lost its hyphens there: what only may be one is taken out as well.
func Hide(text string) string {
	if HoldsSecret(text) {
		for _, secret := range concealed() {
			text = strings.ReplaceAll(text, secret, "…")
		}
		text = secretText.ReplaceAllString(text, "…")
	}
	if !mayHideSecret(text) {
		return text
	}
	if len(text) >= keySize-prefixSize { // a key that lost its beginning
		text = bareKey.ReplaceAllStringFunc(text, func(word string) string {
			if strings.ContainsAny(word, "0123456789") && strings.ToLower(word) != word && strings.ToUpper(word) != word {
				return "…"
			}
			return word // a hash, or a word
		})
	}
	return bareCode.ReplaceAllStringFunc(text, func(word string) string {
		upper := strings.ToUpper(word)
		if strings.HasPrefix(upper, "0X") || !strings.ContainsAny(upper, "0123456789") || strings.Trim(upper, "0123456789") == "" {
			return word // a number, or a word
		}
		return "…"
	})
}

// mayHideSecret says whether a text has a word that could be a key without its beginning, or a
// code without its hyphens. Most have none, and a look at them costs far less than a pattern.
func mayHideSecret(text string) bool {
	run, kinds := 0, byte(0)
	for i := range len(text) {
		// Digits and letters of a hash are in no order: a table is faster than to tell them apart by branches.
		kind := kindOf[text[i]]
		if run++; kind != 0 {
			kinds |= kind
			continue
		}
		if suspicious(run-1, kinds) {
			return true
		}
		run, kinds = 0, 0
	}
	return suspicious(run, kinds)
}

// The kinds of bytes of words.
const (
	digit byte = 1 << iota
	lower
	upper
	foreign // there may be letters that patterns take for others
)

var kindOf = func() (kinds [256]byte) {
	for c := range kinds {
		switch {
		case c >= utf8.RuneSelf:
			kinds[c] = foreign
		case 'a' <= c && c <= 'z':
			kinds[c] = lower
		case 'A' <= c && c <= 'Z':
			kinds[c] = upper
		case '0' <= c && c <= '9':
			kinds[c] = digit
		}
	}
	return kinds
}()

func suspicious(run int, kinds byte) bool {
	return kinds&foreign != 0 || run == codeSize || run >= keySize-prefixSize && kinds&(lower|upper) == lower|upper
}

// secrets are those of the operator's own choice, which no form tells from other texts.
var secrets struct {
	sync.Mutex
	list atomic.Pointer[[]string] // replaced under the mutex, never changed
}

func concealed() []string {
	if list := secrets.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Conceal makes a text a secret that Hide takes out.
func Conceal(secret string) {
	secrets.Lock()
	defer secrets.Unlock()
	if list := concealed(); secret != "" && !slices.Contains(list, secret) {
		list = append(slices.Clone(list), secret)
		secrets.list.Store(&list)
	}
}

// HoldsConcealed says whether a text has a concealed one in it.
func HoldsConcealed(text string) bool {
	return slices.ContainsFunc(concealed(), func(secret string) bool { return strings.Contains(text, secret) })
}

// crcTable is spelled out because crc32.ChecksumIEEE wants bytes, and turning the
// text of every request into bytes would cost an allocation.
var crcTable = crc32.MakeTable(crc32.IEEE)

func checksum(to *[checkSize]byte, text string) {
	sum := ^uint32(0)
	for i := range len(text) {
		sum = crcTable[byte(sum)^text[i]] ^ sum>>8
	}
	sum = ^sum
	for i := checkSize - 1; i >= 0; i-- {
		to[i] = base62[sum%62]
		sum /= 62
	}
}

func newKey(r io.Reader, env Environment) (string, error) {
	random, err := randomText(r, base62, randomSize)
	if err != nil {
		return "", err
	}
	var check [checkSize]byte
	checksum(&check, env.prefix()+random)
	return env.prefix() + random + string(check[:]), nil
}

// randomText draws characters evenly: bytes beyond the largest multiple of the
// alphabet's size are drawn again.
func randomText(r io.Reader, alphabet string, n int) (string, error) {
	limit := 256 / len(alphabet) * len(alphabet)
	var out strings.Builder
	var b [64]byte
	for rounds := 0; out.Len() < n; rounds++ {
		if rounds == 64 { // a source that only gives large bytes is broken
			return "", errors.New("the source of randomness gives no usable bytes")
		}
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", fmt.Errorf("randomness: %w", err)
		}
		for _, c := range b {
			if int(c) < limit && out.Len() < n {
				out.WriteByte(alphabet[int(c)%len(alphabet)])
			}
		}
	}
	return out.String(), nil
}

func newID(r io.Reader, prefix string) (string, error) {
	random, err := randomText(r, base36, 16)
	return prefix + random, err
}

// newCode is a code as people get it, in groups. One that Hide would take for a number or
// a word without them, one in a thousand, is drawn again.
func newCode(r io.Reader) (string, error) {
	for range 64 {
		text, err := randomText(r, codeAlphabet, codeSize)
		if err != nil {
			return "", err
		}
		if !recognised(text) {
			continue
		}
		var groups []string
		for i := 0; i < codeSize; i += codeGroup {
			groups = append(groups, text[i:i+codeGroup])
		}
		return strings.Join(groups, "-"), nil
	}
	return "", errors.New("the source of randomness gives no usable codes")
}

// typedDigits are the digits that people may type as letters.
var typedDigits = strings.NewReplacer("0", "O", "1", "I")

// recognised says whether Hide takes a code out that lost its hyphens, also when it was
// typed with letters for digits.
func recognised(plain string) bool {
	return Hide(plain) != plain && Hide(typedDigits.Replace(plain)) == Hide(plain)
}

// codeDigester stands for codes, with a key that is not that of the digests of keys.
type codeDigester struct{ key [sha256.Size]byte }

func newCodeDigester(secret control.Secret) codeDigester {
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("codes"))
	return codeDigester{[sha256.Size]byte(mac.Sum(nil))}
}

func (d *codeDigester) of(plain string) string {
	mac := hmac.New(sha256.New, d.key[:])
	mac.Write([]byte(plain))
	return hex.EncodeToString(mac.Sum(nil))
}

func masked(env Environment, hint string) string { return env.prefix() + "****" + hint }

// digest stands for a key wherever it is kept or looked up. Nobody without the
// server's secret can aim at one, so comparing digests byte by byte tells an
// attacker nothing about any key.
type digest [sha256.Size]byte

func (d *digest) text() string { return hex.EncodeToString(d[:]) }

// digester computes HMAC-SHA-256 without allocating.
type digester struct{ pool sync.Pool }

type digestState struct {
	mac hash.Hash
	in  [keySize]byte
	out digest
}

func newDigester(secret control.Secret) *digester {
	key := bytes.Clone(secret[:])
	return &digester{pool: sync.Pool{New: func() any { return &digestState{mac: hmac.New(sha256.New, key)} }}}
}

// digest is of a key that ParseKey has let pass.
func (d *digester) digest(key string) digest {
	s := d.pool.Get().(*digestState)
	s.mac.Reset()
	n := copy(s.in[:], key)
	s.mac.Write(s.in[:n])
	s.mac.Sum(s.out[:0])
	out := s.out
	clear(s.in[:]) // the pool keeps no key
	d.pool.Put(s)
	return out
}
