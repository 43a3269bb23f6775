package data

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// longerRows is how many rows Longer draws: its share is off by at most two hundredths,
// but for once in a hundred tables.
const longerRows = 4096

// Longer predicts which share of rows is longer than the Radius, from the schema alone:
// numbers are drawn around their centers by their scales within their bounds, levels are
// equally likely, columns independent. possible reports whether any row within the bounds can
// be. How many rows of a table are is a fact about its records, which nothing here counts.
func (s *Shape) Longer() (share float64, possible bool) {
	most := s.Radius * (1 + rounding)
	if s.Inside || s.longest() <= most {
		return 0, false
	}
	norms := s.norms(longerRows)
	within, _ := slices.BinarySearch(norms, math.Nextafter(most, math.Inf(1)))
	return float64(longerRows-within) / longerRows, true
}

// Whole is the entry that the intercept has in rows that were not shortened, so that other
// rows tell by how much they were. It is 0 where they do not: without an intercept, where
// rows are drawn within the Radius, and where none can be longer.
func (s *Shape) Whole() float64 {
	if s.Inside || len(s.Terms) == 0 || s.Terms[0].Name != Intercept ||
		s.longest() <= s.Radius*(1+rounding) {
		return 0
	}
	return s.Terms[0].At(1)
}

// rounding is not shortening.
const rounding = 1e-9

// Shorten scales a row that is longer than the Radius onto it.
func (s *Shape) Shorten(row []float64) { record.Project(row, s.Radius) }

// Tighten returns the shape with the radius that is predicted to be best where second moments
// of rows and responses are released and longer rows weigh (R/‖x‖)². Noise is in proportion to
// R² or R, and the information to the mean of min(‖x‖, R)², so that short rows hide less and
// say less. It is the shape itself if its radius was stated, and where rows would not tell how
// much they weigh.
//
// Rows are drawn as for [Shape.Longer], responses have half of their variance from the features
// and bounds at three standard deviations, and the noise is that of about ε = 6: where the model is not
// quite right, rows that weigh less say something else, and no noise tells by how much.
func (s *Shape) Tighten() *Shape {
	if !s.Usual || s.Inside || len(s.Terms) == 0 || s.Terms[0].Name != Intercept {
		return s
	}
	const noise, sd, digit = 0.8, 1.0 / 3, 20 // of √2 times a record's second moments; of responses; of radii
	k, n := float64(len(s.columns())), float64(s.Records)
	norms, within, best := s.norms(longerRows), 0.0, math.Inf(1)
	tight, shorter := *s, 0
	tight.Usual = false
	for r := 1.0 / digit; r < s.Radius+rounding; r += 1.0 / digit {
		for shorter < longerRows && norms[shorter] < r {
			within += norms[shorter] * norms[shorter]
			shorter++
		}
		left := (within + r*r*float64(longerRows-shorter)) / longerRows / k // of a column's square
		private := noise * noise * (2*r*r + r*r*r*r*k*sd*sd/2)
		if v := (sd*sd/2)/(n*left) + private/(n*n*left*left); v < best {
			best, tight.Radius = v, r
		}
	}
	tight.Radius = math.Round(digit*tight.Radius) / digit
	return &tight
}

// Weight predicts how many records count where a row longer than the Radius counts (R/‖x‖)²
// times, as a share of all, of rows drawn as for [Shape.Longer].
func (s *Shape) Weight() float64 {
	sum := 0.0
	for _, norm := range s.norms(longerRows) {
		sum += min(1, s.Radius*s.Radius/(norm*norm)) / longerRows
	}
	return sum
}

// Norm predicts the root mean square of the norms of rows, of rows drawn as for
// [Shape.Longer].
func (s *Shape) Norm() float64 {
	square := 0.0
	for _, norm := range s.norms(longerRows) {
		square += min(norm, s.Radius) * min(norm, s.Radius) / longerRows
	}
	return math.Sqrt(square)
}

// norms are those of rows drawn by the schema, the shortest first.
func (s *Shape) norms(rows int) []float64 {
	fill, row := s.filler(rand.New(rand.NewPCG(1, 0))), make([]float64, s.Features())
	norms := make([]float64, rows)
	for i := range norms {
		fill(row)
		norms[i] = record.Norm(row)
	}
	slices.Sort(norms)
	return norms
}

// usualRadius is the least radius, in twentieths, that by the schema about one row in N^⅔ is
// longer than. What shortening moves then falls faster with N than standard errors
// do. No row is longer than s.longest.
func (s *Shape) usualRadius() float64 {
	const digit = 20
	longest, share := s.longest(), min(max(math.Pow(float64(s.Records), -2.0/3), leastShare), 0.5)
	if longest == 0 { // no features
		return 1
	}
	if longest > 1+rounding {
		norms := s.norms(int(16/share) + longerRows)
		longest = min(longest, norms[len(norms)-1-int(share*float64(len(norms)))])
	}
	return math.Ceil(digit*longest-rounding) / digit
}

// leastShare bounds the work of usualRadius: that of 10⁶ records.
const leastShare = 1e-4

// longest bounds the norm of rows within the bounds: each source at its own worst.
func (s *Shape) longest() float64 {
	square := 0.0
	from := map[int]int{} // the column of a term, both from 0
	var columns []float64
	for i, c := range s.columns() {
		columns = append(columns, s.farthest(c))
		square += columns[i]
		for j := range c.terms {
			from[c.first+j] = i
		}
	}
	met := map[[2]int]bool{}
	for i := range s.Terms {
		of := s.Terms[i].Of
		if of == [2]int{} {
			continue
		}
		a, plainA := from[of[0]-1]
		b, plainB := from[of[1]-1]
		switch pair := [2]int{a, b}; {
		case !plainA || !plainB:
			square += s.Terms[i].largest()
		case !met[pair]: // the squares of all products of two columns add up to one
			met[pair] = true
			square += columns[a] * columns[b] * s.Spread * s.Spread
		}
	}
	return math.Sqrt(square)
}

// farthest is the largest square that a column of the file adds: of a category, one
// indicator is on, or none.
func (s *Shape) farthest(c source) float64 {
	terms := s.Terms[c.first : c.first+c.terms]
	if terms[0].Level == "" {
		return terms[0].largest()
	}
	most := 0.0
	for on := -1; on < len(terms); on++ {
		square := 0.0
		for j := range terms {
			x := 0.0
			if j == on {
				x = 1
			}
			square += terms[j].At(x) * terms[j].At(x)
		}
		most = max(most, square)
	}
	return most
}

// largest is the largest square of the term.
func (t *Term) largest() float64 {
	return max(t.At(t.Lower)*t.At(t.Lower), t.At(t.Upper)*t.At(t.Upper))
}
