package anchors

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/surrogates"
)

// next follows the map by the one that second moments of rows in it say.
func (t *fit) next(moment *mat.SymDense, noise float64, first bool) {
	d, constant := len(t.columns), surrogates.ConstantOf(t.columns)
	level, longest := 1.0, t.radius // of the constant, and of rows, that the moments are of
	if first {
		level, longest = t.columns[constant].Upper, t.facts.Radius
		for j, c := range t.columns {
			if c.Kind != surrogates.Number {
				t.matrix.Set(j, j, 1/unit(c))
			}
		}
	}
	count := t.counts(moment, level)
	mean, covariance := t.covariance(moment, level, count)
	if !first && t.lighter > 0 {
		covariance.ScaleSym(1/t.lighter, covariance)
	}
	if first {
		t.whole, t.wholeMean, t.wholeNoise = covariance, slices.Clone(mean), noise/count
		floats.Scale(1/level, t.wholeMean)
	}
	t.findEnds(mean, level, covariance, noise/count, first)
	numbers, k := t.numbers, len(t.numbers)
	// Numbers less their mean, by the constant, which is 1 in the map.
	centred := mat.NewDense(k, d, nil)
	for a, j := range numbers {
		for l := range d {
			centred.Set(a, l, t.matrix.At(j, l)-mean[a]*t.matrix.At(constant, l))
		}
	}
	if t.ownShare > 0 {
		covariance.AddSym(covariance, t.own(covariance))
	}
	least := func(mat.Vector) float64 { return 0 }
	if !first {
		least = t.surely()
	}
	// No less than what noise makes of a matrix of zeros, unless bounds alone say more.
	floor := min(noise/count*math.Sqrt(2*float64(k)), longest*longest/(t.radius*t.radius))
	white := whitener(covariance, func(v mat.Vector) float64 { return max(floor, least(v)) })
	var rows mat.Dense
	rows.Mul(t.withEnds(white), centred)
	for a, j := range numbers {
		t.matrix.SetRow(j, rows.RawRowView(a))
	}
}

// counts is how many records moments are of, with that constant.
func (t *fit) counts(moment *mat.SymDense, level float64) float64 {
	n, constant := float64(t.facts.Records), surrogates.ConstantOf(t.columns)
	return min(n, max(t.fewest*n, moment.At(constant, constant)/(level*level)))
}

// covariance is that of numbers, by second moments of so many records, with their means.
func (t *fit) covariance(moment *mat.SymDense, level, count float64) ([]float64, *mat.SymDense) {
	k, constant := len(t.numbers), surrogates.ConstantOf(t.columns)
	mean, out := make([]float64, k), mat.NewSymDense(k, nil)
	for a, j := range t.numbers {
		mean[a] = moment.At(j, constant) / (count * level)
		for b := range a + 1 {
			out.SetSym(a, b, moment.At(j, t.numbers[b])/count-mean[a]*mean[b])
		}
	}
	return mean, out
}

// own is what the covariance of numbers in the map has of what is a number's own as it is, ownShare of its
// variance (surrogates.OwnShare).
func (t *fit) own(covariance *mat.SymDense) *mat.SymDense {
	k := len(t.numbers)
	as, back := t.among(), new(mat.Dense)
	out := mat.NewSymDense(k, nil)
	if back.Inverse(as) != nil { // its condition is beyond 10¹⁶
		return out
	}
	for b := range k {
		variance := mat.Inner(back.RowView(b), covariance, back.RowView(b))
		out.SymRankOne(out, t.ownShare*max(0, variance), as.ColView(b))
	}
	return out
}

// among is what the map makes of numbers, of what they are less their means.
func (t *fit) among() *mat.Dense {
	k := len(t.numbers)
	as := mat.NewDense(k, k, nil)
	for a, j := range t.numbers {
		for b, l := range t.numbers {
			as.Set(a, b, t.matrix.At(j, l))
		}
	}
	return as
}

// surely is the least variance of numbers in the map, in a direction, by the first second moments. Later ones
// lack rows that are long in the map before, so that what few records have would seem to spread ever less.
func (t *fit) surely() func(mat.Vector) float64 {
	as := t.among()
	var along mat.VecDense
	mean := mat.NewVecDense(len(t.numbers), t.wholeMean)
	return func(v mat.Vector) float64 {
		along.MulVec(as.T(), v)
		noise := t.wholeNoise * (mat.Dot(&along, &along) + math.Pow(mat.Dot(mean, &along), 2))
		return mat.Inner(&along, t.whole, &along) - 2*noise
	}
}

// whitener is the inverse root of a covariance matrix with eigenvalues of at least floor, turned so
// that each of its rows is as near as can be to a multiple of a unit vector.
func whitener(covariance *mat.SymDense, floor func(mat.Vector) float64) *mat.Dense {
	k := covariance.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		panic("anchors: eigenvalues of a finite symmetric matrix did not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	inverse, root := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = math.Sqrt(max(v, floor(vectors.ColView(i))))
	}
	for a := range k {
		for b := range k {
			p, q := 0.0, 0.0
			for i, v := range values {
				e := vectors.At(a, i) * vectors.At(b, i)
				p, q = p+e/v, q+e*v
			}
			inverse.Set(a, b, p)
			root.Set(a, b, q)
		}
	}
	// Of whiteners QW the one nearest to the inverse standard deviations has Q = (root·1/sd)'s polar factor, transposed.
	for b := range k {
		sd := mat.Norm(root.ColView(b), 2)
		for a := range k {
			root.Set(a, b, root.At(a, b)/sd)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(root, mat.SVDFull) {
		return inverse
	}
	var u, v, q, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&v, u.T())
	out.Mul(&q, inverse)
	return &out
}

// far is how long rows may be in the map where a number is at a bound, others being as they usually are beside it.
func (t *fit) far() (far float64) {
	var back mat.Dense
	_ = back.Inverse(t.matrix) // near a singular map it is what rounding leaves
	constant := surrogates.ConstantOf(t.columns)
	for _, j := range t.numbers {
		c, at, variance := t.bounds[j], back.At(j, constant), 0.0
		if c.Kind != surrogates.Number {
			continue
		}
		if c.Lower == c.Upper {
			return math.Inf(1)
		}
		for _, k := range t.numbers {
			variance += back.At(j, k) * back.At(j, k)
		}
		longer := max(math.Abs(c.Upper-at), math.Abs(c.Lower-at)) / math.Sqrt(variance)
		if math.IsNaN(longer) {
			return math.Inf(1)
		}
		far = max(far, longer)
	}
	return far
}

// back turns coefficients of fitted columns into those of columns as they are.
func (t *fit) back(theta []float64) {
	var out mat.VecDense
	out.MulVec(t.matrix.T(), mat.NewVecDense(len(theta), theta))
	copy(theta, out.RawVector().Data)
}

// combinations has what coefficients of columns as they are have of those of fitted ones, by rows.
func (t *fit) combinations() *mat.Dense { return mat.DenseCopyOf(t.matrix.T()) }
