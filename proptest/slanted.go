package proptest

import (
	"fmt"
	"math"
)

// angles is how many directions of a plane of two parameters are looked at, the parameters' own
// included: a straight border lies within a few degrees of one.
const angles = 24

// slanted are directions between those of any two parameters, each in its standard deviations, of
// up to four parameters. A chain that cannot cross a border of a sum or a difference, because it
// orders parameters or keeps a sign, shows there.
func slanted(draws [][]float64) (s scale, planes int) {
	some, spreads := someOf(len(draws[0]), 4), make([]spread, len(draws[0]))
	for _, theta := range draws {
		for _, j := range some {
			spreads[j].add(theta[j])
		}
	}
	for a, j := range some {
		for _, i := range some[:a] {
			_, first := spreads[i].moments()
			_, second := spreads[j].moments()
			if !(first > 0 && second > 0 && finite(first+second)) {
				continue
			}
			planes++
			for k := 1; k < angles; k++ {
				if 2*k == angles {
					continue // a parameter alone
				}
				y, x := math.Sincos(math.Pi * float64(k) / angles)
				x, y = x/first, y/second
				s.dirs = append(s.dirs, &direction{
					name:  fmt.Sprintf("%.3g times parameter %d + %.3g times parameter %d", x, i, y, j),
					value: func(theta []float64) float64 { return x*theta[i] + y*theta[j] }})
			}
		}
	}
	s.fix(draws)
	return s, planes
}
