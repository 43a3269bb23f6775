package surrogates

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestKnownTails: what is known of counts at a predictor is what is worked out anew, bit for bit, and so
// are slopes by it, whatever was known of the predictor before.
func TestKnownTails(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := counts{rapid.Float64Range(0.2, 9).Draw(r, "cut"), float64(rapid.IntRange(1, 120).Draw(r, "most")),
			rapid.SampledFrom([]float64{0, 0.1, 1, 3}).Draw(r, "w")}
		links := []tabled{f, roots{0.5, f.most}}
		if centre, ok := Centre(f); ok {
			links = append(links, centre.(centred), dispersed{centre.(centred), 2})
		}
		for _, link := range links {
			d := link.drawn()
			for range 3 {
				eta := rapid.Float64Range(-12, 12).Draw(r, "eta")
				d.move(eta)
				for k := range len(d.known) + 1 {
					if got, want := d.at(float64(k)), d.of.tail(float64(k), mean(eta)); got != want {
						r.Fatalf("%+v at %v, of %d: %v; want %v", d.of, eta, k, got, want)
					}
				}
				at := rapid.Float64Range(-8, 8).Draw(r, "at")
				var got, want [4]float64
				got[0], got[1], got[2], got[3] = link.given(d, at)
				want[0], want[1], want[2], want[3] = link.Slope(at, eta)
				if got != want || math.IsNaN(got[0]) {
					r.Fatalf("%+v at %v and %v: %v; want %v", link, at, eta, got, want)
				}
			}
		}
	})
}
