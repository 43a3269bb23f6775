package proptest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/targets"
)

// jointTails are how far out draws are in all parameters at once, where the density has each apart from the
// others. Their quantiles are then independent: the sum of squares of as many normal numbers has a chi-squared
// law, and how many are far out a binomial one.
type jointTails struct {
	d, n   int
	from   []float64 // where the shares of the sum of squares begin
	beyond []int
	many   []int // of two parameters or more far out, by what far is
}

// jointShares are those of draws beyond a norm, and farShares those of draws beyond either end of a parameter. Tables
// and quadrature are good to a tenth of these.
var (
	jointShares = []float64{1. / 32, 1. / 128, 1. / 1024, 1. / 8192}
	farShares   = [...]float64{1. / 4, 1. / 16, 1. / 64}
)

func newJointTails(d int) *jointTails {
	p := &jointTails{d: d, beyond: make([]int, len(jointShares)), many: make([]int, len(farShares))}
	for _, share := range jointShares {
		p.from = append(p.from, 2*mathext.GammaIncRegCompInv(float64(d)/2, share))
	}
	return p
}

// add notes a draw by its quantiles; one of which some are not known does not count.
func (p *jointTails) add(quantiles []float64) {
	sum, far := 0.0, [len(farShares)]int{}
	for _, u := range quantiles {
		if math.IsNaN(u) {
			return
		}
		out := max(1e-300, min(u, 1-u))
		z := mathext.NormalQuantile(out)
		sum += z * z
		for k, share := range farShares {
			if 2*out < share {
				far[k]++
			}
		}
	}
	p.n++
	for k, from := range p.from {
		if sum > from {
			p.beyond[k]++
		}
	}
	for k, n := range far {
		if n >= 2 {
			p.many[k]++
		}
	}
}

// see compares the shares with what they are of right draws, which may be off by a fifth.
func (p *jointTails) see(e *evidence) {
	compare := func(seen int, share float64, what string) {
		e.see(min(1, 2*min(atLeast(seen, p.n, min(1, share/0.8)), atMost(seen, p.n, 0.8*share))), func() string {
			return fmt.Sprintf("%d of %d draws are %s, which one in %.4g should be", seen, p.n, what, 1/share)
		})
	}
	for k, seen := range p.beyond {
		compare(seen, jointShares[k], "far out in all parameters together")
	}
	for k, seen := range p.many {
		q, d := farShares[k], float64(p.d)
		two := 1 - math.Pow(1-q, d) - d*q*math.Pow(1-q, d-1)
		compare(seen, two, fmt.Sprintf("far out in two parameters at once, where one in %.4g is in each", 1/q))
	}
}

// improbable is what the quantiles of a parameter are where the others are together as improbable as few draws are.
type improbable struct {
	target targets.Target
	j      int
	middle float64 // of the parameter, in place of its own value
	at     []float64
	ends   []*farEnd // by the log prior there
}

// improbables are those of each parameter; with one other parameter farEnds see as much.
func improbables(target targets.Target, draws [][]float64, about []about) (all []*improbable) {
	d := target.Dim()
	if d < 3 {
		return nil
	}
	for j := range d {
		p := &improbable{target: target, j: j, middle: about[j].draws[len(about[j].draws)/2], at: make([]float64, d)}
		v := make([]float64, len(draws))
		for i, theta := range draws {
			v[i] = p.log(theta)
		}
		slices.Sort(v)
		for _, one := range []int{32, 128, 512} {
			p.ends = append(p.ends, newFarEnd(v[len(v)/one], false, one,
				"where the others together are among the most improbable"))
		}
		all = append(all, p)
	}
	return all
}

func (p *improbable) log(theta []float64) float64 {
	copy(p.at, theta)
	p.at[p.j] = p.middle
	return p.target.LogPrior(p.at)
}

// add notes a draw. The first ones chose the middle, and so do not count.
func (p *improbable) add(theta []float64, bent [degrees]float64, made int) {
	if made <= aboutDraws {
		return
	}
	v := p.log(theta)
	for _, f := range p.ends {
		f.add(v, bent)
	}
}
