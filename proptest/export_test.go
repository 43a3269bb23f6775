package proptest

// RaceDetector reports that the race detector is on.
const RaceDetector = raceDetector

// What a classifier of two worlds chooses to look at.
var (
	Discriminant = discriminant
	Telling      = telling
	SomeOf       = someOf
)

// UnlikeShares is the exact test of two shares.
var UnlikeShares = unlikeShares

// Blame looks for where a function of the unit interval and its slope disagree.
func Blame(f, slope func(v float64) float64) (at, jump float64) {
	return curve{s: scene{theta: []float64{0}, next: []float64{1}}, theta: make([]float64, 1), g: make([]float64, 1),
		f: func(v []float64) float64 { return f(v[0]) }, grad: func(g, v []float64) { g[0] = slope(v[0]) }}.blame()
}

// LowerDivergence bounds the Rényi divergence of an order of two laws of cells, from counts of
// both, with weights that other counts of both give.
func LowerDivergence(order float64, a, b, otherA, otherB []int, alarm float64) float64 {
	n := 0
	for _, k := range a {
		n += k
	}
	return weighing{order: order, g: logRatios(otherA, otherB)}.lower(a, b, n, alarm)
}

// MostPromising are the places of the neighbours that are compared again, by what they promise and
// how near sets came to an excess.
func MostPromising(promise, near []float64) (places []int) {
	all, said := make([]MechanismOptions, len(near)), make([]Audit, len(near))
	for i := range all {
		all[i].Seed = uint64(i)
		said[i] = Audit{promise: promise[i], near: near[i]}
	}
	for _, pair := range mostPromising(all, said) {
		places = append(places, int(pair.Seed))
	}
	return places
}
