package curator

import (
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Request is a grant that has not been paid for: see Grant.
type Request struct {
	count   int64
	prepare func(*Curator) (accountant.Event, func(*grant), error)
}

// Grant charges several requests as one, all or nothing: a kernel whose step
// needs releases of two kinds never pays for the first and then finds that the
// budget does not cover the second. Errors are those of GrantBits.
func (c *Curator) Grant(requests ...Request) error {
	if len(requests) == 0 {
		return errors.New("curator: Grant was given no requests")
	}
	events := make([]accountant.Event, len(requests))
	totals := make([]accountant.Event, len(requests))
	fulfil := make([]func(*grant), len(requests))
	for i, r := range requests {
		if r.count < 1 {
			return fmt.Errorf("curator: %d releases were asked for; at least 1 is needed", r.count)
		}
		var err error
		if events[i], fulfil[i], err = r.prepare(c); err != nil {
			return err
		}
		if totals[i], err = events[i].Times(r.count); err != nil {
			return err
		}
	}
	total, err := accountant.Compose(totals...)
	if err != nil {
		return err
	}
	if err := c.charge(total, 1); err != nil {
		return err
	}
	for i, r := range requests {
		fulfil[i](c.open(events[i], r.count))
	}
	return nil
}
