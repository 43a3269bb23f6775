package metrics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// predictions returns the posterior predictive mean of every held-out response:
// predictions averaged over draws.
func (in *Input) predictions() []float64 {
	draws := some(in.all(), predictionDraws)
	mean, one := make([]float64, len(in.Test.Y)), make([]float64, len(in.Test.Y))
	for _, theta := range draws {
		in.Test.Predict(one, theta)
		floats.Add(mean, one)
	}
	floats.Scale(1/float64(len(draws)), mean)
	return mean
}

func (in *Input) binary() bool { return in.Test != nil && in.Test.Binary }

// AUC returns the probability that a random held-out record with response 1 is
// predicted a larger probability than one with response 0, ties counting half.
func AUC(in *Input) float64 {
	if !in.binary() {
		return math.NaN()
	}
	return Area(in.predictions(), in.Test.Y)
}

// Area returns the area under the curve of scores p for responses y, 0 or 1: the
// Mann-Whitney statistic, by mid-ranks.
func Area(p, y []float64) float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	ranks, ones := 0.0, 0.0
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && p[order[hi]] == p[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			if y[i] == 1 {
				ranks += float64(lo+1+hi) / 2
				ones++
			}
		}
		lo = hi
	}
	zeros := float64(len(p)) - ones
	return (ranks - ones*(ones+1)/2) / (ones * zeros)
}

// LogLoss returns the mean negative log predictive probability of the held-out
// responses, in nats. Probabilities are kept 10⁻¹⁵ away from 0 and 1.
func LogLoss(in *Input) float64 {
	if !in.binary() {
		return math.NaN()
	}
	const margin = 1e-15
	sum := 0.0
	for i, p := range in.predictions() {
		p = min(max(p, margin), 1-margin)
		if in.Test.Y[i] != 1 {
			p = 1 - p
		}
		sum -= math.Log(p)
	}
	return sum / float64(len(in.Test.Y))
}

// PredictiveRMSE returns the root-mean-square error of the predicted responses, in
// the units of the file.
func PredictiveRMSE(in *Input) float64 {
	if in.Test == nil || in.Test.Binary {
		return math.NaN()
	}
	return in.Test.Unit * floats.Distance(in.predictions(), in.Test.Y, 2) / math.Sqrt(float64(len(in.Test.Y)))
}
