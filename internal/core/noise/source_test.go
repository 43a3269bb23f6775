package noise

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"math"
	"math/bits"
	mathrand "math/rand/v2"
	"testing"
	"testing/iotest"
)

func TestNewSourceIsFreshAndSecure(t *testing.T) {
	a, err := NewSource()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewSource()
	if err != nil {
		t.Fatal(err)
	}
	// Two equal words in a row have a probability of 2^-128.
	first := a.Uint64() == b.Uint64()
	if second := a.Uint64() == b.Uint64(); first && second {
		t.Error("two sources give the same words")
	}
	if a.Insecure() || a.Derive(1).Insecure() {
		t.Error("a source of the operating system calls itself insecure")
	}
}

func TestNewSourceReportsAFailingSystem(t *testing.T) {
	system := rand.Reader
	defer func() { rand.Reader = system }()
	broken := errors.New("broken")
	rand.Reader = iotest.ErrReader(broken)
	if _, err := NewSource(); !errors.Is(err, broken) {
		t.Errorf("error %v, want the reader's", err)
	}
	rand.Reader = bytes.NewReader(make([]byte, 31))
	if _, err := NewSource(); err == nil {
		t.Error("31 bytes were accepted as a key")
	}
}

// The keys were computed with Python's hmac and hashlib: T(1) of RFC 5869, that
// is HMAC-SHA256(key, "dpmcmc noise " + info + 0x01), for the root key 0, 1, …, 31.
func TestInsecureStreamIsTheDocumentedOne(t *testing.T) {
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(i)
	}
	s := NewInsecure(seed)
	for _, c := range []struct {
		name string
		src  *Source
		key  string
	}{
		{"root", s, "dac00c0d56af70cec0cae8c6356289784a234b1dba075858490437187c9e61d8"},
		{"child 7", s.Derive(7), "a8257ef50194c6fb7ca9890ba9f4119b807b43c565b514c6c6ce230336ee6e06"},
	} {
		key, err := hex.DecodeString(c.key)
		if err != nil {
			t.Fatal(err)
		}
		want := mathrand.NewChaCha8([32]byte(key))
		for i := range 1000 {
			if got, want := c.src.Uint64(), want.Uint64(); got != want {
				t.Fatalf("%s: word %d is %#x, want %#x", c.name, i, got, want)
			}
		}
		if !c.src.Insecure() {
			t.Errorf("%s: an insecure source does not say so", c.name)
		}
	}
}

func TestDeriveDependsOnTheLabelAlone(t *testing.T) {
	a, b := testSource(t.Name()), testSource(t.Name())
	a.Derive(3)
	for range 100 {
		a.Uint64()
	}
	if x, y := a.Derive(5).Uint64(), b.Derive(5).Uint64(); x != y {
		t.Errorf("child 5 starts with %#x or %#x, depending on what came before", x, y)
	}
}

// TestDerivedStreamsAreUnrelated counts the bits in which two streams agree: of
// 64·10^4, half up to 6 standard deviations (chance 2e-9 for each pair). The same
// stream twice, and a stream with its complement, are the mutants.
func TestDerivedStreamsAreUnrelated(t *testing.T) {
	const n = 10000
	unrelated := func(a, b words) bool {
		agree := 0
		for range n {
			agree += 64 - bits.OnesCount64(a.Uint64()^b.Uint64())
		}
		return math.Abs(float64(agree)-32*n) < 6*math.Sqrt(16*n)
	}
	root := testSource(t.Name())
	again := func() *Source { return testSource(t.Name()) }
	for _, c := range []struct {
		name string
		a, b words
		want bool
	}{
		{"root and child", root, root.Derive(0), true},
		{"neighbours", root.Derive(1), root.Derive(2), true},
		{"child and grandchild", root.Derive(3), root.Derive(4).Derive(3), true},
		{"mutant: a stream twice", again(), again(), false},
		{"mutant: a child twice", again().Derive(9), again().Derive(9), false},
	} {
		if unrelated(c.a, c.b) != c.want {
			t.Errorf("%s: unrelated is %v", c.name, !c.want)
		}
	}
}

func TestDerivingALabelTwicePanics(t *testing.T) {
	s := testSource(t.Name())
	s.Derive(1)
	defer func() {
		if recover() == nil {
			t.Error("the same child was handed out twice")
		}
	}()
	s.Derive(1)
}

func TestZeroSourcePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a source without a key gives words")
		}
	}()
	new(Source).Uint64()
}

func TestCopyContinuesTheStream(t *testing.T) {
	a, whole := testSource(t.Name()), testSource(t.Name())
	b := *a
	for i, s := range []*Source{a, &b, a, &b} {
		if got, want := s.Uint64(), whole.Uint64(); got != want {
			t.Fatalf("word %d is %#x, want %#x", i, got, want)
		}
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	src := testSource(t.Name())
	g := discreteGaussian(t, 1000)
	for name, draw := range map[string]func(){
		"Uint64":           func() { src.Uint64() },
		"Uint64n":          func() { Uint64n(src, 1000) },
		"Bit":              func() { Bit(src, 0.1, true) },
		"DiscreteGaussian": func() { g.Sample(src) },
		"StandardNormal":   func() { StandardNormal(src) },
	} {
		if n := testing.AllocsPerRun(1000, draw); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
