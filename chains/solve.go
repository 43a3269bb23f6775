package chains

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/planning"
)

// The range in which step sizes are looked for, in units of the parameters.
const (
	minStep = 1.0 / (1 << 20)
	maxStep = 8
)

// solveStep finds the largest scale of moves whose whole run the budget
// covers. It looks at public facts only.
func (c *choice) solveStep() (float64, error) {
	price := func(scale float64) (accountant.Event, error) {
		return c.priceAt(func(s *Settings) { s.Step = scale })
	}
	// A clip or a range that does not grow with the move leaves nothing to solve.
	small, err := price(minStep)
	if err != nil {
		return 0, err
	}
	large, err := price(2 * minStep)
	if err != nil {
		return 0, err
	}
	if small.Equal(large) {
		return 0, bad("step", "with %s %v the price of a step does not depend on its size; give %s too", name("clip"), c.Clip,
			name("step"))
	}
	step, err := largest(price, c.Epsilon, c.Delta)
	if err != nil {
		return 0, bad("step", "no %s fits the budget: %w", name("step"), err)
	}
	return step, nil
}

// largest is the largest length between minStep and maxStep that the budget
// covers, to a thousandth of ε. Prices of huge moves are slow to compute, or have
// no meaning, so it climbs from below, and follows the price, which is close to
// a power of the length, instead of halving a range.
func largest(price func(float64) (accountant.Event, error), epsilon, delta float64) (float64, error) {
	cost := func(x float64) (accountant.Guarantee, error) {
		event, err := price(x)
		if err != nil {
			return accountant.Guarantee{}, err
		}
		return event.Epsilon(delta)
	}
	lo, hi := minStep, math.Inf(1)
	g, err := cost(lo)
	if err != nil {
		return 0, err
	}
	low := g.Epsilon
	if low > epsilon {
		return 0, &accountant.UnreachableError{Target: epsilon, Nearest: lo, Guarantee: g}
	}
	aim, power := epsilon*(1-tolerance/2), 1.0
	for range 100 {
		if low >= epsilon*(1-tolerance) || lo >= maxStep || hi/lo <= 1+tolerance/10 {
			break
		}
		x := min(lo*min(math.Pow(aim/low, 1/power), 16), maxStep)
		if x >= hi {
			x = math.Sqrt(lo * hi)
		}
		g, err := cost(x)
		e := g.Epsilon
		if err != nil || e > epsilon { // too long for the budget, or for the kernel
			hi = x
		}
		if err == nil && x > lo && low > 0 {
			power = min(max(0.5, math.Log(e/low)/math.Log(x/lo)), 8)
		}
		if hi != x {
			lo, low = x, e
		}
	}
	return lo, nil
}

const tolerance = 1e-3 // of ε, in a step that is solved for

// chooseNoise fills noise with the least that the budget covers.
func (c *choice) chooseNoise() (err error) {
	if c.given.Noise == 0 {
		if err := c.required("noise"); err != nil {
			return err
		}
		c.Noise, err = c.quietest("noise", func(noise float64) (accountant.Event, error) {
			return c.priceAt(func(s *Settings) { s.Noise = noise })
		}, c.Epsilon)
	}
	return err
}

// quietest finds the least noise multiplier whose price is within epsilon. Prices of
// little noise are slow to compute, so it descends from above.
func (c *choice) quietest(setting name, price func(noise float64) (accountant.Event, error),
	epsilon float64) (float64, error) {
	hi := float64(curator.MostNoise)
	for ; hi > leastNoise; hi /= 2 {
		event, err := price(hi / 2)
		if err != nil {
			return 0, err
		}
		g, err := event.Epsilon(c.Delta)
		if err != nil {
			return 0, err
		}
		if g.Epsilon > epsilon {
			break
		}
	}
	noise, _, err := accountant.SolveParameter(price, hi/2, hi, epsilon, c.Delta, false)
	if err != nil {
		return 0, bad(setting, "no %s up to %d fits the budget with %d %s; lower them, or raise ε: %w", setting,
			curator.MostNoise,
			c.Iterations, name("iterations"), err)
	}
	return noise, nil
}

const leastNoise = 0.25 // of the multipliers that are looked for

// affordIterations lowers the default number of iterations to what the most
// noise affords within a share of ε. releases is the number of noisy releases of
// a chain, release the price of one at that noise.
func (c *choice) affordIterations(release accountant.Event, releases func(iterations int64) int64,
	share float64) error {
	if c.given.Iterations != 0 || c.given.Noise != 0 || c.Iterations < 2 {
		return nil
	}
	epsilon := c.Epsilon
	if share < 1 {
		epsilon = c.chainEpsilon() * share
	}
	plan, err := planning.Solve(planning.Parameter[int64]{
		Name: "iterations", Low: 1, High: c.Iterations,
		Event: func(n int64) (accountant.Event, error) {
			all, err := release.Times(releases(n) * c.Chains)
			if err != nil || share < 1 {
				return all, err
			}
			return accountant.Compose(c.startCost, all)
		},
	}, planning.Budget{Epsilon: epsilon, Delta: c.Delta})
	if err != nil {
		return bad("iterations", "no %s fit the budget: %w", name("iterations"), err)
	}
	c.Iterations = plan.Value
	return nil
}
