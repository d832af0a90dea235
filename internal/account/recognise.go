package account

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"sync"
)

// The digest of a key is what everything else goes by, and takes most of the time of a
// request with a key that is known. A tag is had for much less: the last block of
// AES-CBC over the key, under a secret that lives and dies with the process. All keys have
// one length, for which that is as good as random to whoever does not have the secret, so that
// nobody can aim at another's tag, and neither tag nor memory tells of the key.

// tag stands for a key in the memory of one process.
type tag [aes.BlockSize]byte

// tagged is a key in blocks, with a byte of zero behind it.
const tagged = (keySize + aes.BlockSize - 1) / aes.BlockSize * aes.BlockSize

// recogniser tells the digests of keys that were accepted before.
type recogniser struct {
	known  *cache[tag, digest]
	secret cipher.Block
	pool   sync.Pool // of *tagState
}

type tagState struct {
	in  [tagged]byte
	out tag
}

func newRecogniser() *recogniser {
	var secret [16]byte
	rand.Read(secret[:]) //nolint:errcheck // it never fails
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		panic(err) // of the length alone
	}
	return &recogniser{known: newCache[tag, digest](), secret: block, pool: sync.Pool{New: func() any { return new(tagState) }}}
}

// of is the tag of a text as long as a key.
func (c *recogniser) of(presented string) tag {
	s := c.pool.Get().(*tagState)
	copy(s.in[:], presented)
	clear(s.out[:])
	for i := 0; i < tagged; i += aes.BlockSize {
		for k := range s.out {
			s.out[k] ^= s.in[i+k]
		}
		c.secret.Encrypt(s.out[:], s.out[:])
	}
	out := s.out
	clear(s.in[:]) // the pool keeps no key
	c.pool.Put(s)
	return out
}
