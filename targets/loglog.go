package targets

// Proof: docs/proofs/targets-certificates.md.

import "github.com/dpmcmc/dpmcmc/internal/convex"

// newLogLog is the family of P(y = 1) = exp(−e^−η): cloglog seen from the other label, for
// events that are rare where those are common. Certificates are those of cloglog, by
// symmetry.
func newLogLog(cfg RegressionConfig, l loss) (family, error) {
	mirrored, err := newCLogLog(cfg, l)
	f := mirrored.(binary)
	f.at, f.halved = logLogAt, f.halved.Mirrored()
	f.capped = func(slope float64) (convex.Loss, error) {
		l, err := convex.CLogLog(slope)
		return l.Mirrored(), err
	}
	return f, err
}

// logLogAt is clogLogAt at −η with the labels exchanged.
func logLogAt(eta float64) (log1, log0, h1, h0 float64) {
	log0, log1, h0, h1 = clogLogAt(-eta)
	return
}
