package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/data"
)

// heldOutShapes are kinds of table that were written down after the limits of the verdicts
// had been chosen, and before any was run on them.
var heldOutShapes = map[string]shape{
	"skewed":       {3000, 6, number(0, 12), lognormal, 0.6, 0},
	"interactions": {2500, 5, number(-4, 4), interacting, 0.5, 0},
	"pairs":        {4000, 6, number(-4, 4), correlatedPairs, 0.8, 0.5},
	"rare-labels":  {5000, 3, number(-3, 3), normals, 0.6, -3.6},
	"tails":        {1200, 4, number(-12, 12), thirdTails, 0.7, 0},
	"tiny":         {300, 2, number(-3, 3), normals, 1, 0},
	"many":         {4000, 12, number(-3, 3), normals, 0.4, 0},
	"uniform":      {1500, 3, number(0, 10), uniforms, 1.2, 1},
	"mixed":        {4000, 5, mixedColumn, mixedCells, 0.6, -0.5},
}

// heldOutLinks are what responses follow there, in turn. The model is logistic or probit
// regression.
var heldOutLinks = []string{"logistic", "probit", "cauchit"}

func lognormal(cells []float64, rng *rand.Rand) {
	for j := range cells {
		cells[j] = math.Exp(0.7 * rng.NormFloat64())
	}
}

// interacting are normal columns, of which the last two are products of others.
func interacting(cells []float64, rng *rand.Rand) {
	normals(cells, rng)
	n := len(cells)
	cells[n-2], cells[n-1] = cells[0]*cells[1], cells[1]*cells[2]
}

func correlatedPairs(cells []float64, rng *rand.Rand) {
	normals(cells, rng)
	for j := 1; j < len(cells); j += 2 {
		cells[j] = 0.8*cells[j-1] + 0.6*cells[j]
	}
}

// thirdTails are Student-t with 3 degrees of freedom, each.
func thirdTails(cells []float64, rng *rand.Rand) {
	for j := range cells {
		square := 0.0
		for range 3 {
			z := rng.NormFloat64()
			square += z * z / 3
		}
		cells[j] = rng.NormFloat64() / math.Sqrt(square)
	}
}

func uniforms(cells []float64, rng *rand.Rand) {
	for j := range cells {
		cells[j] = 10 * rng.Float64()
	}
}

// mixedColumn is a number, a skewed one, or a category.
func mixedColumn(j int) data.Column {
	if j < 3 {
		return data.Column{Kind: data.Number, Lower: -3, Upper: 6}
	}
	return data.Column{Kind: data.Category, Levels: []string{"0", "1", "2"}}
}

func mixedCells(cells []float64, rng *rand.Rand) {
	cells[0], cells[1], cells[2] = rng.NormFloat64(), rng.NormFloat64(), rng.ExpFloat64()
	for j := 3; j < len(cells); j++ {
		cells[j] = math.Floor(3 * math.Pow(rng.Float64(), 1.5))
	}
}

// heldOut measures default runs on all of them, and says of releases with each verdict in
// how many the intervals hold 0.85 of the means without privacy.
func heldOut() error {
	total := map[string][2]int{}
	for i, kind := range slices.Sorted(maps.Keys(heldOutShapes)) {
		link = heldOutLinks[i%len(heldOutLinks)]
		*family = map[string]string{"logistic": "logistic", "probit": "probit", "cauchit": "logistic"}[link]
		byVerdict, err := untunedRuns(kind)
		if err != nil {
			return err
		}
		for headline, h := range byVerdict {
			verdict, _, _ := strings.Cut(headline, ":")
			sum := total[verdict]
			total[verdict] = [2]int{sum[0] + h.releases, sum[1] + h.enough}
		}
	}
	for verdict, n := range total {
		fmt.Printf("ε %v, all kinds: of %d releases %q, %d hold 0.85 or more\n", *epsilon, n[0], verdict, n[1])
	}
	return nil
}
