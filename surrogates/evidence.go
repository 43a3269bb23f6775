package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// A law that draws are bridged from has their covariance, as if likeOthers more for each coordinate had that of all
// parts: of few draws theirs alone is far off. It is drawn from until its draws make less of the error than those of
// the posterior, which are dear, or mostProposed times as often as there are of these.
const (
	likeOthers   = 5
	mostProposed = 32
	smallError   = 0.03 // of those draws that calls for no more of them
)

// evidence is the logarithm of a density's integral, by bridge sampling (Meng and Wong 1996) from Student's t, and
// about its standard error (Frühwirth-Schnatter 2004). The law is fitted to each half of the draws in turn, and
// bridged to the other. others is the spread of draws of densities like this one.
func evidence(density nuts.LogDensity, draws Draws, others spread, rng *rand.Rand) (log, relative float64) {
	var pooled [][]float64
	for i := range draws.Chains[0] {
		for _, chain := range draws.Chains {
			pooled = append(pooled, chain[i])
		}
	}
	half := len(pooled) / 2
	kept := min(1, max(draws.LeastESS/float64(len(pooled)), 1e-3))
	for _, to := range [][2][][]float64{{pooled[:half], pooled[half:]}, {pooled[half:], pooled[:half]}} {
		from, ok := fitStudent(to[0], others)
		if !ok {
			return math.Inf(-1), 1
		}
		one, off := from.bridgeTo(density, to[1], kept, rng)
		log, relative = log+one/2, math.Hypot(relative, off/2)
	}
	return log, relative
}

// bridgeTo is the logarithm of a density's integral, and its standard error, given draws of which a share is kept.
func (s *student) bridgeTo(density nuts.LogDensity, draws [][]float64, kept float64, rng *rand.Rand) (log,
	relative float64) {
	grad := make([]float64, len(s.mean))
	ratio := func(x []float64) float64 { return density.LogDensityGrad(grad, x) - s.log(x) }
	var target, proposed []float64
	for _, x := range draws {
		target = append(target, ratio(x))
	}
	for n := len(draws); ; n *= 2 {
		for len(proposed) < n {
			proposed = append(proposed, ratio(s.draw(rng)))
		}
		log, own, other := bridge(target, proposed, kept)
		if other < max(own, smallError) || n >= mostProposed*len(draws) {
			return log, math.Hypot(own, other)
		}
	}
}

// bridge is the logarithm of the ratio of two normalizing constants, given the log ratio of densities at draws of each,
// and the standard errors that either draws make. Draws of the first count as the share kept of them.
func bridge(first, second []float64, kept float64) (log, own, other float64) {
	top := max(floats.Max(first), floats.Max(second))
	count := kept * float64(len(first))
	share := count / (count + float64(len(second)))
	up, down := make([]float64, len(second)), make([]float64, len(first))
	for i, r, before := 0, 1.0, 0.0; i < 1000 && math.Abs(r-before) > 1e-9*r; i++ {
		for j, l := range second {
			e := math.Exp(l - top)
			up[j] = e / (share*e + (1-share)*r)
		}
		for j, l := range first {
			down[j] = 1 / (share*math.Exp(l-top) + (1-share)*r)
		}
		r, before = stat.Mean(up, nil)/stat.Mean(down, nil), r
		log = math.Log(r) + top
	}
	relative := func(x []float64) float64 {
		mean, v := stat.MeanVariance(x, nil)
		return math.Sqrt(v/float64(len(x))) / mean
	}
	return log, relative(down) / math.Sqrt(kept), relative(up)
}

// spread is a covariance, of so many draws.
type spread struct {
	covariance *mat.SymDense
	draws      float64
}

func spreadOf(draws [][]float64) spread {
	rows := mat.NewDense(len(draws), len(draws[0]), nil)
	for i, x := range draws {
		rows.SetRow(i, x)
	}
	s := spread{mat.NewSymDense(len(draws[0]), nil), float64(len(draws))}
	stat.CovarianceMatrix(s.covariance, rows, nil)
	return s
}

// add has the spread of other draws, about a mean of their own, count too.
func (s *spread) add(other spread) {
	if s.draws == 0 {
		*s = other
		return
	}
	d, share := s.covariance.SymmetricDim(), other.draws/(s.draws+other.draws)
	sum := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			sum.SetSym(j, k, (1-share)*s.covariance.At(j, k)+share*other.covariance.At(j, k))
		}
	}
	s.covariance, s.draws = sum, s.draws+other.draws
}

// student is a multivariate law of Student's with studentDegrees degrees of freedom.
type student struct {
	mean, lower     []float64
	log0            float64
	centred, solved []float64 // buffers
}

const studentDegrees = 5

// fitStudent has the draws' mean and about their covariance in the place of location and scale.
func fitStudent(draws [][]float64, others spread) (*student, bool) {
	d := len(draws[0])
	s := &student{mean: make([]float64, d), centred: make([]float64, d), solved: make([]float64, d)}
	for _, x := range draws {
		floats.AddScaled(s.mean, 1/float64(len(draws)), x)
	}
	own := spreadOf(draws)
	if others.draws > 0 {
		others.add(own)
		others.draws = likeOthers * float64(d)
		own.add(others)
	}
	var ok bool
	if s.lower, ok = choleskyOf(own.covariance); !ok {
		return nil, false
	}
	whole, _ := math.Lgamma((studentDegrees + float64(d)) / 2)
	part, _ := math.Lgamma(studentDegrees / 2.0)
	s.log0 = whole - part - float64(d)/2*math.Log(studentDegrees*math.Pi)
	for j := range d {
		s.log0 -= math.Log(s.lower[j*d+j])
	}
	return s, true
}

// log is the law's log density.
func (s *student) log(x []float64) float64 {
	floats.SubTo(s.centred, x, s.mean)
	forward(s.solved, s.lower, s.centred)
	return s.log0 - (studentDegrees+float64(len(x)))/2*math.Log1p(dot(s.solved, s.solved)/studentDegrees)
}

// draw is valid until the next.
func (s *student) draw(rng *rand.Rand) []float64 {
	square := 0.0
	for range studentDegrees {
		z := rng.NormFloat64()
		square += z * z
	}
	scale, d := math.Sqrt(studentDegrees/square), len(s.mean)
	for j := range d {
		s.solved[j] = scale * rng.NormFloat64()
	}
	for j := range d {
		s.centred[j] = s.mean[j] + dot(s.lower[j*d:j*d+j+1], s.solved[:j+1])
	}
	return s.centred
}
