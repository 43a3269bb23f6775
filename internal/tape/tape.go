// Package tape records what a curator released and plays it back, for the law
// that everything outside the curator is post-processing: a chain replayed
// from its releases over other data must be the same, bit for bit. The
// package is internal, so no importer of the library can replay a release.
package tape

import "fmt"

// Tape holds one track for each grant of a curator, in the order of granting.
type Tape struct {
	tracks []*Track
	next   int
	replay bool
}

// Option makes the curator.Option that records releases on a tape or plays them. Package
// curator sets it: only the library's own tests can reach it, and no public function has
// an internal argument.
var Option func(*Tape) any

// New returns an empty tape that records.
func New() *Tape { return &Tape{} }

// Rewind returns a tape that plays the recorded tracks from their beginnings.
func (t *Tape) Rewind() *Tape {
	r := &Tape{replay: true}
	for _, k := range t.tracks {
		r.tracks = append(r.tracks, &Track{values: k.values, replay: true})
	}
	return r
}

// Rest returns a tape that goes on playing where t has come to, for the grants of a
// chain that goes on: tracks that were played to their end are left out.
func (t *Tape) Rest() *Tape {
	r := &Tape{replay: true}
	for _, k := range t.tracks {
		if k.pos < len(k.values) {
			r.tracks = append(r.tracks, &Track{values: k.values[k.pos:], replay: true})
		}
	}
	return r
}

// Again returns a tape that goes on playing where t has come to, for the same grants made
// again.
func (t *Tape) Again() *Tape { return &Tape{tracks: t.tracks, replay: true} }

// Track returns the next grant's track.
func (t *Tape) Track() *Track {
	if t == nil {
		return nil
	}
	if t.replay {
		if t.next >= len(t.tracks) {
			panic("tape: more grants are replayed than were recorded")
		}
		t.next++
		return t.tracks[t.next-1]
	}
	k := &Track{}
	t.tracks = append(t.tracks, k)
	return k
}

// Vectors counts the releases of grants that have released nothing but vectors of d numbers: of
// a chain in d > 1 dimensions these are its gradients, since moves come with bits, and ratios are
// single numbers.
func (t *Tape) Vectors(d int) (n int) {
	for _, k := range t.tracks {
		if k.width == d {
			n += k.calls
		}
	}
	return n
}

// Releases counts what all grants have released so far.
func (t *Tape) Releases() (n int) {
	for _, k := range t.tracks {
		n += k.calls
	}
	return n
}

// Track is the sequence of values one grant released. A nil Track does nothing.
type Track struct {
	values []float64
	pos    int
	replay bool
	calls  int
	width  int // of every call; −1 if they differ
}

// Values passes released values through: it keeps them when recording, and
// overwrites them with the recorded ones when replaying.
func (k *Track) Values(v []float64) {
	if k == nil {
		return
	}
	if !k.replay {
		k.values = append(k.values, v...)
		if k.calls++; k.calls == 1 {
			k.width = len(v)
		} else if k.width != len(v) {
			k.width = -1
		}
		return
	}
	if k.pos+len(v) > len(k.values) {
		panic(fmt.Sprintf("tape: %d values are asked for at position %d of %d", len(v), k.pos, len(k.values)))
	}
	k.pos += copy(v, k.values[k.pos:])
}

// Bit passes one released bit through, like Values.
func (k *Track) Bit(b bool) bool {
	if k == nil {
		return b
	}
	v := [1]float64{}
	if b {
		v[0] = 1
	}
	k.Values(v[:])
	return v[0] == 1
}

// Played reports whether every recorded value was played.
func (t *Tape) Played() bool {
	for _, k := range t.tracks {
		if k.pos != len(k.values) {
			return false
		}
	}
	return t.next == len(t.tracks)
}
