package surrogates

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// explained is the prior of what features explain of a response, given the errors' standard deviation σ and the
// features' second moments about the constant column, C. A set of k features explains about ρ times the variance of
// errors, with heavy tails: √(C/N)·β/σ has a multivariate Cauchy law of scale √(ρ/k).
//
// All features are one set (Zellner and Siow 1980), and ρ is r. So coefficients are large along directions that
// features hardly take, which noise hides. Beyond oneRatio features ρ is as likely a quarter of r: many often explain
// little together, and what noise hides of them would explain more, which makes σ too small. Beyond oneSet the prior is
// as likely another one: each number is a set, and the levels of each category (Som, Hans and MacEachern 2016). Then a
// few may explain much, and what noise hides of the others does not explain as much again.
type explained struct {
	of       *Linear
	constant int       // its column, or −1
	sets     float64   // features in all sets of a partition
	centred  []float64 // coefficients of responses that are whole
	ways     []partition
}

// partition is one of features into sets.
type partition struct {
	sets   []featureSet
	ratios []float64 // ρ that there may be, as likely as each other
	logs   []float64 // of the density with each, and then how likely each is
	weight float64   // how likely any of them is
}

// featureSet is what features explain together.
type featureSet struct {
	features              []int
	log                   float64 // of the Cauchy law's normalizing factor, but for ρ and C
	beta, along, means    []float64
	square, factor        []float64 // C, and its lower factor
	solved, half          []float64
	variance, slope, root float64 // explained; of the log density in it, negated and doubled; log of the root of |C|
}

// Up to oneRatio features ρ is r alone: with a quarter too, intervals of tables with 8 to 16 held a little less, and
// draws took up to four times as long where noise hides nearly all. With less than a quarter draws of 31 took minutes.
// Up to oneSet features they are one set alone: of 31, many of them nearly collinear, draws of many sets took ten times
// as long.
const (
	oneRatio = 24
	oneSet   = 32
)

// leastSquare is what counts as C of features that do not vary, over N: their coefficients have priors of their own.
const leastSquare = 1e-9

// newExplained is nil where there is no such prior, or no feature that it is about.
func (l *Linear) newExplained() *explained {
	columns := l.config.Sums.Columns
	e := &explained{of: l, constant: ConstantOf(columns), centred: make([]float64, l.dim)}
	var all []int
	var apart [][]int
	category := map[int]int{} // the set of its levels
	for j := range l.dim {
		if j == e.constant {
			continue
		}
		all = append(all, j)
		if columns != nil && columns[j].Kind == Level {
			if at, ok := category[columns[j].Group]; ok {
				apart[at] = append(apart[at], j)
				continue
			}
			category[columns[j].Group] = len(apart)
		}
		apart = append(apart, []int{j})
	}
	r := l.config.ZellnerSiow
	if e.sets = float64(len(all)); r == 0 || e.sets == 0 {
		return nil
	}
	least := r
	if len(all) > oneRatio {
		least = r / 4
	}
	e.ways = []partition{newPartition([][]int{all}, least, r)}
	if len(all) > oneSet && len(apart) > 1 {
		e.ways = append(e.ways, newPartition(apart, r/float64(len(apart)), r))
	}
	return e
}

// newPartition has the ratios least, 4·least and so on up to most.
func newPartition(sets [][]int, least, most float64) (p partition) {
	for ratio := least; ratio <= most; ratio *= 4 {
		p.ratios = append(p.ratios, ratio)
	}
	p.logs = make([]float64, len(p.ratios))
	for _, features := range sets {
		k := len(features)
		log, _ := math.Lgamma(float64(1+k) / 2)
		vector := func() []float64 { return make([]float64, k) }
		p.sets = append(p.sets, featureSet{features: features, log: log - math.Log(math.Pi)/2, beta: vector(),
			along: vector(), means: vector(), solved: vector(), half: vector(), square: make([]float64, k*k),
			factor: make([]float64, k*k)})
	}
	return p
}

// ZellnerSiow is the prior's factor given sums without noise, for r above 0 (LinearConfig.ZellnerSiow). The
// function adds its gradient in β to grad, and returns its logarithm and the derivative of that in
// σ. It has buffers, for one goroutine.
func (s Sums) ZellnerSiow(r float64) func(grad, beta []float64, sigma float64) (log, inSigma float64) {
	l := &Linear{config: LinearConfig{Sums: s, ZellnerSiow: r}, dim: s.Features, square: s.square()}
	if e := l.newExplained(); e != nil {
		return e.log
	}
	return func(_, _ []float64, _ float64) (log, inSigma float64) { return 0, 0 }
}

// log adds the log density's gradient in β to grad, and returns it with its derivative in σ.
func (e *explained) log(grad, beta []float64, sigma float64) (log, inSigma float64) {
	n := float64(e.of.config.Sums.Records)
	copy(e.centred, beta)
	if seen := e.of.config.seen; seen != nil { // of responses that are whole
		floats.Add(e.centred, seen.centre)
	}
	top := math.Inf(-1)
	for w := range e.ways {
		way := &e.ways[w]
		for i := range way.sets {
			if !way.sets[i].set(e) {
				return math.Inf(-1), 0
			}
		}
		way.densities(sigma)
		top = max(top, slices.Max(way.logs))
	}
	sum := 0.0
	for _, way := range e.ways {
		for i, log := range way.logs {
			way.logs[i] = math.Exp(log - top)
			sum += way.logs[i]
		}
	}
	inSigma = -e.sets / sigma
	for w := range e.ways {
		way := &e.ways[w]
		floats.Scale(1/sum, way.logs)
		way.weight = floats.Sum(way.logs)
		for i := range way.sets {
			s := &way.sets[i]
			s.slope = way.slope(s, sigma)
			inSigma += s.slope * s.variance / sigma
			for a, j := range s.features {
				grad[j] -= s.slope * s.along[a] / n
			}
		}
	}
	return top + math.Log(sum) - e.sets*math.Log(sigma), inSigma
}

// densities sets logs to those of the density with each ratio, but for what partitions share.
func (p *partition) densities(sigma float64) {
	for i, ratio := range p.ratios {
		log := -math.Log(float64(len(p.ratios)))
		for _, s := range p.sets {
			k := float64(len(s.features))
			scale := ratio / k * sigma * sigma
			log += s.log + s.root - (1+k)/2*math.Log1p(s.variance/scale) - k/2*math.Log(math.Pi*ratio/k)
		}
		p.logs[i] = log
	}
}

// slope is that of the log density in what a set explains, negated and doubled.
func (p *partition) slope(s *featureSet, sigma float64) (slope float64) {
	k := float64(len(s.features))
	for i, ratio := range p.ratios {
		slope += p.logs[i] * (1 + k) / (ratio/k*sigma*sigma + s.variance)
	}
	return slope
}

// set takes XᵀX and coefficients, and reports whether C is positive definite.
func (s *featureSet) set(e *explained) bool {
	d, k, c, square := e.of.dim, len(s.features), e.constant, e.of.square
	n := float64(e.of.config.Sums.Records)
	for a, j := range s.features {
		s.beta[a] = e.centred[j]
		if c >= 0 {
			s.means[a] = square[j*d+c] / square[c*(d+1)]
		}
	}
	for a, j := range s.features {
		row := s.square[a*k : (a+1)*k]
		for b, m := range s.features {
			row[b] = square[j*d+m]
			if c >= 0 {
				row[b] -= s.means[a] * square[m*d+c]
			}
		}
		s.along[a] = dot(row, s.beta)
	}
	s.variance = max(0, dot(s.beta, s.along)/n)
	copy(s.factor, s.square)
	for a := range k {
		s.factor[a*(k+1)] += leastSquare * n
	}
	if !cholesky(s.factor, k) {
		return false
	}
	s.root = 0
	for a := range k {
		s.root += math.Log(s.factor[a*(k+1)])
	}
	return true
}

// inSquare adds the derivative in XᵀX, after log.
func (e *explained) inSquare(p []float64) {
	for w := range e.ways {
		for i := range e.ways[w].sets {
			e.ways[w].sets[i].inSquare(e, p, e.ways[w].weight)
		}
	}
}

func (s *featureSet) inSquare(e *explained, p []float64, weight float64) {
	d, c, by := e.of.dim, e.constant, s.slope/float64(e.of.config.Sums.Records)
	for a, j := range s.features {
		clear(s.solved) // becomes twice the derivative in row a of C
		s.solved[a] = 1
		forward(s.half, s.factor, s.solved)
		backward(s.solved, s.factor, s.half)
		floats.Scale(weight, s.solved)
		floats.AddScaled(s.solved, -by*s.beta[a], s.beta)
		for b, m := range s.features {
			p[j*d+m] += s.solved[b] / 2
		}
		if c >= 0 {
			along := dot(s.solved, s.means) / 2
			p[j*d+c] -= along
			p[c*d+j] -= along
			p[c*(d+1)] += along * s.means[a]
		}
	}
}
