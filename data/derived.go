package data

import (
	"fmt"
	"math"
	"strings"
)

// maxDegree is the highest power of a number.
const maxDegree = 9

// derive appends the terms that are products of others: powers and interactions. The
// number of their sources is counted before, for the factor of all entries.
func (p *plan) derive(s *Schema) error {
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Role != Feature || c.Degree < 2 {
			continue
		}
		first := p.decoders[c.Name].first
		last := first
		for k := 2; k <= c.Degree; k++ {
			last = p.product(last, first, fmt.Sprintf("%s^%d", p.shape.Terms[first].Name, k))
			if power := &p.shape.Terms[last]; k%2 == 0 {
				power.Lower = max(power.Lower, 0)
			}
		}
	}
	for i, text := range s.Interactions {
		a, b, err := p.factors(text)
		if err != nil {
			return err
		}
		for _, other := range s.Interactions[:i] {
			if x, y, _ := strings.Cut(other, ":"); other == text || y+":"+x == text {
				return fmt.Errorf("data: interaction %s: it is stated twice; state it once", quote(text))
			}
		}
		for j := range a.width {
			for k := range b.width {
				left, right := &p.shape.Terms[a.first+j], &p.shape.Terms[b.first+k]
				p.product(a.first+j, b.first+k, left.Name+":"+right.Name)
			}
		}
	}
	for i := range p.shape.Terms {
		t := &p.shape.Terms[i]
		if t.Of != [2]int{} && !(max(math.Abs(t.At(t.Lower)), math.Abs(t.At(t.Upper))) <= maxSize) {
			return fmt.Errorf("data: the term %s reaches beyond %g; choose centers and scales that make its factors about 1",
				quote(t.Name), maxSize)
		}
	}
	return nil
}

// factors are the columns that an interaction names.
func (p *plan) factors(text string) (a, b *decoder, err error) {
	for i := range text { // a column's name may hold colons itself
		if text[i] != ':' {
			continue
		}
		a, b := p.decoders[text[:i]], p.decoders[text[i+1:]]
		if a == nil || b == nil || a.target || b.target {
			continue
		}
		if a == b {
			return nil, nil, fmt.Errorf("data: interaction %s: a column with itself; give the column degree = 2", quote(text))
		}
		return a, b, nil
	}
	return nil, nil, fmt.Errorf("data: interaction %s: it must be two features of the schema with a colon between them, "+
		"such as \"age:income\"", quote(text))
}

// product appends the product of two terms, each without the factor of all entries, and
// returns its index.
func (p *plan) product(i, j int, name string) int {
	a, b := &p.shape.Terms[i], &p.shape.Terms[j]
	p.derived = true
	spread := p.shape.Spread
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range []float64{a.At(a.Lower), a.At(a.Upper)} {
		for _, y := range []float64{b.At(b.Lower), b.At(b.Upper)} {
			v := x * y * spread * spread
			low, high = min(low, v), max(high, v)
		}
	}
	p.shape.Terms = append(p.shape.Terms, Term{
		Name: name, Unit: spread, Lower: low, Upper: high, Of: [2]int{i + 1,
			j + 1}, PriorSD: b.PriorSD, PriorGroup: b.PriorGroup,
	})
	return len(p.shape.Terms) - 1
}

// fill sets the entries of derived terms from the others'.
func (s *Shape) fill(row []float64) {
	for k := range s.Terms {
		if of := s.Terms[k].Of; of != [2]int{} {
			row[k] = row[of[0]-1] * row[of[1]-1] * s.Spread
		}
	}
}

// sources counts what shares the norm of a row: the intercept, features, powers and
// interactions.
func (s *Schema) sources() int {
	n := len(s.Interactions)
	if !s.NoIntercept {
		n++
	}
	for i := range s.Columns {
		if s.Columns[i].Role == Feature {
			n += max(1, s.Columns[i].Degree)
		}
	}
	return n
}
