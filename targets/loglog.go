package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"errors"

	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// NewLogLog returns log-log regression, P(y = 1) = exp(−e^−η) with η = x·θ: that of
// [NewCLogLog] seen from the other label, for events that are rare where those are
// common. Responses are read as by [NewLogistic].
//
// Certificates are those of [NewCLogLog], by symmetry.
func NewLogLog(cfg RegressionConfig) (*Regression, error) {
	mirrored, err := NewCLogLog(cfg)
	if err != nil {
		return nil, err
	}
	f := mirrored.family.(binary)
	f.link, f.at = "loglog", logLogAt
	mirrored.family = logLog{f}
	return mirrored, nil
}

// logLog is a binary family whose log loss no private optimum is known of.
type logLog struct{ binary }

func (logLog) convex(Cap) (convex.Loss, error) {
	return convex.Loss{},
		errors.New("a log-log loss is not in the table of convex losses; exchange the labels and use cloglog")
}

// logLogAt is clogLogAt at −η with the labels exchanged.
func logLogAt(eta float64) (log1, log0, h1, h0 float64) {
	log0, log1, h0, h1 = clogLogAt(-eta)
	return
}
