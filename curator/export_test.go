package curator

import (
	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// UnpaidOptima grants more optima than any budget covers: at an ε of some 30 and more,
// δ no longer covers what their noise departs by.
func UnpaidOptima(c *Curator, m Optimum, count int64) (*Optima, error) {
	var made *Optima
	err := c.Grant(request(count, func(f Facts, set *record.Set) (event accountant.Event, take func(prepaid), err error) {
		o, err := newOptima(m, f, set)
		if err != nil {
			return event, nil, err
		}
		event, err = accountant.Pure(f.Adjacency, 0)
		return event, func(p prepaid) { o.prepaid, made = p, o }, err
	}))
	return made, err
}
