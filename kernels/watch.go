package kernels

// Watched is a Kernel whose releases can be watched, for attacks on all that a chain
// released and not on its draws alone.
type Watched interface {
	Kernel
	// Watch has see called after each release with its evidence of the log-likelihood's
	// slope: half the log-likelihood ratio of a slope against its opposite, for each
	// coordinate, to first order. see must not keep it.
	Watch(see func(evidence []float64))
}

// Watch implements Watched for kernels that say what they release.
func (f *Frame) Watch(see func(evidence []float64)) { f.see, f.evidence = see, make([]float64, f.dim) }

// Moved tells the watcher, if there is one, of a release about the move from theta to
// next, whose evidence is weight times the move: the noisy ratio over the variance of its
// noise, and ½ for a move along random signs of a slope.
func (f *Frame) Moved(next, theta []float64, weight float64) {
	if f.see == nil {
		return
	}
	for j, v := range next {
		f.evidence[j] = weight * (v - theta[j])
	}
	f.see(f.evidence)
}

// Decided is Moved for the bit that accepts or rejects a move.
func (f *Frame) Decided(next, theta []float64, accepted bool) {
	if accepted {
		f.Moved(next, theta, 0.5)
	} else {
		f.Moved(next, theta, -0.5)
	}
}

// leaned tells the watcher of a released gradient of the loss.
func (f *Frame) leaned(gradient []float64, noiseSD float64) {
	if f.see == nil {
		return
	}
	for j, v := range gradient {
		f.evidence[j] = -v / (noiseSD * noiseSD)
	}
	f.see(f.evidence)
}
