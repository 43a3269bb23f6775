package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// normal is a normal law of the features, N(μ, S), which stands for the records' own. Sums over
// them are expectations under it: integrals over the linear predictors at the anchor and at θ,
// since given these the features are normal too. So there is no error of a finite sample in
// them, and they are smooth where predictors are large.
type normal struct {
	mean, spread []float64 // μ, and S row-major
	// The predictor at the anchor: its mean, its variance and its covariance with x.
	at, width float64
	along     []float64
	anchor    []float64
	parts     []portion // of which it is a mixture, nil for none
}

// newNormal are features with the mean and the covariance that a matrix of mean squares has
// with the constant column, −1 for none.
func newNormal(second *mat.SymDense, constant int, anchor []float64) *normal {
	d := len(anchor)
	n := &normal{mean: make([]float64, d), spread: make([]float64, d*d)}
	if constant >= 0 {
		level := math.Sqrt(second.At(constant, constant))
		for j := range d {
			n.mean[j] = second.At(j, constant) / level
		}
	}
	for j := range d {
		for k := range d {
			n.spread[j*d+k] = second.At(j, k) - n.mean[j]*n.mean[k]
		}
	}
	if constant >= 0 { // but for rounding
		for j := range d {
			n.spread[j*d+constant], n.spread[constant*d+j] = 0, 0
		}
	}
	return n.from(anchor)
}

// turned are features Tx, with the linear predictors at the anchor those of x.
func (n *normal) turned(t *mat.Dense) *normal {
	d := len(n.mean)
	out := &normal{at: n.at, width: n.width, anchor: n.anchor, mean: make([]float64, d), along: make([]float64, d)}
	mat.NewVecDense(d, out.mean).MulVec(t, mat.NewVecDense(d, n.mean))
	mat.NewVecDense(d, out.along).MulVec(t, mat.NewVecDense(d, n.along))
	var spread mat.Dense
	spread.Product(t, mat.NewDense(d, d, n.spread), t.T())
	out.spread = spread.RawMatrix().Data
	out.parts = n.each(func(part *normal) *normal { return part.turned(t) })
	return out
}

// each are the parts of a mixture as something else.
func (n *normal) each(as func(*normal) *normal) (parts []portion) {
	for _, part := range n.parts {
		parts = append(parts, portion{part.share, as(part.normal)})
	}
	return parts
}

// mixed is the mean over the parts of a mixture.
func (n *normal) mixed(of func(part int) *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(len(n.mean), nil)
	for i, part := range n.parts {
		one := of(i)
		one.ScaleSym(part.share, one)
		out.AddSym(out, one)
	}
	return out
}

// curvature is E[w·xxᵀ], w the loss's second derivative at the anchor for a response drawn
// there.
func (n *normal) curvature(link Link) *mat.SymDense {
	if n.parts != nil {
		return n.mixed(func(part int) *mat.SymDense { return n.parts[part].curvature(link) })
	}
	d, sd := len(n.mean), math.Sqrt(n.width)
	weights := weightsOver(n.at, sd, link)
	e := [3][]float64{n.mean, make([]float64, d), make([]float64, d)}
	scaleTo(e[1], n.along, sd)
	return n.bent(&weights, &e)
}

// bent is E[g·xxᵀ] of a function g of the predictors.
func (n *normal) bent(g *powers, e *[3][]float64) *mat.SymDense {
	d := len(n.mean)
	out, row := mat.NewSymDense(d, nil), make([]float64, d)
	for j := range d {
		n.row(row[:j+1], g, e)
		for k, v := range row[:j+1] {
			out.SetSym(j, k, v)
		}
	}
	return out
}

// row sets dst to the last row of E[g·xxᵀ] of as many features. Given the predictors, features
// are e₀ + u₁e₁ + u₂e₂ in the mean, with covariance S − e₁e₁ᵀ − e₂e₂ᵀ.
func (n *normal) row(dst []float64, g *powers, e *[3][]float64) {
	j, one := len(dst)-1, g[0][0]
	e0, e1, e2 := e[0][j], e[1][j], e[2][j]
	f0 := one*e0 + g[1][0]*e1 + g[0][1]*e2
	f1 := g[1][0]*e0 + (g[2][0]-one)*e1 + g[1][1]*e2
	f2 := g[0][1]*e0 + g[1][1]*e1 + (g[0][2]-one)*e2
	spread := n.spread[j*len(n.mean):]
	for k := range dst {
		dst[k] = one*spread[k] + f0*e[0][k] + f1*e[1][k] + f2*e[2][k]
	}
}

// square is the mean square of linear predictors.
func (n *normal) square(theta []float64) float64 {
	d, mean, variance := len(theta), dot(n.mean, theta), 0.0
	for j, t := range theta {
		variance += t * dot(n.spread[j*d:(j+1)*d], theta)
	}
	return mean*mean + variance
}

// moments are the mean and the variance of feature j.
func (n *normal) moments(j int) (mean, variance float64) {
	return n.mean[j], n.spread[j*(len(n.mean)+1)]
}

// scaleTo sets dst to v/by, or 0 where that is not a direction.
func scaleTo(dst, v []float64, by float64) {
	for j, x := range v {
		dst[j] = 0
		if by > 0 {
			dst[j] = x / by
		}
	}
}
