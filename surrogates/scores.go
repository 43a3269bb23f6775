package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// features are a normal law of the features and a response.
type features struct {
	*normal
	slopes *slopes     // of the response, but for a logistic one
	known  []float64   // E[x·f] at the anchor, of a logistic response
	parts  []*features // of a mixture, which has none of these
}

func newFeatures(n *normal, link Link) *features { return featuresOf(n, link, true) }

// meanScore sets mean to that of the score of so many records at one parameter.
func meanScore(mean []float64, n *normal, link Link, theta []float64, records float64) {
	featuresOf(n, link, false).scores().law(mean, nil, theta, records)
}

// featuresOf has a table of slopes for many parameters, or none.
func featuresOf(n *normal, link Link, table bool) *features {
	if n.parts != nil {
		f := &features{normal: n}
		for _, part := range n.parts {
			f.parts = append(f.parts, featuresOf(part.normal, link, table))
		}
		return f
	}
	if link != Logistic {
		return &features{normal: n, slopes: newSlopes(link, n.at, math.Sqrt(n.width), table)}
	}
	f, m := &features{normal: n, known: make([]float64, len(n.mean))}, momentsOf(n.at, n.width)
	for j := range f.known {
		f.known[j] = n.mean[j]*m[0] + n.along[j]*m[1]
	}
	return f
}

// information is minus the derivative of the score's mean at theta, for one record.
func (f *features) information(theta []float64) *mat.SymDense {
	if f.parts != nil {
		return f.mixed(func(part int) *mat.SymDense { return f.parts[part].information(theta) })
	}
	s := f.scores()
	s.set(theta)
	h := f.bent(&s.dSlope, &s.e)
	h.ScaleSym(-1, h)
	return h
}

// scores is the law of the score on features, at one theta after another. It has buffers, for
// one goroutine.
type scores struct {
	*features
	integrals
	// With u₁ and u₂ the predictors at the anchor and at theta as independent standard
	// normals, features are e₀ + u₁e₁ + u₂e₂ in the mean, e₀ = μ, and spread S − e₁e₁ᵀ − e₂e₂ᵀ.
	e       [3][]float64
	ae      [3][]float64 // A·e
	w, step []float64    // covariance of x with the predictor, and the way from the anchor

	parts []*scores // of a mixture
	cell  []float64 // a buffer, of a part's covariance
}

func (f *features) scores() *scores {
	d := len(f.mean)
	if f.parts != nil {
		s := &scores{features: f, step: make([]float64, d), cell: make([]float64, d*d)}
		for _, part := range f.parts {
			s.parts = append(s.parts, part.scores())
		}
		return s
	}
	row := func() []float64 { return make([]float64, d) }
	s := &scores{features: f, w: row(), step: row(), e: [3][]float64{f.mean, row(), row()},
		ae: [3][]float64{row(), row(), row()}}
	if f.known == nil {
		scaleTo(s.e[1], f.along, math.Sqrt(f.width))
	}
	return s
}

// set takes a parameter.
func (s *scores) set(theta []float64) {
	d := len(theta)
	at, width, cov := s.at, s.width, s.width
	for j := range d {
		s.step[j] = theta[j] - s.anchor[j]
		at += s.mean[j] * s.step[j]
		cov += s.along[j] * s.step[j]
	}
	width = 2*cov - width
	for j := range d {
		v := dot(s.spread[j*d:(j+1)*d], s.step)
		s.w[j] = s.along[j] + v
		width += v * s.step[j]
	}
	width = max(0, width)
	if s.known != nil {
		sd := math.Sqrt(width)
		s.integrals.logistic(momentsOf(at, width), sd)
		scaleTo(s.e[1], s.w, sd)
		return
	}
	p := predictors{at: at}
	if s.width > 0 {
		p.along = cov / math.Sqrt(s.width)
	}
	if own := width - p.along*p.along; own > 1e-14*width {
		p.own = math.Sqrt(own)
	}
	for j := range d {
		s.w[j] -= p.along * s.e[1][j]
	}
	scaleTo(s.e[2], s.w, p.own)
	s.over(p, s.features.slopes)
}

// law sets mean to the score's and, unless nil, the lower triangle of its covariance, for so
// many records.
func (s *scores) law(mean, lower, theta []float64, records float64) {
	if s.parts != nil {
		s.mixture(mean, lower, theta, records)
		return
	}
	s.set(theta)
	d, g, e := len(theta), &s.slope, &s.e
	for j := range d {
		mean[j] = records * (g[0][0]*e[0][j] + g[1][0]*e[1][j] + g[0][1]*e[2][j])
		if s.known != nil {
			mean[j] += records * s.known[j]
		}
		if lower == nil {
			continue
		}
		row := lower[j*d : j*d+j+1]
		s.row(row, &s.variance, e)
		floats.Scale(records, row)
	}
}

// mixture is the law of a mixture.
func (s *scores) mixture(mean, lower, theta []float64, records float64) {
	clear(mean)
	clear(lower)
	var cell []float64
	if lower != nil {
		cell = s.cell
	}
	for i, part := range s.parts {
		part.law(s.step, cell, theta, records*s.normal.parts[i].share)
		floats.Add(mean, s.step)
		floats.Add(lower, cell)
	}
}

// back adds to grad the derivative of mean·u + ½⟨A, covariance⟩ where law was asked last,
// A by its lower triangle. A nil lower leaves the covariance out. Predictors change along x, so
// that E[x·g] changes by E[x·(x·g′)].
func (s *scores) back(grad, u, lower []float64, records float64) {
	if s.parts != nil {
		for i, part := range s.parts {
			part.back(grad, u, lower, records*s.normal.parts[i].share)
		}
		return
	}
	d, e, g := len(u), &s.e, &s.dSlope
	b := [3]float64{dot(e[0], u), dot(e[1], u), dot(e[2], u)}
	one := g[0][0]
	f := [3]float64{
		one*b[0] + g[1][0]*b[1] + g[0][1]*b[2],
		g[1][0]*b[0] + (g[2][0]-one)*b[1] + g[1][1]*b[2],
		g[0][1]*b[0] + g[1][1]*b[1] + (g[0][2]-one)*b[2],
	}
	for j := range d {
		s.step[j] = one * u[j]
	}
	if lower != nil {
		s.backVariance(&f, lower)
	}
	for j := range d {
		v := dot(s.spread[j*d:(j+1)*d], s.step)
		grad[j] += records * (v + f[0]*e[0][j] + f[1]*e[1][j] + f[2]*e[2][j])
	}
}

// backVariance adds ½E[xᵀAx·x·g], g the variance's derivative, to Σfe + S·step: given the
// predictors xᵀAx·x is (cᵀAc + ⟨A, R⟩)c + 2RAc in the mean, c = Σu·e and R = S − e₁e₁ᵀ − e₂e₂ᵀ.
func (s *scores) backVariance(f *[3]float64, lower []float64) {
	d, e, g := len(s.mean), &s.e, &s.dVariance
	var in [3][3]float64 // eᵀAe
	for a := range e {
		symmetric(s.ae[a], lower, e[a])
		for b := range e {
			in[a][b] = dot(e[b], s.ae[a])
		}
	}
	trace := -in[1][1] - in[2][2]
	for j := range d {
		row := s.spread[j*d : (j+1)*d]
		trace += 2*dot(lower[j*d:j*d+j], row[:j]) + lower[j*d+j]*row[j]
	}
	for c := range e {
		p, q := power(c)
		f[c] += trace / 2 * g[p][q]
		for j := range d {
			s.step[j] += g[p][q] * s.ae[c][j]
		}
		for a := range e {
			p1, q1 := power(a)
			for b := range e {
				p2, q2 := power(b)
				f[c] += g[p+p1+p2][q+q1+q2] * in[a][b] / 2
			}
			if a > 0 { // what R lacks of S
				f[a] -= g[p][q] * in[c][a]
			}
		}
	}
}

// power are the exponents of u₁ and u₂ that belong to eₐ.
func power(a int) (p, q int) {
	switch a {
	case 1:
		return 1, 0
	case 2:
		return 0, 1
	}
	return 0, 0
}

// symmetric sets dst to Av, of the lower triangle of A.
func symmetric(dst, lower, v []float64) {
	d := len(v)
	clear(dst)
	for j := range d {
		row := lower[j*d : j*d+j]
		dst[j] += dot(row, v[:j]) + lower[j*d+j]*v[j]
		for k, a := range row {
			dst[k] += a * v[j]
		}
	}
}
