package chains

import "github.com/dpmcmc/dpmcmc/accountant"

// Mechanisms that are priced as the steps of a chain, and cannot be sampled: noisy sums
// of other people's training loops. Price knows them beside the kernels.

// gaussianSums is a family of sums with Gaussian noise over the sensitivity under the
// stated adjacency.
func gaussianSums(about string) family {
	return family{
		about: about, mechanism: true,
		choose: func(c *choice) error {
			c.useFullData()
			if c.given.Iterations == 0 {
				if err := c.required("iterations"); err != nil {
					return err
				}
			}
			if c.given.Noise == 0 {
				return c.required("noise")
			}
			return nil
		},
		build: (*choice).gaussianSum,
	}
}

// gaussianSum is one sum.
func (c *choice) gaussianSum() (*parts, error) {
	batch, err := c.Scheme(c.Facts)
	if err != nil {
		return nil, err
	}
	event, err := accountant.Gaussian(c.Facts.Adjacency, c.Noise)
	if err != nil {
		return nil, err
	}
	if !c.FullData {
		if event, err = c.sampled(event); err != nil {
			return nil, err
		}
	}
	event, err = event.Group(c.Facts.RowsPerPerson)
	return &parts{step: event, Batch: batch, Released: "one noisy sum"}, err
}

// sampled is an event computed on a batch.
func (c *choice) sampled(e accountant.Event) (accountant.Event, error) {
	switch {
	case c.Rate != 0:
		return e.PoissonSampled(c.Rate)
	case c.FixedBatch:
		return e.SubsetSampled(c.Facts.Records, c.Batch)
	}
	return e.PoissonSampled(float64(c.Batch) / float64(c.Facts.Records))
}
