package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// classRows are the rows of one imputation.
type classRows struct {
	ownPrior
	law     *normal
	pairs   []pairs       // of each part of the law
	known   []float64     // mean of x·p_k at the anchors
	many    *classRows    // more rows of the law
	short   []float64     // what pairs lack of the score's mean at the centre
	missing *mat.SymDense // second moments, of the mean, that the rows lack
	open    *mat.SymDense // variances of that mean's entries; nil where moments are drawn
	lower   []float64     // factor of the score's covariance
	log     float64       // minus half its log determinant
	lacking []float64     // missing, in the score's slope, row-major
}

// pairs are rows of a normal law, each with its mirror image.
type pairs struct {
	mean   []float64
	around []float64 // what rows have beyond the mean, row-major
	each   float64   // share of the whole law that a row stands for
}

// halfRows are drawn for an imputation, with their mirror images. Of 4·10⁴ records what these are
// off by is more than noise, so halfMany more say the mean at the centre.
const (
	halfRows = 128
	halfMany = 2048
)

// impute draws rows of one law of features. Their mean and second moments are its own.
func (c *Classes) impute(second *mat.SymDense, m *moments, rng *rand.Rand) *classRows {
	r := &classRows{}
	if m.mean != nil {
		r.open, r.missing = m.open, mat.NewSymDense(c.p, nil)
		for j := range c.p {
			for k := range j + 1 {
				r.missing.SetSym(j, k, m.mean.At(j, k)-second.At(j, k))
			}
		}
	}
	c.draw(r, c.law(second, m), rng)
	return r
}

// law is the normal law of features with these second moments, of all records.
func (c *Classes) law(second *mat.SymDense, m *moments) *normal {
	each := mat.NewSymDense(c.p, nil)
	each.ScaleSym(1/float64(c.config.Statistics.Records), second)
	return newNormal(each, m.constant, make([]float64, c.p))
}

// draw draws rows of a law.
func (c *Classes) draw(r *classRows, law *normal, rng *rand.Rand) {
	r.law, r.pairs = law, law.rows(halfRows, rng)
	r.many = c.manyRows(law, rng)
	c.anchored(r)
}

// manyRows are many rows of a law.
func (c *Classes) manyRows(law *normal, rng *rand.Rand) *classRows {
	r := &classRows{law: law, pairs: law.rows(halfMany, rng)}
	c.anchored(r)
	return r
}

// anchored sets what rows say of the anchors.
func (c *Classes) anchored(r *classRows) {
	r.known = make([]float64, c.dim)
	part, probs := make([]float64, c.dim), make([]float64, c.of)
	for _, at := range c.config.Anchors {
		r.sum(part, probs, at)
		floats.AddScaled(r.known, 1/float64(len(c.config.Anchors)), part)
	}
}

// rows are about so many rows of the law and their mirror images, of each part of a mixture in proportion.
func (n *normal) rows(half int, rng *rand.Rand) []pairs {
	p := len(n.mean)
	half = max(half, 4*p)
	if n.parts == nil {
		return []pairs{n.ownRows(half, 1, rng)}
	}
	var all []pairs
	for _, part := range n.parts { // orthogonal ones, if they are no more than features
		all = append(all, part.ownRows(max(p+2, int(math.Ceil(part.share*float64(half)))), part.share, rng))
	}
	return all
}

// ownRows are so many, with the law's mean and covariance. They stand for a share.
func (n *normal) ownRows(half int, share float64, rng *rand.Rand) pairs {
	p := len(n.mean)
	z := mat.NewDense(half, p, nil)
	for j := range p { // a Latin hypercube
		for i, at := range rng.Perm(half) {
			z.Set(i, j, quantile((float64(at)+rng.Float64())/float64(half)))
		}
	}
	gram := mat.NewSymDense(p, nil)
	gram.SymOuterK(1/float64(half), z.T())
	var chol mat.Cholesky
	var lower mat.TriDense
	if !chol.Factorize(gram) {
		panic("surrogates: rows of normal numbers are not independent")
	}
	chol.LTo(&lower)
	var root, white mat.Dense
	if err := white.Solve(&lower, z.T()); err != nil {
		panic("surrogates: rows of normal numbers are nearly dependent")
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(p, n.spread), true) {
		panic("surrogates: eigenvalues of a finite symmetric matrix did not converge")
	}
	var axes, around mat.Dense
	eigen.VectorsTo(&axes)
	values := eigen.Values(nil)
	root.Apply(func(_, k int, v float64) float64 { return v * math.Sqrt(max(0, values[k])) }, &axes)
	around.Mul(&root, &white)
	out := pairs{n.mean, make([]float64, 0, half*p), share / float64(2*half)}
	for i := range half {
		for j := range p {
			out.around = append(out.around, around.At(j, i))
		}
	}
	return out
}

// visit visits rows, with the share of the law that each stands for. A row is valid until the next.
func (r *classRows) visit(row func(x []float64, each float64)) {
	x := make([]float64, len(r.law.mean))
	for _, of := range r.pairs {
		for i := 0; i < len(of.around); i += len(x) {
			for _, sign := range []float64{1, -1} {
				floats.AddScaledTo(x, of.mean, sign, of.around[i:i+len(x)])
				row(x, of.each)
			}
		}
	}
}

// sum sets dst to the mean of x·p_k(theta), with room for probabilities.
func (r *classRows) sum(dst, probs, theta []float64) {
	clear(dst)
	p := len(dst) / len(probs)
	r.visit(func(x []float64, each float64) {
		chancesOf(probs, theta, x)
		for k, v := range probs {
			floats.AddScaled(dst[k*p:(k+1)*p], each*v, x)
		}
	})
}

// chancesOf are the probabilities of classes at theta.
func chancesOf(probs, theta, x []float64) {
	p := len(x)
	for k := range probs {
		probs[k] = dot(theta[k*p:(k+1)*p], x)
	}
	softmax(probs)
}

// softmax makes probabilities of predictors.
func softmax(v []float64) {
	top, sum := slices.Max(v), 0.0
	for k := range v {
		v[k] = math.Exp(v[k] - top)
		sum += v[k]
	}
	floats.Scale(1/sum, v)
}

// information is the mean of (diag p − ppᵀ) ⊗ xxᵀ at theta: minus the derivative of the score's
// mean, and its variance, for one record. among is that of diag p − ppᵀ alone.
func (r *classRows) information(theta []float64, p int) (h, among *mat.SymDense) {
	of := len(theta) / p
	h, among = mat.NewSymDense(len(theta), nil), mat.NewSymDense(of, nil)
	entries := h.RawSymmetric().Data // of the upper triangle, row by row
	probs, wx := make([]float64, of), make([]float64, p)
	r.visit(func(x []float64, each float64) {
		chancesOf(probs, theta, x)
		for k, a := range probs {
			for l, b := range probs[:k+1] {
				w := -a * b * each
				if k == l {
					w = a * (1 - a) * each
				}
				among.SetSym(l, k, among.At(l, k)+w)
				for j, u := range x {
					wx[j] = w * u
				}
				for m, v := range x {
					row, j := entries[(l*p+m)*len(theta)+k*p:], 0
					if k == l {
						j = m
					}
					for ; j < p; j++ {
						row[j] += wx[j] * v
					}
				}
			}
		}
	})
	return h, among
}
