package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The kernels sample the posterior of posteriors.Conjugate: N(center, sd²·I) in
// two dimensions.
const (
	precision = 7.0
	step      = 0.5  // of walks
	size      = 0.05 // of Langevin steps
	walkClip  = 50
)

var (
	sd     = 1 / math.Sqrt(precision)
	center = []float64{9 / precision, -2 / precision}
)

// spy is a target that remembers what records it was shown.
type spy struct {
	*targets.GaussianMean
	last, largest float64
	strange       bool // NaN was shown
	repeated      int
	huge          int // numbers beyond 10⁶ in the last batch
}

func (s *spy) Loss(dst, theta []float64, rows targets.Rows) {
	s.huge = 0
	for _, x := range rows.X {
		if math.Abs(x) > 1e6 {
			s.huge++
		}
		if x == s.last {
			s.repeated++
		}
		s.last = x
		s.largest = max(s.largest, math.Abs(x))
		s.strange = s.strange || math.IsNaN(x)
	}
	s.GaussianMean.Loss(dst, theta, rows)
}

// chain is a walk with Barker's test, or Langevin steps along released gradients,
// with hooks that spoil it. steps counts those of the kernel, whatever the state
// says.
type chain struct {
	target targets.GradTarget
	spy    *spy // the target, where a hook looks at records; else nil
	bits   *curator.Bits
	slopes *curator.Gradients
	desk   *curator.Curator // that grants more
	next   []float64
	grad   []float64
	before []float64 // the state of the step before
	last   []float64 // the noise of the step before
	steps  int
	info   kernels.Info
	hooks
}

func (k *chain) Name() string {
	if k.hooks.name != "" {
		return k.hooks.name
	}
	return "planted"
}
func (k *chain) Dim() int { return len(k.next) }

func (k *chain) Left() int64 {
	left := int64(0)
	if k.bits != nil {
		left = k.bits.Left()
	} else {
		left = k.slopes.Left()
	}
	if k.left != nil {
		return k.left(k, left)
	}
	return left
}

func (k *chain) Init(theta []float64) (*kernels.State, error) {
	clear(k.last)
	if k.init != nil {
		return k.init(k, theta)
	}
	return kernels.NewState(k.target, theta)
}

func (k *chain) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.refuse != nil {
		if err := k.refuse(k, s); err != nil {
			return kernels.Info{}, err
		}
	}
	k.steps++
	var info kernels.Info
	var err error
	if k.bits != nil {
		info, err = k.walk(rng, s)
	} else {
		info, err = k.langevin(rng, s)
	}
	if err != nil {
		if k.fail != nil {
			return k.fail(k, s, err)
		}
		return kernels.Info{}, err
	}
	s.Iteration++
	if k.after == nil {
		return info, nil
	}
	k.info = info // a field, so that hooks make no step allocate
	k.after(k, rng, s, &k.info)
	return k.info, nil
}

func (k *chain) walk(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	for j, t := range s.Theta {
		k.next[j] = t + step*rng.NormFloat64()
	}
	if k.propose != nil {
		k.propose(k, rng, s.Theta, k.next)
	}
	ratio := k.target.LogPrior(k.next) - k.target.LogPrior(s.Theta)
	if k.public != nil {
		ratio = k.public(k, s.Theta, k.next, ratio)
	}
	accepted, err := k.bits.Accept(k.next, s.Theta, ratio)
	if err != nil {
		return kernels.Info{}, err
	}
	if k.accept != nil {
		accepted = k.accept(k, rng, s.Theta, k.next, accepted)
	}
	copy(k.before, s.Theta)
	if accepted {
		copy(s.Theta, k.next)
	}
	return kernels.Info{Accepted: accepted, StepSize: step}, nil
}

func (k *chain) langevin(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if err := k.slopes.Release(k.grad, s.Theta); err != nil {
		return kernels.Info{}, err
	}
	for j, t := range s.Theta {
		k.grad[j] = -k.grad[j] - t // the standard normal prior's
		k.next[j] = rng.NormFloat64()
	}
	if k.drift != nil {
		k.drift(k, s.Theta, k.grad)
	}
	if k.noise != nil {
		k.noise(k, rng, s.Theta, k.next)
	}
	scale := math.Sqrt(size)
	if k.scale > 0 {
		scale *= k.scale
	}
	for j := range s.Theta {
		s.Theta[j] += size/2*k.grad[j] + scale*k.next[j]
	}
	return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
}

type hooks struct {
	name    string
	propose func(k *chain, rng *rand.Rand, theta, next []float64)
	public  func(k *chain, theta, next []float64, ratio float64) float64
	accept  func(k *chain, rng *rand.Rand, theta, next []float64, accepted bool) bool
	after   func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)
	fail    func(k *chain, s *kernels.State, err error) (kernels.Info, error)
	refuse  func(k *chain, s *kernels.State) error
	init    func(k *chain, theta []float64) (*kernels.State, error)
	left    func(k *chain, left int64) int64
	noise   func(k *chain, rng *rand.Rand, theta, z []float64)
	drift   func(k *chain, theta, g []float64)
	scale   float64 // of the injected noise; 0 for 1
}

// The Langevin chain's law, in each coordinate: (1 − size·precision/2) times the
// distance from the center plus noise.
var (
	keep     = 1 - size*precision/2
	privacy  = 2 * 0.02 * 10.0 // noise multiplier and clip of the gradients
	stepSD   = math.Sqrt(size + size*size/4*privacy*privacy)
	langevin = stepSD / math.Sqrt(1-keep*keep)
)

func newChain(records *curator.Curator, steps int64, walks, spies bool, h hooks) (kernels.Kernel, error) {
	k := &chain{desk: records, target: posteriors.StandardMean(), next: make([]float64, 2), grad: make([]float64, 2),
		before: make([]float64, 2), last: make([]float64, 2), hooks: h}
	if spies { // a target of one's own is slower
		k.spy = &spy{GaussianMean: posteriors.StandardMean()}
		k.target = k.spy
	}
	var err error
	if walks {
		k.bits, err = curator.Charge(records, curator.AcceptanceBit{Target: k.target, Clip: walkClip}, steps)
	} else {
		k.slopes, err = curator.Charge(records, curator.NoisyGradient{Target: k.target, Clip: 10,
			NoiseMultiplier: 0.02}, steps)
	}
	return k, err
}

func exactly(sd float64) func(rng *rand.Rand, theta []float64) {
	return func(rng *rand.Rand, theta []float64) {
		for j := range theta {
			theta[j] = center[j] + sd*rng.NormFloat64()
		}
	}
}

// asked are options of a case beyond the usual ones.
type asked struct {
	langevin, reversible, transition, noLaw bool

	clip float64 // of the bit that the walk is said to cost; 0 if nothing is said
}

// kernelCase is a kernel of the posterior of posteriors.Conjugate, unless options say otherwise.
func kernelCase(name, effect string, factory proptest.Factory, options func(o *proptest.KernelOptions)) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			records, _ := posteriors.Conjugate()
			o := proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{1, 0}, Seed: seed,
				Effort: effort}
			options(&o)
			proptest.CheckKernel(t, factory, o)
		}}
}

// sampled is a case whose law is known, or not.
func sampled(name, effect string, law bool, factory proptest.Factory) Case {
	return kernelCase(name, effect, factory, func(o *proptest.KernelOptions) {
		if law {
			o.Exact = exactly(sd)
		}
	})
}

func kernel(name, effect string, q asked, plant func() hooks) Case {
	factory := func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newChain(c, steps, !q.langevin, q.noLaw, plant())
	}
	return kernelCase(name, effect, factory, func(o *proptest.KernelOptions) {
		o.Reversible = q.reversible
		if !q.noLaw {
			o.Exact = exactly(either(q.langevin, langevin, sd))
		}
		if q.clip > 0 {
			o.Cost = costOf(func() float64 { return q.clip })
		}
		if q.transition {
			o.Transition = plainWalk
			if q.langevin {
				o.Transition = plainLangevin
			}
		}
	})
}

// hooked is a chain whose hooks remember nothing, walk a walk whose hooks may, moves one whose proposals are
// spoilt, diffusion Langevin steps, and tells a walk whose steps end with what a hook makes of records.
func hooked(name, effect string, q asked, h hooks) Case {
	return kernel(name, effect, q, func() hooks { return h })
}

func walk(name, effect string, plant func() hooks) Case { return kernel(name, effect, asked{}, plant) }

func moves(name, effect string, propose func(k *chain, rng *rand.Rand, theta, next []float64)) Case {
	return hooked(name, effect, asked{}, hooks{propose: propose})
}

func diffusion(name, effect string, h hooks) Case {
	return hooked(name, effect, asked{langevin: true}, h)
}

func tells(name, effect string, after func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) Case {
	return hooked(name, effect, asked{noLaw: true}, hooks{after: after})
}

// plainWalk and plainLangevin are the kernels' steps without privacy.
func plainWalk(rng *rand.Rand, theta, next []float64) {
	odds := 0.0
	for j, t := range theta {
		next[j] = t + step*rng.NormFloat64()
		odds += precision / 2 * ((t-center[j])*(t-center[j]) - (next[j]-center[j])*(next[j]-center[j]))
	}
	if rng.Float64() > 1/(1+math.Exp(-odds)) {
		copy(next, theta)
	}
}

func plainLangevin(rng *rand.Rand, theta, next []float64) {
	for j, t := range theta {
		next[j] = center[j] + keep*(t-center[j]) + stepSD*rng.NormFloat64()
	}
}

// normalised is a parameter in standard deviations from the center.
func normalised(theta []float64, j int) float64 { return (theta[j] - center[j]) / sd }

func kernelControls() []Case {
	none := func() hooks { return hooks{} }
	return append([]Case{
		walk("walk", "", none),
		kernel("walk, reversible, Transition", "", asked{reversible: true, transition: true}, none),
		kernel("Langevin", "", asked{langevin: true}, none),
		kernel("Langevin, Transition", "", asked{langevin: true, transition: true}, none),
		kernel("walk, no law, its price stated", "", asked{noLaw: true, clip: walkClip}, none),
	}, unusualKernels()...)
}
