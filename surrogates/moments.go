package surrogates

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// moments is the posterior of a matrix of second moments Σ w·xxᵀ given a release
// of it with noise of known law: the diagonal positive and near its mean as far as
// the released diagonal says, correlations near 0 as far as the released ones say.
type moments struct {
	d        int
	released []float64     // d×d
	noise    []float64     // variances of the noise in them
	most     float64       // bounds the trace
	typical  []float64     // diagonal entries of numbers; 0 for other columns
	fill     *filled       // their posterior, once asked for
	constant int           // the column of the intercept, or −1
	mean     *mat.SymDense // of many draws, once asked for
	open     *mat.SymDense // the variances of their entries
	plain    *mat.SymDense // of one record, where mean is of the curvature that they lead to
}

// newMoments joins a release, with noise of standard deviation sd on the diagonal,
// and what columns say: levels of a category exclude each other, and the product of
// a level's indicator with the intercept is that with itself.
func newMoments(released []float64, sd, most float64, columns []Column, d int) *moments {
	m := &moments{d: d, released: append([]float64(nil), released...), noise: make([]float64, d*d), most: most,
		typical: typicalOf(columns, most, d), constant: ConstantOf(columns)}
	for e := range m.noise {
		m.noise[e] = sd * sd / 2
		if e/d == e%d {
			m.noise[e] = sd * sd
		}
	}
	for j, a := range columns {
		if a.Kind != Level || a.Lower != 0 {
			continue
		}
		for k, b := range columns[:j] {
			if b.Kind == Level && b.Lower == 0 && b.Group == a.Group {
				m.set(j, k, 0, 0)
			}
		}
		if m.constant >= 0 && sd > 0 {
			m.tie(j, a.Upper/columns[m.constant].Upper)
		}
	}
	return m
}

// counting joins the release of the constant's moment with how many of the records should
// count: all but the missing share, which may be off by three times itself, and by half of what
// a variance is off by.
func (m *moments) counting(columns []Column, records int64) {
	j := m.constant
	if j < 0 || columns[j].Missing == 0 || m.noise[j*m.d+j] == 0 {
		return
	}
	n, c := float64(records), columns[j]
	all := n * c.Upper * c.Upper
	off := all * (3*c.Missing + 0.5/math.Sqrt(n))
	a, b := m.noise[j*m.d+j], off*off
	m.set(j, j, (m.released[j*m.d+j]*b+all*(1-c.Missing)*a)/(a+b), a*b/(a+b))
}

// counted is how many of the records count, by their matrix of second moments.
func counted(columns []Column, records int64, square func(j int) float64) float64 {
	n, j := float64(records), ConstantOf(columns)
	if j < 0 || columns[j].Missing == 0 {
		return n
	}
	return square(j) / (columns[j].Upper * columns[j].Upper)
}

func (m *moments) set(j, k int, value, noise float64) {
	m.released[j*m.d+k], m.released[k*m.d+j] = value, value
	m.noise[j*m.d+k], m.noise[k*m.d+j] = noise, noise
}

// tie joins the two releases of a level's moment: its own, and ratio times that with
// the intercept.
func (m *moments) tie(j int, ratio float64) {
	own, edge := j*m.d+j, j*m.d+m.constant
	a, b := m.noise[own], ratio*ratio*m.noise[edge]
	value, noise := (m.released[own]*b+ratio*m.released[edge]*a)/(a+b), a*b/(a+b)
	m.set(j, j, value, noise)
	m.set(j, m.constant, value/ratio, noise/(ratio*ratio))
}

// average sets the mean of the posterior and the variances of its entries, each entry
// by itself: the mean need not be positive definite.
func (m *moments) average(rng *rand.Rand) {
	const draws = 300
	m.mean, m.open = mat.NewSymDense(m.d, nil), mat.NewSymDense(m.d, nil)
	for i := range draws {
		scale := m.pooled(rng)
		one := m.correlations(scale, rng)
		for j := range m.d {
			for k := range j + 1 {
				v := one.At(j, k) * scale[j] * scale[k]
				step := v - m.mean.At(j, k)
				m.mean.SetSym(j, k, m.mean.At(j, k)+step/float64(i+1))
				m.open.SetSym(j, k, m.open.At(j, k)+step*(v-m.mean.At(j, k))/(draws-1))
			}
		}
	}
}

// least is the smallest diagonal entry and eigenvalue of the correlations that is
// told from none, relative to the mean.
const least = 1e-3

// tries is how many matrices are drawn for one that is positive definite.
const tries = 400

// How many matrices are drawn for one that is used: alike, and where something weighs them.
const (
	pool        = 4
	poolWeighed = 16
)

// draws returns so many matrices from the posterior, or the mean as often where there is one. Each
// stands for as large a part of it by the product of the diagonal. log, unless nil, is a log
// likelihood of what else is known.
func (m *moments) draws(count int, rng *rand.Rand, log func(*mat.SymDense) float64) []*mat.SymDense {
	if m.mean != nil {
		return slices.Repeat([]*mat.SymDense{m.positive()}, count)
	}
	type drawn struct {
		of         *mat.SymDense
		size, mass float64
	}
	all := make([]drawn, pool*count)
	if log != nil {
		all = make([]drawn, poolWeighed*count)
	}
	top := math.Inf(-1)
	for i := range all {
		all[i].of = m.draw(rng)
		for j := range m.d {
			all[i].size += math.Log(all[i].of.At(j, j))
		}
		if log != nil {
			all[i].mass = log(all[i].of)
		}
		top = max(top, all[i].mass)
	}
	slices.SortFunc(all, func(a, b drawn) int { return cmp.Compare(a.size, b.size) })
	sum := 0.0
	for i := range all {
		all[i].mass = math.Exp(all[i].mass - top)
		sum += all[i].mass
	}
	out := make([]*mat.SymDense, 0, count)
	at, next := 0.0, rng.Float64()
	for _, one := range all {
		at += one.mass / sum * float64(count)
		for ; next < at && len(out) < count; next++ {
			out = append(out, one.of)
		}
	}
	for len(out) < count { // but for rounding
		out = append(out, all[len(all)-1].of)
	}
	return out
}

// draw returns one matrix from the posterior, positive definite: the first such of some.
// To mend every one that is not would make nearly singular ones as likely as all of those
// together.
func (m *moments) draw(rng *rand.Rand) *mat.SymDense {
	var scale []float64
	var c *mat.SymDense
	for range tries {
		scale = m.scales(rng)
		if c = m.correlations(scale, rng); positiveDefinite(c) {
			break
		}
	}
	return rescaled(nearestCorrelation(c), scale)
}

// positiveDefinite reports whether no eigenvalue is below least.
func positiveDefinite(c *mat.SymDense) bool {
	lowered := mat.NewSymDense(c.SymmetricDim(), nil)
	lowered.CopySym(c)
	for j := range c.SymmetricDim() {
		lowered.SetSym(j, j, c.At(j, j)-least)
	}
	var chol mat.Cholesky
	return chol.Factorize(lowered)
}

// positive is the mean, raised to be positive definite.
func (m *moments) positive() *mat.SymDense {
	scale, inverse := make([]float64, m.d), make([]float64, m.d)
	for j := range scale {
		scale[j] = math.Sqrt(m.mean.At(j, j))
		inverse[j] = 1 / scale[j]
	}
	return rescaled(nearestCorrelation(rescaled(m.mean, inverse)), scale)
}

func rescaled(c *mat.SymDense, scale []float64) *mat.SymDense {
	out := mat.NewSymDense(len(scale), nil)
	for j := range scale {
		for k := range j + 1 {
			out.SetSym(j, k, c.At(j, k)*scale[j]*scale[k])
		}
	}
	return out
}

// pooled draws the square roots of the diagonal entries: normal about their mean with
// the variance that exceeds the noise's, given the released ones, and positive.
func (m *moments) pooled(rng *rand.Rand) []float64 {
	d := float64(m.d)
	mean, noise := 0.0, 0.0
	for j := range m.d {
		mean += m.released[j*m.d+j] / d
		noise += m.noise[j*m.d+j] / d
	}
	spread := 0.0
	for j := range m.d {
		e := m.released[j*m.d+j] - mean
		spread += e * e / max(1, d-1)
	}
	// The trace is below its public bound: a normal cut off at both ends.
	mean = truncated(rng, mean, math.Sqrt(noise/d), least*m.most/d, m.most/d)
	own := max(spread-noise, mean*mean/16)
	out := make([]float64, m.d)
	for j := range out {
		v, noise := m.released[j*m.d+j], m.noise[j*m.d+j]
		if noise > 0 {
			v = (own*v + noise*mean) / (own + noise)
		}
		out[j] = math.Sqrt(truncated(rng, v, math.Sqrt(own*noise/(own+noise)), least*mean, m.most))
	}
	return out
}

// correlations draws the matrix of correlations given the scales, each by itself: those with the intercept near 0, and
// others near the product of these, as features that are independent have, as far as noise hides them.
func (m *moments) correlations(scale []float64, rng *rand.Rand) *mat.SymDense {
	out := mat.NewSymDense(m.d, nil)
	draw := func(j, k int, own, middle float64) {
		s := scale[j] * scale[k]
		noise := m.noise[j*m.d+k] / (s * s)
		r := m.released[j*m.d+k] / s
		if noise > 0 {
			keep := own / (own + noise)
			r = middle + keep*(r-middle) + math.Sqrt(keep*noise)*rng.NormFloat64()
		}
		out.SetSym(j, k, r)
	}
	at := make([]float64, m.d) // with the intercept
	edge := m.spread(scale, at, true)
	for j := range m.d {
		out.SetSym(j, j, 1)
		if m.constant >= 0 && j != m.constant {
			draw(j, m.constant, edge, 0)
			at[j] = out.At(j, m.constant)
		}
	}
	inner := m.spread(scale, at, false)
	for j := range m.d {
		for k := j + 1; k < m.d; k++ {
			if j != m.constant && k != m.constant {
				draw(j, k, inner, at[j]*at[k])
			}
		}
	}
	return out
}

// spread is the variance of the correlations about their middle, with the intercept's column or among
// the rest, given those with the intercept, that makes the released ones most likely: a fixed-point iteration on
// the mean of the posterior second moments.
func (m *moments) spread(scale, at []float64, edge bool) float64 {
	var off, noises []float64 // of the released ones, about their middle
	for j := range m.d {
		for k := j + 1; k < m.d; k++ {
			if (j == m.constant || k == m.constant) != edge {
				continue
			}
			s := scale[j] * scale[k]
			if noise := m.noise[j*m.d+k] / (s * s); noise > 0 {
				off, noises = append(off, m.released[j*m.d+k]/s-at[j]*at[k]), append(noises, noise)
			}
		}
	}
	if len(noises) == 0 {
		return 0
	}
	own := 0.1
	for range 50 {
		sum := 0.0
		for i, noise := range noises {
			keep := own / (own + noise)
			sum += keep*keep*off[i]*off[i] + keep*noise
		}
		next := min(1, max(1e-8, sum/float64(len(noises))))
		if next == own {
			break
		}
		own = next
	}
	return own
}

// nearestCorrelation raises eigenvalues to least and restores the diagonal of ones.
func nearestCorrelation(c *mat.SymDense) *mat.SymDense {
	d := c.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(c, true) {
		panic("surrogates: eigenvalues of a finite symmetric matrix did not converge")
	}
	values := eigen.Values(nil)
	if values[0] >= least {
		return c
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := mat.NewSymDense(d, nil)
	for i, v := range values {
		out.SymRankOne(out, max(v, least), vectors.ColView(i))
	}
	scale := make([]float64, d)
	for j := range d {
		scale[j] = 1 / math.Sqrt(out.At(j, j))
	}
	for j := range d {
		for k := j; k < d; k++ {
			out.SetSym(j, k, out.At(j, k)*scale[j]*scale[k])
		}
	}
	return out
}

// truncated draws from a normal cut off at lo and hi, by inversion on the side
// where the distribution function keeps its digits.
func truncated(rng *rand.Rand, mean, sd, lo, hi float64) float64 {
	if !(sd > 0) {
		return max(lo, min(hi, mean))
	}
	a, b := (lo-mean)/sd, (hi-mean)/sd
	flip := a > 0
	if flip {
		a, b = -b, -a
	}
	pa, pb := cdf(a), cdf(b)
	z := quantile(pa + (pb-pa)*rng.Float64())
	if flip {
		z = -z
	}
	return max(lo, min(hi, mean+sd*z))
}

func cdf(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func quantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
