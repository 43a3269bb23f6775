package accountant

// Events stated in one line.

func acceptance(adj Adjacency, c float64) (Event, error) { return Bit{Contribution: c}.Event(adj) }

func isotropic(adj Adjacency, scale float64) (Event, error) {
	return Bit{Contribution: scale, Isotropic: true}.Event(adj)
}

func thinnedBit(adj Adjacency, scale, growth, most float64) (Event, error) {
	return Bit{Contribution: scale, Isotropic: true, Growth: growth, Most: most}.Event(adj)
}

func penalty(adj Adjacency, variance, c float64) (Event, error) {
	return stated(adj, penaltyBit{variance, c})
}

func isotropicPenalty(adj Adjacency, variance, scale float64) (Event, error) {
	return stated(adj, isotropicPenaltyBit{variance, scale})
}

func logisticOptimum(adj Adjacency, multiplier, curvature float64) (Event, error) {
	return Perturbation{NoiseMultiplier: multiplier, Curvature: curvature, Logistic: true, Coordinates: 1}.Event(adj)
}

func convexOptimum(adj Adjacency, multiplier, curvature float64) (Event, error) {
	return Perturbation{NoiseMultiplier: multiplier, Curvature: curvature, Coordinates: 1}.Event(adj)
}

// onGrid and allocated state a departure that no grid need have.
func onGrid(adj Adjacency, multiplier, departure float64) (Event, error) {
	return stated(adj, gridGaussian{gaussian{multiplier}, departure})
}

func allocated(adj Adjacency, multiplier float64, steps int64, departure float64) (Event, error) {
	return stated(adj, newAllocation(adj, multiplier, steps, departure))
}
