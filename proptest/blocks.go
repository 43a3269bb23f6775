package proptest

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// balanced compares sums of draws in a row with sums of as many draws that lie far apart: under independence either are
// large as often. Numbers that make up for each other, such as noise in strata, differ there even where no two of them
// are dependent enough to show it.
func balanced(e *evidence, all [][]float64, coordinate int) {
	const least = 40 // sums
	first, part := len(all)/4, len(all)*3/8
	if first < 1000 {
		return
	}
	for degree, scores := range ranksAmong(column(all, coordinate), first) {
		center := 0.0
		for _, v := range scores[:first] {
			center += v / float64(first)
		}
		sizeOf := func(from, step, length int) (sum float64) {
			for k := range length {
				sum += scores[from+k*step] - center
			}
			return math.Abs(sum)
		}
		for _, length := range lags {
			sums := part / length
			if length < 8 || sums < least {
				continue
			}
			var usual []float64
			for i := range first / length {
				usual = append(usual, sizeOf(i, first/length, length))
			}
			slices.Sort(usual)
			median, inRow, apart := usual[len(usual)/2], 0, 0
			for i := range sums {
				if sizeOf(first+i*length, 1, length) > median {
					inRow++
				}
				if sizeOf(first+part+i, sums, length) > median {
					apart++
				}
			}
			e.see(unlikeShares(inRow, sums, apart, sums), func() string {
				return fmt.Sprintf("%d in a row depend on each other: of %d sums of their ranks in coordinate %d (degree %d) %d "+
					"are large, and %d of as many sums of ranks that lie far apart", length, sums, coordinate, degree+1, inRow,
					apart)
			})
		}
	}
}

// ranksAmong are ranks of numbers among the first ones, from −1 to 1, and their squares.
func ranksAmong(v []float64, first int) (scores [2][]float64) {
	var reference []float64
	for i := 0; i < first; i += max(1, first/4096) {
		reference = append(reference, ordered(v[i]))
	}
	slices.Sort(reference)
	for _, x := range v {
		rank := 2*float64(sort.SearchFloat64s(reference, ordered(x)))/float64(len(reference)) - 1
		scores[0], scores[1] = append(scores[0], rank), append(scores[1], rank*rank)
	}
	return scores
}
