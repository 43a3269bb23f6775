package proptest

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// stated is the noise that an Additive mechanism says it adds to each coordinate:
// what its claim and its sensitivity imply.
type stated struct {
	gaussian bool
	scale    float64 // standard deviation, or scale of a Laplace
	step     float64 // of the grid that it is rounded to, or drawn on; 0 for none
}

// noiseOf reads the noise off a claim of one Gaussian or Laplace release.
func noiseOf(m Additive, dim int) (stated, bool) {
	all := m.Claim().Mechanisms()
	sensitivity := m.Sensitivity()
	if len(all) != 1 || all[0].Count != 1 || !finite(sensitivity) || sensitivity <= 0 {
		return stated{}, false
	}
	multiplier, ok := all[0].Params["noise_multiplier"]
	switch {
	case ok && strings.HasSuffix(all[0].Kind, "gaussian"): // on a grid or not
		return stated{true, multiplier * sensitivity, m.Step()}, true
	case ok && all[0].Kind == "laplace" && dim == 1:
		return stated{false, multiplier * sensitivity, m.Step()}, true
	}
	return stated{}, false
}

// cdf is that of the noise at scale 1, and of twice it from above, without
// cancellation.
func (s stated) cdf(x float64) float64 {
	if s.gaussian {
		return math.Erfc(-x/math.Sqrt2) / 2
	}
	return distuv.Laplace{Scale: 1}.CDF(x)
}

func (s stated) quantile(p float64) float64 {
	if s.gaussian {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.Laplace{Scale: 1}.Quantile(p)
}

// coarse is the square of the grid's step in scales. What is rounded has the law's chances between midpoints of the
// grid, and up to a twelfth of it more variance.
func (s stated) coarse() float64 { return s.step * s.step / (s.scale * s.scale) }

// slack is what a normal density's sum over an interval of the grid may differ by from its integral, for discrete
// normal noise: by Euler and Maclaurin 1/24 of the slope at either end, of which the most is below ¼. Geometric noise
// needs none: its curve of δ(ε) lies above a Laplace law's, which may not be claimed for it.
func (s stated) slack() float64 {
	if s.gaussian {
		return s.coarse() / 48
	}
	return 0
}

// midpoint moves an edge to the nearest one between numbers of the grid of v.
func (s stated) midpoint(v, edge float64) float64 {
	if s.step == 0 {
		return edge
	}
	return v + (math.Floor((edge-v)/s.step)+0.5)*s.step
}

// momentsOf are a sample's mean and standard deviation.
func momentsOf(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(sd)
}

// fitLevels are the quantiles between which noise is counted.
var fitLevels = func() []float64 {
	all := []float64{1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.005}
	for i := 1; i < 50; i++ {
		all = append(all, float64(i)/50)
	}
	for _, p := range []float64{0.005, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7} {
		all = append(all, 1-p)
	}
	return all
}()

// shape compares the noise of one coordinate, on the second half of the releases,
// with the stated law, at the location and scale that the first half leaves
// possible: counts between quantiles and beyond them, Clopper–Pearson. More noise
// than stated is no violation.
func (s stated) shape(e *evidence, v []float64, coordinate int) {
	half := len(v) / 2
	mean, sd := momentsOf(v[:half])
	unit := sd // the scale at which the sample has this standard deviation
	if !s.gaussian {
		unit /= math.Sqrt2
	}
	root := math.Sqrt(float64(half))
	at := [2]float64{mean - 6*sd/root, mean + 6*sd/root}
	scale := [2]float64{unit * (1 - 6/root), unit * (1 + 6/root)}
	if !s.gaussian { // its variance is known less well
		scale = [2]float64{unit * (1 - 10/root), unit * (1 + 10/root)}
	}
	scale[0] *= math.Sqrt(max(0.01, 1-s.coarse()/6)) // where it is rounded
	scale[1] *= math.Sqrt(1 + s.coarse()/6)
	edges := make([]float64, 0, len(fitLevels))
	for _, p := range fitLevels {
		edges = append(edges, s.midpoint(v[0], mean+unit*s.quantile(p)))
	}
	edges = slices.Compact(edges)
	counts := make([]int, len(edges)+1)
	rest := v[half:]
	for _, x := range rest {
		counts[sort.SearchFloat64s(edges, x)]++
	}
	possible := func(lo, hi float64) (least, most float64) {
		least = 1
		for _, a := range at {
			for _, b := range scale {
				p := s.between((lo-a)/b, (hi-a)/b)
				least, most = min(least, p), max(most, p)
			}
		}
		return max(0, least*(1-1e-9)-s.slack()), most*(1+1e-9) + s.slack()
	}
	see := func(k int, lo, hi float64) {
		least, most := possible(lo, hi)
		p := min(atLeast(k, len(rest), most), atMost(k, len(rest), least))
		e.see(min(1, 2*p), func() string {
			return fmt.Sprintf("%d of %d values of coordinate %d lie between %.4g and %.4g, where the noise has probability "+
				"%.3g to %.3g",
				k, len(rest), coordinate, lo, hi, least, most)
		})
	}
	below := 0
	for i, k := range counts {
		lo, hi := math.Inf(-1), math.Inf(1)
		if i > 0 {
			lo = edges[i-1]
		}
		if i < len(edges) {
			hi = edges[i]
		}
		see(k, lo, hi)
		if below += k; i > 0 && i < len(edges) {
			see(below, math.Inf(-1), hi)
			see(len(rest)-below, hi, math.Inf(1))
		}
	}
}

// hermite compares skewness and kurtosis, of values clamped to five standard
// deviations, with a normal's. Both are orthogonal to the normal's location and
// scale, so that the sample's own serve; clamping moves their means by less than
// a thousandth, which is allowed.
func hermite(e *evidence, v []float64, coordinate int) {
	mean, sd := momentsOf(v)
	third, fourth := moment{span: 220}, moment{span: 486}
	for _, x := range v {
		z := max(-5, min((x-mean)/sd, 5))
		third.add(z * (z*z - 3))
		fourth.add(z*z*(z*z-6) + 3)
	}
	for name, m := range map[string]*moment{"skewness": &third, "excess kurtosis": &fourth} {
		said := m.mean()
		m.less(2e-3)
		e.see(m.p(), func() string {
			return fmt.Sprintf("the noise of coordinate %d has %s %.3g over %.0f releases, where a normal has 0", coordinate,
				name, said, float64(len(v)))
		})
	}
}

// ripples looks for waves in the density: stairs, combs and grids. A normal law has none that are
// shorter than its standard deviation, wherever it lies and however wide it is: the mean of a wave
// of 0.8 of it is below 10⁻¹³. Those of a Laplace law are known, and allowed with a tenth more. The
// strongest waves of one half are tested on the other.
func (s stated) ripples(e *evidence, v []float64, coordinate int, step float64) {
	const cells = 4096
	half := len(v) / 2
	_, sd := momentsOf(v[:half])
	width := sd / 256
	if step > 0 { // cells of as many steps each
		width = step * math.Ceil(width/step)
	}
	shortest, longest := 2, int(cells*width/(0.8*sd))
	if longest >= cells/shortest {
		return // a coarse grid has room for none
	}
	count := func(part []float64) []float64 {
		counts := make([]float64, cells)
		for _, x := range part {
			turns := math.Floor((x-v[0])/width+0.5) / cells
			counts[int(cells*(turns-math.Floor(turns)))]++
		}
		return counts
	}
	transform := fourier.NewFFT(cells)
	spectrum := transform.Coefficients(nil, count(v[:half]))
	power := make([]float64, cells/shortest-longest)
	for i := range power {
		c := spectrum[longest+i]
		power[i] = real(c)*real(c) + imag(c)*imag(c)
	}
	rest := count(v[half:])
	for _, i := range strongest(power) {
		k, m := longest+i, moment{n: len(v) - half, span: 2}
		for at, n := range rest {
			wave := math.Cos(2*math.Pi*float64(k*at%cells)/cells + cmplx.Phase(spectrum[k]))
			m.sum, m.squares = m.sum+n*wave, m.squares+n*wave*wave
		}
		said, length := m.mean(), cells*width/float64(k)
		if !s.gaussian {
			m.less(1.1 / (1 + math.Pow(2*math.Pi*sd/length, 2)/2))
		}
		e.see(m.p(), func() string {
			return fmt.Sprintf("the noise of coordinate %d comes in waves of %.4g: their mean is %.3g", coordinate, length, said)
		})
	}
}

// tails counts the releases far out in either direction in all coordinates.
func (s stated) tails(e *evidence, columns [][]float64) {
	half := len(columns[0]) / 2
	for _, p := range []float64{1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 6e-5, 3e-5, 1e-5, 1e-6, 1e-7} {
		k, least, most, edge := 0, 0.0, 0.0, -s.quantile(p/2)
		for _, v := range columns {
			mean, unit := momentsOf(v[:half])
			width := 6 / math.Sqrt(float64(half))
			if !s.gaussian {
				unit, width = unit/math.Sqrt2, 10/math.Sqrt(float64(half))
			}
			for _, x := range v[half:] {
				if math.Abs(x-mean) > edge*unit {
					k++
				}
			}
			share, grid := 1/float64(len(columns)), s.step/unit
			least += share * max(0, 2*s.cdf(-edge*(1+width)-2*width-grid)-s.slack())
			most += share * (2*s.cdf(-edge*(1-width)+2*width+grid) + s.slack())
		}
		n := (len(columns[0]) - half) * len(columns)
		e.see(min(1, 2*min(atLeast(k, n, most), atMost(k, n, least))), func() string {
			return fmt.Sprintf("%d of %d values lie beyond %.3g times the noise's scale, "+
				"where the noise has probability %.3g to %.3g", k, n, edge, least, most)
		})
	}
}

// between is the probability of an interval, from the nearer tail.
func (s stated) between(lo, hi float64) float64 {
	if lo > 0 {
		return s.cdf(-lo) - s.cdf(-hi)
	}
	return s.cdf(hi) - s.cdf(lo)
}

// size tests whether the noise is smaller than stated, exactly: the sum of
// squares about the mean is χ², that of absolute deviations at most Gamma.
func (s stated) size(e *evidence, v []float64, coordinate int) {
	n, sum := float64(len(v)), 0.0
	if s.gaussian {
		mean := 0.0
		for _, x := range v {
			mean += x / n
		}
		for _, x := range v {
			sum += (x - mean) * (x - mean)
		}
		ratio := sum / (s.scale * s.scale)
		e.see(mathext.GammaIncReg((n-1)/2, ratio/2), func() string {
			return fmt.Sprintf("the noise of coordinate %d has standard deviation %.5g over %.0f releases, where %.5g is stated",
				coordinate, math.Sqrt(sum/(n-1)), n, s.scale)
		})
		return
	}
	sorted := slices.Sorted(slices.Values(v))
	middle := sorted[len(v)/2]
	for _, x := range v {
		sum += math.Abs(x - middle)
	}
	// Deviations about the sample's median are less than about the true one, by
	// about a half of one; two are allowed, and a twelfth of a step's square, of
	// which rounding takes half.
	e.see(mathext.GammaIncReg(n, sum/s.scale+2+n*s.coarse()/12), func() string {
		return fmt.Sprintf("the noise of coordinate %d has mean size %.5g over %.0f releases, where %.5g is stated",
			coordinate, sum/n, n, s.scale)
	})
}

// checkNoise holds an Additive mechanism to the noise that it states, as a whole:
// its size, its body and tails, that it repeats no value and fills its grid, and
// that coordinates are independent.
func checkNoise(t rapid.TB, m Additive, all [][]float64, o MechanismOptions) {
	t.Helper()
	dim := len(all[0])
	e := &evidence{}
	noise, known := noiseOf(m, dim)
	columns := make([][]float64, dim)
	for j := range columns {
		columns[j] = column(all, j)
		if slices.ContainsFunc(columns[j], func(v float64) bool { return !finite(v) }) {
			failf(t, "releases of an Additive mechanism are not all finite (Seed %d)", o.Seed)
			return
		}
		checkGrid(t, m, e, columns[j], j, known && noise.gaussian, o)
		if known {
			noise.size(e, columns[j], j)
			noise.shape(e, columns[j], j)
			if noise.gaussian {
				hermite(e, columns[j], j)
			}
			noise.ripples(e, columns[j], j, m.Step())
		}
	}
	if known {
		noise.tails(e, columns)
	}
	if known && dim > 1 {
		crossed(e, columns)
	}
	if t.Failed() {
		return
	}
	if o.noiseIsOff(t, m, e); t.Failed() || !known {
		return
	}
	if err := noise.checkLayers(t, m, columns, o); err != nil {
		failf(t, "%v", err)
	}
}

// noiseIsOff fails where evidence against the stated noise is strong enough.
func (o MechanismOptions) noiseIsOff(t rapid.TB, m Mechanism, e *evidence) {
	t.Helper()
	if e.family() <= o.FalseAlarm/shares {
		failf(t, "the noise is not what %v states: %s (p = %.2g in %d comparisons, Seed %d, false-alarm rate %g)%s",
			m.Claim(),
			e.about, e.family(), e.count, o.Seed, o.FalseAlarm, o.test())
	}
}

func column(all [][]float64, j int) []float64 {
	v := make([]float64, len(all))
	for i := range all {
		v[i] = all[i][j]
	}
	return v
}

// crossed tests that ranks and sizes of one coordinate are independent of those of another.
func crossed(e *evidence, columns [][]float64) {
	scores := make([][][4]float64, len(columns))
	for j, v := range columns {
		scores[j] = scored(v)
	}
	for j := range min(12, len(columns)) {
		for k := range j {
			for which := range 4 {
				a, b, m := which/2, which%2, moment{span: 4}
				for i := range scores[j] {
					m.add(scores[k][i][a] * scores[j][i][b])
				}
				e.see(m.p(), func() string {
					return fmt.Sprintf("the noise of coordinates %d and %d is dependent: the mean product of their scores of degrees "+
						"%d and %d is %.3g", k, j, a+1, b+1, m.mean())
				})
			}
		}
	}
}

// scored are the Legendre polynomials of ranks, less their means over the sample.
func scored(v []float64) [][4]float64 {
	var step = max(1, len(v)/4096)
	var reference []float64
	for i := 0; i < len(v); i += step {
		reference = append(reference, v[i])
	}
	slices.Sort(reference)
	out, means := make([][4]float64, len(v)), [4]float64{}
	for i, x := range v {
		lo := sort.SearchFloat64s(reference, x)
		hi := lo
		for hi < len(reference) && reference[hi] == x {
			hi++
		}
		out[i] = polynomials(2*(float64(lo+hi)/2+0.5)/float64(len(reference)+1) - 1)
		for k := range means {
			means[k] += out[i][k] / float64(len(v))
		}
	}
	for i := range out {
		for k := range means {
			out[i][k] -= means[k]
		}
	}
	return out
}

// checkSameNoise compares releases of one seed on the two data sets: an Additive
// mechanism's differ by what the query does, in every release alike.
func checkSameNoise(t rapid.TB, m Additive, onA [][]float64, o MechanismOptions) {
	t.Helper()
	if math.IsInf(m.Sensitivity(), 1) {
		return // batches differ from release to release
	}
	onB, err := releases(m, o.B, o.Seed, len(onA))
	if err != nil {
		failf(t, "%v", err)
		return
	}
	for i := range onA {
		for j := range onA[i] {
			first, now := onA[0][j]-onB[0][j], onA[i][j]-onB[i][j]
			size := max(math.Abs(onA[i][j]), math.Abs(onB[i][j]), math.Abs(onA[0][j]), math.Abs(onB[0][j]))
			if !(math.Abs(now-first) <= 1e-12*size) {
				failf(t, "release %d of one seed differs by %v between A and B, and release 0 by %v: the noise depends on the "+
					"records (Seed %d)%s", i, now, first, o.Seed, o.test())
				return
			}
		}
	}
}
