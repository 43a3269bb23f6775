package tune

import "slices"

// RankedWorstFirst is the mutant that ranks by the objective with its sign flipped.
func RankedWorstFirst(lists ...[]Candidate) []Candidate {
	all := slices.Concat(lists...)
	for i := range all {
		all[i].Score = -all[i].Score
	}
	return ranked(all)
}
