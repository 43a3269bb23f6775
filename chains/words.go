package chains

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
)

// The words that settings take, read.

// Scheme is how a step's records are chosen, on records with the given facts.
// Errors are of type *SettingError: a batch that is empty or larger than the data.
func (s Settings) Scheme(f curator.Facts) (curator.Batch, error) {
	switch {
	case s.FullData:
		return curator.Batch{}, nil
	case s.Rate != 0:
		return curator.Batch{Rate: s.Rate}, nil
	case s.Batch < 1 || s.Batch > f.Records:
		return curator.Batch{}, bad("batch", "%s is %d; it must be between 1 and the %d records", name("batch"),
			s.Batch, f.Records)
	case s.FixedBatch:
		return curator.Batch{Size: s.Batch}, nil
	case s.Allocated:
		return curator.Batch{Steps: s.epoch(f)}, nil
	}
	return curator.Batch{Rate: float64(s.Batch) / float64(f.Records)}, nil
}

// epoch is the number of steps that are priced together, as one epoch where records are
// allocated to them.
func (s Settings) epoch(f curator.Facts) int64 {
	if !s.Allocated {
		return 1
	}
	return max(1, (f.Records+s.Batch/2)/s.Batch)
}

// epochs is how many of these so many steps are, the last perhaps in part.
func (s Settings) epochs(f curator.Facts, steps int64) int64 {
	each := s.epoch(f)
	return (steps + each - 1) / each
}

// parseTest reads the setting test: logistic, or corrected:C with a Gaussian part
// of variance C.
func parseTest(text string) (curator.Test, error) {
	kind, arg, has := strings.Cut(text, ":")
	switch {
	case kind == "logistic" && !has:
		return curator.Test{}, nil
	case kind == "corrected" && has:
		if c, err := strconv.ParseFloat(arg, 64); err == nil && c != 0 {
			return curator.Test{Corrected: c}, nil
		}
	}
	return curator.Test{}, bad("test", "%s is %q; it must be logistic or corrected:C, such as corrected:1",
		name("test"), text)
}

// parseAccounting reads the setting accounting.
func parseAccounting(text string) (string, error) {
	switch text {
	case "bit":
		return "", nil
	case "published", "tightened":
		return text, nil
	}
	return "", bad("accounting", "%s is %q; it must be bit, published or tightened", name("accounting"), text)
}

// guided is the proposal that only the penalty kernels know: one-component moves
// that keep a coordinate's direction while they are accepted.
const guided = "guided"

// parseProposal reads the setting proposal, for moves whose coordinates have the
// standard deviation scale: isotropic; one-component; or truncated:K, isotropic
// moves of length at most K·scale. The penalty kernels' guided moves are
// one-component moves in a direction that the kernel chooses.
func parseProposal(text string, scale float64) (curator.Proposal, error) {
	kind, arg, has := strings.Cut(text, ":")
	switch {
	case kind == "isotropic" && !has:
		return curator.Proposal{Scale: scale}, nil
	case kind == "one-component" && !has:
		return curator.Proposal{Scale: scale, OneComponent: true}, nil
	case kind == "truncated" && has:
		if k, err := strconv.ParseFloat(arg, 64); err == nil && k != 0 {
			return curator.Proposal{Scale: scale, Radius: k * scale}, nil
		}
	}
	return curator.Proposal{}, bad("proposal",
		"%s is %q; it must be isotropic, one-component or truncated:K, such as truncated:5 "+
			"(the penalty kernels also know guided)", name("proposal"), text)
}

// power reads the setting schedule: the power by which steps shrink, 0 for
// constant ones.
func (s Settings) power() (float64, error) {
	kind, arg, has := strings.Cut(cmp.Or(s.Schedule, "constant"), ":")
	switch {
	case kind == "constant" && !has:
		return 0, nil
	case kind == "polynomial" && !has:
		return defaultPower, nil
	case kind == "polynomial":
		if p, err := strconv.ParseFloat(arg, 64); err == nil && p > 0 && p <= 1 {
			return p, nil
		}
	}
	return 0, bad("schedule", "%s is %q; it must be constant, polynomial, or polynomial:P with a power in (0, 1], such "+
		"as polynomial:0.6", name("schedule"), s.Schedule)
}

// defaultPower is just steep enough for weighted averages to converge (Teh et
// al. 2016).
const defaultPower = 0.51

// penaltyAccepts reads the setting acceptance.
func (s Settings) penaltyAccepts() (bool, error) {
	switch s.Acceptance {
	case "", "barker":
		return false, nil
	case "penalty":
		return true, nil
	}
	return false, bad("acceptance", "%s is %q; it must be barker or penalty", name("acceptance"), s.Acceptance)
}
