package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"errors"

	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// newLogLog is the family of P(y = 1) = exp(−e^−η): cloglog seen from the other label, for
// events that are rare where those are common. Certificates are those of cloglog, by
// symmetry. No private optimum is known of its log loss.
func newLogLog(cfg RegressionConfig, l loss) (family, error) {
	mirrored, err := newCLogLog(cfg, l)
	f := mirrored.(binary)
	f.at, f.halved, f.capped = logLogAt, convex.Loss{}, func(float64) (convex.Loss, error) {
		return convex.Loss{},
			errors.New("a log-log loss is not in the table of convex losses; exchange the labels and use cloglog")
	}
	return f, err
}

// logLogAt is clogLogAt at −η with the labels exchanged.
func logLogAt(eta float64) (log1, log0, h1, h0 float64) {
	log0, log1, h0, h1 = clogLogAt(-eta)
	return
}
