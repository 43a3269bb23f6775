package chains_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
)

const (
	lawSteps = 60 // of a run
	lawBlock = 12 // announced at once: a killed run loses as many at most, and as many again
	lawAt    = 30 // the step whose law is compared, which a run has that was killed twice
)

// killable remembers where its chain was when steps were last announced, and dies after
// so many.
type killable struct {
	kernels.Kernel
	source *rand.ChaCha8
	used   int64
	dies   int64
	die    func()
	mark   chains.Position
}

func (k *killable) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.used%lawBlock == 0 {
		stream, err := k.source.MarshalBinary()
		if err != nil {
			return kernels.Info{}, err
		}
		k.mark = chains.Position{Theta: slices.Clone(s.Theta), Made: s.Iteration, Memory: kernels.Keep(k.Kernel),
			Stream: stream, Left: max(0, lawSteps-k.used-lawBlock)}
	}
	if k.used++; k.used == k.dies {
		k.die()
	}
	return k.Kernel.Step(rng, s)
}

func (k *killable) Keep(dst []float64) []float64 { return append(dst, kernels.Keep(k.Kernel)...) }

func (k *killable) Recall(memory []float64) error { return kernels.Recall(k.Kernel, memory) }

// life is a run with fresh noise that is killed after each of the given numbers of steps
// that it has used up, goes on from its last mark, and returns its path. from says
// where it goes on.
func life(t *testing.T, table *data.Table, m *models.Model, plan *chains.Plan, kills []int64,
	from func(*chains.Position)) *chains.Result {
	t.Helper()
	records, err := chains.Seal(m, table, budget(t, 500))
	if err != nil {
		t.Fatal(err)
	}
	session, err := plan.Open(records, 3)
	if err != nil {
		t.Fatal(err)
	}
	var path [][]float64
	used := int64(0)
	for {
		begun, err := session.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		k := &killable{used: used, die: cancel}
		if len(kills) > 0 {
			k.dies, kills = kills[0], kills[1:]
		}
		result, err := session.Run(ctx, m, chains.Options{Thin: 1, Warmup: -1, Earlier: [][][]float64{path},
			Wrap: func(_ int, c kernels.Chain) kernels.Kernel {
				k.Kernel, k.source = c.Kernel, c.Source
				return k
			}})
		cancel()
		if err == nil {
			return result
		}
		if result == nil {
			t.Fatal(err)
		}
		from(&k.mark)
		path, used = result.Draws[0][:k.mark.Made], lawSteps-k.mark.Left
		fresh, err := chains.Seal(m, table, budget(t, 500)) // what the caller has made for what is left
		if err != nil {
			t.Fatal(err)
		}
		if session, err = plan.Resume(fresh, 3, begun, []chains.Position{k.mark}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledRunsHaveTheLaw: chains that were killed once or twice, at random, and went on
// from their marks, have the law of chains that were not: every parameter's, at a step
// where the chain has not yet forgotten its start. Certificates and the steps' total are
// the same. Runs that go on from their start do not have it. By the inequality of
// Dvoretzky, Kiefer and Wolfowitz a true equality is rejected with probability 1e-7 at
// most for each comparison.
func TestKilledRunsHaveTheLaw(t *testing.T) {
	const lives = 500
	sim, err := data.Builtin("builtin:logistic?n=60&d=1")
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("logistic", &sim.Table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := chains.Seal(m, sim.Table, budget(t, 500))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]chains.Settings{
		"sgnht":   {Kernel: "sgnht", Noise: 2, Step: 0.15, Friction: 2},
		"dpsgld":  {Kernel: "dpsgld", Noise: 2, Step: 0.02},
		"dphmc":   {Kernel: "dphmc", Noise: 2, Leapfrog: 1, Step: 0.1, MaxMove: 1},
		"barker":  {Kernel: "barker", FullData: true, Step: 0.5, Proposal: "truncated:2"},
		"penalty": {Kernel: "penalty-ratio", Proposal: "guided", Noise: 1, Step: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			s.Iterations, s.Chains, s.Start = lawSteps, 1, "4,-4"
			plan, err := chains.Choose(s, chains.ProblemOn(m, facts))
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			sample := func(kills int, from func(*chains.Position)) (at [2][]float64) {
				for range lives {
					var when []int64
					for range kills {
						when = append(when, 1+rng.Int64N(lawSteps/2))
					}
					slices.Sort(when)
					r := life(t, sim.Table, m, plan, when, from)
					if n := len(r.Draws[0]); n < lawSteps-2*lawBlock-1 || kills == 0 && n != lawSteps ||
						r.Certificate.Iterations != lawSteps || r.Certificate.Epsilon > 500 || !r.Complete {
						t.Fatalf("%d draws, %+v", n, r.Certificate)
					}
					for j := range at {
						at[j] = append(at[j], r.Draws[0][lawAt-1][j])
					}
				}
				return at
			}
			whole := sample(0, nil)
			bound := 2 * math.Sqrt(math.Log(2/(1e-7/2))/(2*float64(lives)))
			differ := func(at [2][]float64) (d float64) {
				for j := range at {
					d = max(d, kolmogorov(whole[j], at[j]))
				}
				return d
			}
			if d := differ(sample(2, func(*chains.Position) {})); d > bound {
				t.Errorf("killed runs differ by %.3f, over %.3f", d, bound)
			}
			restarted := sample(2, func(p *chains.Position) { p.Theta, p.Memory = []float64{4, -4}, nil })
			if d := differ(restarted); d <= bound {
				t.Errorf("runs that go on from their start differ by %.3f, below %.3f", d, bound)
			}
		})
	}
}

// kolmogorov is the largest distance of two samples' distribution functions.
func kolmogorov(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	d := 0.0
	for _, v := range slices.Concat(a, b) {
		below := func(s []float64) float64 {
			n, _ := slices.BinarySearchFunc(s, v, func(x, v float64) int {
				if x <= v {
					return -1
				}
				return 1
			})
			return float64(n) / float64(len(s))
		}
		d = max(d, math.Abs(below(a)-below(b)))
	}
	return d
}
