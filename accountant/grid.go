package accountant

// Proof: docs/proofs/curator.md.

// GridGaussian is Gaussian noise from the discrete Gaussian on a grid so fine that it
// departs little from the continuous one. By how much log-probabilities of what is released
// differ from those of the rounded continuous noise, over both data sets together, follows
// from the grid (docs/proofs/curator.md §6). Rényi curves are at most Gaussian's; the
// exact trade-off is charged with the departure of every release.
type GridGaussian struct {
	// NoiseMultiplier, at least 0, is as in Gaussian.
	NoiseMultiplier float64
	// Coordinates is how many numbers are released, each with noise whose standard
	// deviation is Steps steps of the grid. No coordinates are continuous noise.
	Coordinates int
	Steps       float64
}

// departure is that of one release on two data sets whose sums are shift standard
// deviations apart.
func (g GridGaussian) departure(shift float64) float64 {
	if g.Coordinates == 0 {
		return 0
	}
	return gridDeparture(g.Coordinates, g.Steps, shift)
}

func gridDeparture(coordinates int, sd, shift float64) float64 {
	reach := 64 + shift
	return float64(coordinates) * (reach*reach + 1) / (4 * sd * sd)
}

// Event is one release.
func (g GridGaussian) Event(adj Adjacency) (Event, error) {
	return stated(adj, gridGaussian{gaussian{g.NoiseMultiplier}, g.departure(1 / g.NoiseMultiplier)})
}

// gridGaussian is gaussian but for a departure of its log-probabilities.
type gridGaussian struct {
	gaussian
	departs float64
}

func (m gridGaussian) kind() string { return "grid_gaussian" }

func (m gridGaussian) fields() []field {
	return append(m.gaussian.fields(), field{"departure", m.departs})
}

func (m gridGaussian) departure() float64 { return m.departs }

func (m gridGaussian) check() error {
	if err := noise("GridGaussian", m.sigma); err != nil {
		return err
	}
	return cost("GridGaussian: departure", m.departs)
}

func (m gridGaussian) logProfile(adj Adjacency, eps float64) float64 {
	return min(0, m.departs+m.gaussian.logProfile(adj, eps-m.departs))
}
